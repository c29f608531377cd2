"""The session of a server with one client: when it may send requests, and log levels (MCP)."""

from __future__ import annotations

__all__ = ("OpenSink", "ServerSession")

from collections.abc import Callable
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import from_thread
from anyio.lowlevel import checkpoint

from kinwire.mcp.handshake import ServerHandshake
from kinwire.mcp.log_messages import at_least
from kinwire.mcp.profile import PROFILE
from kinwire.mcp.rules.subscriptions import SubscribedUris
from kinwire.rpc.codec import encoded_notification
from kinwire.rpc.errors import SessionStateError
from kinwire.rpc.limits import Limits
from kinwire.rpc.negotiated import Negotiated
from kinwire.rpc.session import Session
from kinwire.rpc.transport import Transport
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import NOTIFICATIONS_MESSAGE, PING, PROTOCOL
from kinwire_protocols.mcp.models import LoggingLevel, LoggingMessageNotificationParams
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from kinwire.mcp.context import Context
    from kinwire.mcp.functions.pieces import PieceSink

E = TypeVar("E")
OpenSink = Callable[["Context"], "PieceSink | None"]


def _no_sink(context: Context) -> PieceSink | None:
    """Return None: every client gets one result."""
    return None


class ServerSession(Session):
    """A session that a server serves."""

    def __init__(
        self,
        transport: Transport,
        handshake: ServerHandshake,
        *,
        limits: Limits,
        log_level: LoggingLevel,
    ) -> None:
        super().__init__(
            transport,
            routes=handshake.session_routes(),
            limits=limits,
            profile=PROFILE,
            protocols=handshake.negotiation.spoken.tables,
        )
        self.handshake = handshake
        self.log_level: LoggingLevel = log_level
        """The least severe level of log message that the client gets."""
        self.open_sink: OpenSink = _no_sink
        """Returns where the pieces of a call go; an extension that has streams sets it."""
        self.subscribed_uris = SubscribedUris()
        """The resources that the client has subscribed to."""
        self._thread = get_ident()

    def begin(self) -> None:
        """Open the session without a block and its task, on asyncio, behind several streams.

        It ends when the transport says so; `on_close` has functions called then.
        """
        driver: Any = self._new_driver()  # a `MultiStreamAsyncioDriver`
        driver.begin(self._end)

    def set_negotiated(self, negotiated: Negotiated) -> None:
        """Set the outcome of the handshake; what MCP allows counts from `initialized` on."""
        super().set_negotiated(negotiated)
        self._allowed.clear()

    def extension_of(self, kind: type[E]) -> E | None:
        """Return the extension of this class that the server has; None if it has none."""
        extensions = self.handshake.negotiation.spoken.extensions
        return next((one for one in extensions if isinstance(one, kind)), None)

    async def log(self, level: LoggingLevel, data: Any, logger: str | None) -> None:
        """Send a log message if the client wants those of that level; `Context.log` calls this."""
        if at_least(level, self.log_level):
            message = LoggingMessageNotificationParams(level=level, logger=logger, data=data)
            await self.notify_if_negotiated(NOTIFICATIONS_MESSAGE, message)

    def announce(self, method: Method[Any, Any], params: JsonObject) -> None:
        """Send a notification that was negotiated, unless an equal one is queued already.

        The client will act on the queued one after now, so nothing accumulates, however fast
        things change and however slowly the client reads. Interceptors are skipped.
        """
        if get_ident() != self._thread:
            from_thread.run_sync(self.announce, method, params)
            return
        if self.closed or not self.handshake.initialized or self.denial_reason(method) is not None:
            return
        self._opened().engine.outbox.add_once(encoded_notification(method.name, params))

    async def _admit_call(self, method: Method[Any, Any]) -> None:
        if not self.handshake.initialized and method.protocol == PROTOCOL.name:
            await self._must_be_open(method)
        await super()._admit_call(method)

    async def _must_be_open(self, method: Method[Any, Any]) -> None:
        if method.name == PING.name:
            return
        await checkpoint()  # `initialized` may have come in one read with what is handled here
        if not self.handshake.initialized:
            raise SessionStateError(
                f"{method.name}: the client has not sent notifications/initialized yet, and may "
                "not be asked anything before. Ask while a later request of it is served."
            )
