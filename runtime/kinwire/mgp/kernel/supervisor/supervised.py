"""A supervised server, as programs use it: calls go to whatever connection it has now."""

from __future__ import annotations

__all__ = ("SupervisedServer",)

from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
from pydantic import ValidationError

from kinwire.mcp.connection import Connection
from kinwire.mgp.kernel.supervisor.log_lines import LogLines
from kinwire.mgp.kernel.supervisor.status import ServerStatus
from kinwire.rpc.errors import ShapeError
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from kinwire.mgp.kernel.supervisor.actor import ServerActor

P = TypeVar("P")
R = TypeVar("R")

_DOWN = ("registered", "disconnected")
_STOPPED = "It was stopped by an operator."
_ON_CALL: Final = "The next call starts it."


class SupervisedServer:
    """One server of a `Supervisor`: `supervisor["files"]`. It is a `Peer`.

    A call goes to the connection that the server has now. While the server restarts, it waits, or
    is refused with 2002, as `ServerSpec.when_restarting` says; while it drains, it is refused with
    2001, and with 2000 where it is not up. A server that was shut down because it was idle is
    started by the next call, as if it restarted. A call that was under way when its server ended
    fails with `ConnectionClosedError`, once: whether it was carried out is not known, so nothing
    repeats it.
    """

    def __init__(self, actor: ServerActor) -> None:
        self._actor = actor
        self.mcp = mcp.ServerStub(self)
        """A typed call for every method of MCP that a client sends."""

    @property
    def id(self) -> str:
        """The kernel's name for the server."""
        return self._actor.spec.id

    @property
    def status(self) -> ServerStatus:
        """What there is to say of the server now."""
        actor, state = self._actor, self._actor.life.state
        return ServerStatus(
            id=self.id,
            state=state,
            since=actor.life.since,
            restarts=actor.restarts,
            health=actor.health,
            pid=actor.pid,
            restart_at=actor.restart_at,
            note=_note(actor),
        )

    @property
    def log(self) -> LogLines:
        """The last lines that it wrote to its stderr."""
        return self._actor.log

    @property
    def connection(self) -> Connection:
        """The open connection.

        Raises:
            RpcError: the server is not connected: 2000, 2001 or 2002.
        """
        refusal = self._actor.refusal()
        if refusal is not None:
            raise refusal
        assert self._actor.connection is not None  # it is connected
        return self._actor.connection

    async def wait_connected(self) -> Connection:
        """Return the open connection, or the next one as soon as it is open.

        It waits as long as the server may still come up by itself, and starts one that was idle.

        Raises:
            RpcError: the server is down: it was stopped by an order, or is given up (2000).
        """
        while True:
            self._actor.called()
            news = self._actor.news
            refusal = self._actor.refusal()
            if refusal is None:
                return self.connection
            if not self._actor.is_coming:
                raise refusal
            await news.wait()

    async def call(self, method: Method[P, R], params: P, /) -> R:
        """Send a request and return its result.

        Raises:
            RpcError: the peer answered with an error, or the server is not connected: 2000, 2001 or
                2002.
            ConnectionClosedError: the server ended before it has answered.
        """
        tool = params.name if isinstance(params, mcp.CallToolRequestParams) else None
        return await (await self.ready(tool)).call(method, params)

    async def ready(self, tool: str | None = None) -> Connection:
        """Return the connection for a request; it waits and is refused as a call.

        `tool` is the name of the tool that is about to be called, for the audit log.

        Raises:
            RpcError: the server is not connected: 2000, 2001 or 2002.
        """
        try:
            return await self._ready()
        except RpcError as refusal:
            if tool is not None:
                self._actor.note_refused(tool, refusal)
            raise

    async def notify(self, method: Method[P, Any], params: P, /) -> None:
        """Send a notification; it waits and is refused as a call.

        Raises:
            RpcError: the server is not connected: 2000, 2001 or 2002.
        """
        await (await self._ready()).notify(method, params)

    def shape_error(self, where: str, error: ValidationError, value: object, /) -> ShapeError:
        """Return the error for a result that breaks its schema; see `Session.shape_error`."""
        return self.connection.shape_error(where, error, value)

    async def _ready(self) -> Connection:
        """Return the connection for a call, after a restart if calls wait for that."""
        self._actor.called()
        spec = self._actor.spec
        if spec.when_restarting == "wait" and self._actor.refusal() is not None:
            with anyio.move_on_after(spec.wait_timeout):
                return await self.wait_connected()
        return self.connection


def _note(actor: ServerActor) -> str:
    """Return why a server is in its state."""
    if actor.stopped and actor.life.state in _DOWN:
        return _STOPPED
    return f"{actor.life.detail} {_ON_CALL}" if actor.life.on_call else actor.life.detail
