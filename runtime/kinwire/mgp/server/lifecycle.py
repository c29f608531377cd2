"""A server's answers about its health, and its graceful end (MGP 0.2.0 sections 11.3 and 11.4)."""

from __future__ import annotations

__all__ = ("ServedLifecycle",)

import logging
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from typing import Any

import anyio

from kinwire.managers.ask import Answer, ask, log_failure
from kinwire.mcp.context import Context
from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mgp.rules.draining import estimated_drain
from kinwire.mgp.rules.durations import in_seconds
from kinwire.mgp.server.draining import CallTimes, DrainingRoutes
from kinwire.mgp.server.health_checks import HealthChecks
from kinwire.mgp.server.kernel_peer import KernelPeer
from kinwire.mgp.server.lifecycle_options import Lifecycle, Shutdown
from kinwire.mgp.server.usage import resident_bytes
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.support.background import background
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message, to_wire
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mgp.methods import (
    MGP_HEALTH_PING,
    MGP_HEALTH_STATUS,
    MGP_LIFECYCLE_SHUTDOWN,
    NOTIFICATIONS_MGP_LIFECYCLE,
)
from kinwire_protocols.mgp.models import (
    HealthPingParams,
    HealthPingResult,
    HealthStatus,
    HealthStatusResult,
    LifecycleNotificationParams,
    LifecycleShutdownParams,
    LifecycleShutdownResult,
    ServerState,
)

logger = logging.getLogger("kinwire.mgp")

SIGNAL = "signal"
"""The reason of an end that the program was asked for."""
_OWN = frozenset((MGP_HEALTH_STATUS.name, MGP_LIFECYCLE_SHUTDOWN.name))
_LAST_WORDS = 1.0  # seconds for the last notification, where the kernel does not read
_MOST_PAGES = 1000


class ServedLifecycle:
    """The lifecycle of a server in its sessions with kernels.

    `usable(peer, names)` returns which tools a kernel can call.
    """

    def __init__(
        self,
        handlers: ExtensionHandlers,
        options: Lifecycle,
        server_id: str | None,
        usable: Callable[[KernelPeer, Collection[str]], Collection[str]],
    ) -> None:
        self._options = options
        self._id = server_id or "server"
        self._usable = usable
        self._since = time.monotonic()
        self._lives: dict[Session, _SessionLife] = {}
        handlers.add_ahead(MGP_HEALTH_PING, self._ping)
        handlers.add_default(MGP_HEALTH_STATUS, self._status)
        handlers.add_ahead(MGP_LIFECYCLE_SHUTDOWN, self._shutdown)

    def join(self, peer: KernelPeer) -> None:
        """See `KernelManager.join`."""
        if "lifecycle" in peer.extensions:
            life = _SessionLife(peer, self._id, self._options)
            self._lives[peer.session] = life
            peer.session.intercept_inbound(life.times.measure, TOOLS_CALL, passes_result=True)
            peer.session.when_asked_to_end(life.asked_to_end)

    def left(self, peer: KernelPeer) -> None:
        """See `KernelManager.left`."""
        self._lives.pop(peer.session, None)

    @property
    def _uptime(self) -> float:
        return round(time.monotonic() - self._since, 3)

    def _ping(self, params: HealthPingParams, request: Request) -> HealthPingResult:
        return HealthPingResult(
            status=self._lives[request.session].status,
            timestamp=timestamp_of(time.time()),
            uptime_secs=self._uptime,
            server_id=self._id,
        )

    async def _status(self, params: Message, context: Context) -> HealthStatusResult:
        life = self._lives[context.session]
        await life.checks.examine()
        tools = await life.tools(context)
        usable = () if life.state == "draining" else self._usable(life.peer, tools)
        return HealthStatusResult(
            status=life.status,
            uptime_secs=self._uptime,
            tools_available=len(usable),
            tools_total=len(tools),
            pending_requests=life.pending,
            resources=_resources(len(self._lives), life.checks.resources),
            checks=dict(life.checks.found),
        )

    def _shutdown(
        self, params: LifecycleShutdownParams, request: Request
    ) -> LifecycleShutdownResult:
        life = self._lives[request.session]
        limit = self._options.drain_timeout
        if params.timeout_ms is not None:
            limit = in_seconds(params.timeout_ms)
        pending = life.pending
        estimated = estimated_drain(life.times.ages, life.times.longest, pending, limit)
        life.begin_to_end(params.reason, limit)
        return LifecycleShutdownResult(
            accepted=True,
            pending_requests=pending,
            estimated_drain_ms=round(estimated * 1000),
        )


class _SessionLife:
    """The life of a server in one session, from the handshake to the end."""

    def __init__(self, peer: KernelPeer, server_id: str, options: Lifecycle) -> None:
        self.peer = peer
        self.state: ServerState = "connected"
        self.times = CallTimes()
        self.checks = HealthChecks(options)
        self._session = peer.session
        self._id = server_id
        self._options = options
        self._listed: Collection[str] = ()

    @property
    def status(self) -> HealthStatus:
        """How well the server works; one that drains does not do all."""
        found = self.checks.status
        return "degraded" if self.state != "connected" and found == "healthy" else found

    @property
    def pending(self) -> int:
        """How many requests of the kernel are being handled, without those about the lifecycle."""
        requests = self._session.requests
        return len([request for request in requests if request.method.name not in _OWN])

    async def tools(self, context: Context) -> Collection[str]:
        """Return the names of the tools, as they were listed last where nothing is listed now."""
        request = self._session.under_way(context.request_id or 0)
        if self.state == "connected" and request is not None:
            timeout = self._options.check_timeout
            listed = await ask(_listed, request, name="tools/list", timeout=timeout, expects=list)
            if isinstance(listed, Answer):
                self._listed = listed.value
            else:
                log_failure(logger, listed, "the tools could not be counted")
        return self._listed

    def asked_to_end(self, why: ConnectionClosedError) -> None:
        """Begin to end because the program was asked to."""
        if self.state == "connected":
            self.begin_to_end(SIGNAL, self._options.drain_timeout)

    def begin_to_end(self, reason: str | None, timeout: float) -> None:
        """Take no new requests from now on, and end the session when the others are done."""
        self.state = "draining"
        self._session.wrap_routes(DrainingRoutes)
        self._session.start_soon(partial(self._end, Shutdown(reason, timeout)))

    async def _end(self, shutdown: Shutdown) -> None:
        with suppress(ConnectionClosedError):  # the kernel did not wait for it
            await self._drain(shutdown)
        await self._session.aclose()

    async def _drain(self, shutdown: Shutdown) -> None:
        with anyio.move_on_after(shutdown.timeout):
            await self._notify("connected", "draining", shutdown.reason)
            async with background() as tasks:
                tasks.start_soon(self._call_user, shutdown)
                await self._session.wait_quiet()
        if self.pending:
            text = "MgpServer: %d requests are cut off: they were not done within %g s of draining"
            logger.warning(text, self.pending, shutdown.timeout)
        self.state = "disconnected"
        with anyio.move_on_after(_LAST_WORDS):
            await self._notify("draining", "disconnected", shutdown.reason)

    async def _notify(self, before: ServerState, after: ServerState, reason: str | None) -> None:
        change = LifecycleNotificationParams(
            server_id=self._id,
            previous_state=before,
            new_state=after,
            reason=reason,
            timestamp=timestamp_of(time.time()),
        )
        await self._session.notify(NOTIFICATIONS_MGP_LIFECYCLE, change)

    async def _call_user(self, shutdown: Shutdown) -> None:
        if self._options.on_shutdown is None:
            return
        try:
            waiting = self._options.on_shutdown(shutdown)
            if isawaitable(waiting):
                await waiting
        except Exception:
            logger.exception("on_shutdown failed")


async def _listed(request: Request) -> list[str]:
    """Return the names of all tools of the server that `request` came to."""
    route = request.session.route(TOOLS_LIST.name)
    names: list[str] = []
    cursor: str | None = None
    for _page in range(_MOST_PAGES):
        if route is None:
            break
        page = await route.handler(mcp.PaginatedRequestParams(cursor=cursor), request)
        members: JsonObject = to_wire(page) if isinstance(page, Message) else page
        names += [one["name"] for one in members["tools"]]
        cursor = members.get("nextCursor")
        if cursor is None:
            break
    return names


def _resources(connections: int, added: Mapping[str, Any]) -> JsonObject:
    own: JsonObject = {"open_connections": connections}
    memory = resident_bytes()
    if memory is not None:
        own["memory_bytes"] = memory
    return {**own, **added}
