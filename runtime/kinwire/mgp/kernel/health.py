"""The health of a connected server: pings, and questions about its readiness (MGP 0.2.0, 11.3)."""

from __future__ import annotations

__all__ = ("HealthMonitor",)

import time
from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from kinwire.managers.while_open import while_open
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.health import (
    ServerHealth,
    after_answer,
    after_miss,
    after_status,
    health_word,
)
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError, ShapeError
from kinwire.storage.clock import Clock
from kinwire.support.arguments import (
    FUNCTION,
    PLAIN_FUNCTION,
    SECONDS,
    ArgumentCheck,
    count_from,
    instance_of,
)
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.base import RpcError
from kinwire_protocols.jsonrpc.errors import InvalidParamsError, MethodNotFoundError
from kinwire_protocols.mcp.methods import PING
from kinwire_protocols.mcp.models import RequestParams
from kinwire_protocols.mgp.methods import MGP_HEALTH_PING, MGP_HEALTH_STATUS
from kinwire_protocols.mgp.models import HealthPingParams, HealthStatus, HealthStatusResult
from kinwire_protocols.mgp.tables import HEALTH_PING_TIMEOUT_MS

_LATE: Final = 1.0  # seconds by which a look may be late in a program that is only busy

_HEALTH_MONITOR = ArgumentCheck(
    "HealthMonitor",
    "HealthMonitor(server)",
    {"server": instance_of(GuardedServer, "a GuardedServer", "kernel.of(connection)")},
    interval=SECONDS,
    timeout=SECONDS,
    misses=count_from(1),
    changed=PLAIN_FUNCTION,
    failed=PLAIN_FUNCTION,
    clock=PLAIN_FUNCTION,
    sleep=FUNCTION,
)


def _ignore(health: ServerHealth) -> None:
    """Do nothing."""


class HealthMonitor:
    """Watches one connected server: `await HealthMonitor(server, failed=restart).run()`.

    A server with the extension `lifecycle` is asked by `mgp/health/ping`, and then for its status;
    any other server by MCP's `ping`, which says only that it lives. Any answer is a sign of life,
    also an error. Times are in seconds: `interval` from an answer to the next ping, `timeout` for
    each answer. `misses` pings in a row without an answer in time are a failure.

    `changed(health)` is called after the first answer, and after each round that changed the
    status, the checks or the misses; `failed(health)` once, when the misses are reached. Both are
    plain functions.

    Raises:
        TypeError, ValueError: an argument is not of its type, or out of range.

    Source: MGP 0.2.0 section 11.3.
    """

    def __init__(  # noqa: PLR0913 - what is configured, and what tests replace
        self,
        server: GuardedServer,
        *,
        interval: float = 30.0,
        timeout: float = HEALTH_PING_TIMEOUT_MS / 1000,
        misses: int = 3,
        changed: Callable[[ServerHealth], object] = _ignore,
        failed: Callable[[ServerHealth], object] = _ignore,
        clock: Clock = time.time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        _HEALTH_MONITOR.check(
            server=server,
            interval=interval,
            timeout=timeout,
            misses=misses,
            changed=changed,
            failed=failed,
            clock=clock,
            sleep=sleep,
        )
        self.health = ServerHealth()
        """What is known now."""
        self._server = server
        self._interval = interval
        self._timeout = timeout
        self._misses = misses
        self._changed = changed
        self._failed = failed
        self._clock = clock
        self._sleep = sleep
        self._by_mgp = "lifecycle" in server.extensions

    async def run(self) -> None:
        """Watch the server until it has failed or its connection has ended.

        The first ping leaves immediately, and after one that was missed the next.
        """
        await while_open(self._server.session, self._watch)

    async def _watch(self) -> None:
        while not self._server.session.closed:
            await self.check()
            if self.health.misses >= self._misses:
                self._failed(self.health)
                return
            if not self.health.misses:
                await self._sleep(self._interval)

    async def check(self) -> ServerHealth:
        """Ask the server once, and return its health; a connection that ended changes nothing."""
        try:
            health = await self._asked()
        except ConnectionClosedError:
            return self.health
        before, self.health = self.health, health
        if _shown(before) != _shown(health):
            self._changed(health)
        return health

    async def _asked(self) -> ServerHealth:
        began, sent = self._clock(), anyio.current_time()
        status: HealthStatus | None = None
        with anyio.move_on_after(self._timeout):
            status = await self._ping()
            if status is None:  # it has the rest of its time to come back
                await anyio.sleep_forever()
        if status is None and anyio.current_time() - sent - self._timeout > _LATE:
            return self.health  # this program stood still itself: the answer may be there
        if status is None:
            return after_miss(self.health)
        now = self._clock()
        health = after_answer(self.health, status, now, max(0.0, now - began))
        return after_status(health, await self._status()) if self._by_mgp else health

    async def _ping(self) -> HealthStatus | None:
        """Return how well the server works by its answer; None if there is no usable one."""
        try:
            if self._by_mgp:
                return await self._ping_by_mgp()
            await self._server.session.call(PING, RequestParams(), timeout=None)
        except ConnectionClosedError:
            if self._server.session.closed:
                raise
            return None  # over HTTP, where each request may have a connection of its own
        except ShapeError:  # it lives
            return "unhealthy"
        except InvalidResponseError:  # as a proxy answers for a server that is gone
            return None
        except RpcError:
            return "healthy" if not self._by_mgp else "unhealthy"
        return "healthy"

    async def _ping_by_mgp(self) -> HealthStatus:
        params = HealthPingParams(timestamp=timestamp_of(self._clock()))
        try:
            answer = await self._server.session.call(MGP_HEALTH_PING, params, timeout=None)
        except (MethodNotFoundError, InvalidParamsError):  # it offers what it does not have
            self._by_mgp = False
            return "healthy"
        return health_word(answer.status)

    async def _status(self) -> HealthStatusResult | None:
        """Return what the server says of its readiness; None if it says nothing in time."""
        with anyio.move_on_after(self._timeout):
            try:
                return await self._server.session.call(
                    MGP_HEALTH_STATUS, RequestParams(), timeout=None
                )
            except ConnectionClosedError:
                if self._server.session.closed:
                    raise
            except (RpcError, InvalidResponseError):
                pass
        return None


def _shown(health: ServerHealth) -> tuple[object, ...]:
    """Return what is worth a word when it changes."""
    return health.status, health.misses, health.checks, health.answered_at is None
