"""The client's side: a host connects to servers and holds the connections (MCP, Lifecycle)."""

from __future__ import annotations

__all__ = ("Connection", "Host", "connect")

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from anyio.abc import TaskGroup, TaskStatus

from kinwire._background import background
from kinwire._handlers import HandlerTable
from kinwire.calls import ProgressCallback
from kinwire.errors import ProtocolVersionError, SessionStateError
from kinwire.limits import Limits
from kinwire.session import DEFAULT, Session, Timeout
from kinwire.transports import Transport
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message, from_wire
from kinwire_protocols.mcp.methods import INITIALIZE, NOTIFICATIONS_INITIALIZED, PROTOCOL
from kinwire_protocols.peer import Method, Peer

P = TypeVar("P", bound=Message)
R = TypeVar("R")

_LIMITS = Limits()


class Connection:
    """A server, after the handshake. It is a `Peer`: stubs of any protocol take it."""

    def __init__(
        self, session: Session, greeting: mcp.InitializeResult, peer: Peer | None = None
    ) -> None:
        self.session = session
        self.greeting = greeting
        """What the server answered to `initialize`, whole."""
        self._peer: Peer = session if peer is None else peer
        self.mcp = mcp.Server(self._peer)
        """A typed call for every method that the server may be sent."""

    @property
    def server_info(self) -> mcp.Implementation:
        """Which program the server is."""
        return self.greeting.server_info

    @property
    def capabilities(self) -> mcp.ServerCapabilities:
        """What the server can do."""
        return self.greeting.capabilities

    @property
    def instructions(self) -> str | None:
        """How the server is best used, in its own words."""
        return self.greeting.instructions

    @property
    def protocol_version(self) -> str:
        """The version of MCP that both sides speak."""
        return self.greeting.protocol_version

    def with_options(
        self,
        *,
        timeout: Timeout = DEFAULT,
        on_progress: ProgressCallback | None = None,
        meta: JsonObject | None = None,
    ) -> Connection:
        """Return this connection for calls with those options.

        `timeout` is in seconds, None for no limit; `on_progress` is a plain function that gets each
        progress report; `meta` goes into the `_meta` of the params.
        """
        peer = self.session.with_options(timeout=timeout, on_progress=on_progress, meta=meta)
        return Connection(self.session, self.greeting, peer)

    async def call(self, method: Method[P, R], params: P, /) -> R:
        """Send a request and return its result; raises what `Session.call` does."""
        return await self._peer.call(method, params)

    async def notify(self, method: Method[P, Any], params: P, /) -> None:
        """Send a notification; raises what `Session.notify` does."""
        await self._peer.notify(method, params)

    async def aclose(self) -> None:
        """Close the connection; calls under way fail. Any task may do this, more than once too."""
        await self.session.aclose()


class Host:
    """A client of many servers: an async context manager, at whose end all connections close."""

    def __init__(self, name: str, version: str, *, limits: Limits = _LIMITS) -> None:
        self.info = mcp.Implementation(name=name, version=version)
        self.limits = limits
        self.on = mcp.ClientOn(self._add_handler)
        """Where handlers are registered, one attribute a method: `@host.on.roots_list`.

        They are `async` functions of (params) or of (params, context).
        """
        self._handlers = HandlerTable()
        self._background = background()
        self._tasks: TaskGroup | None = None
        self._connections: set[Connection] = set()

    async def __aenter__(self) -> Self:
        if self._tasks is not None:
            raise SessionStateError("The host is open already. Use the one that `async with` gave.")
        self._background = background()
        self._tasks = await self._background.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        tasks, self._tasks = self._tasks, None
        assert tasks is not None
        for connection in self._connections:
            tasks.start_soon(connection.aclose)
        await self._background.__aexit__(None, None, None)

    def remove_handler(self, method: Method[Any, Any]) -> None:
        """Withdraw the handler of a method, also from open connections.

        Raises:
            KeyError: it has none.
        """
        self._handlers.remove(method)

    async def connect(self, target: Transport) -> Connection:
        """Return a connection to the server behind `target`, such as `stdio(...)`.

        Raises:
            ConnectionClosedError: the server cannot be started, or it ended during the handshake.
            ProtocolVersionError: the server speaks no version that this host speaks.
            RpcError: the server refused the handshake.
            SessionStateError: the host is not open.
        """
        if self._tasks is None:
            raise SessionStateError("The host is not open. Write `async with Host(...) as host`.")
        # Each connection lives in a task of its own, so that any task may close it.
        connection: Connection = await self._tasks.start(self._keep, target)
        return connection

    async def _keep(self, target: Transport, *, task_status: TaskStatus[Connection]) -> None:
        async with Session(
            target, routes=self._handlers.routes, limits=self.limits, protocols=[PROTOCOL]
        ) as session:
            connection = Connection(session, await self._greet(session))
            self._connections.add(connection)
            task_status.started(connection)
            try:
                await session.wait_closed()
            finally:
                self._connections.discard(connection)

    async def _greet(self, session: Session) -> mcp.InitializeResult:
        offered = mcp.InitializeRequestParams(
            protocol_version=PROTOCOL.version,
            capabilities=from_wire(mcp.ClientCapabilities, self._handlers.capabilities("client")),
            client_info=self.info,
        )
        greeting = await session.call(INITIALIZE, offered)
        if greeting.protocol_version != PROTOCOL.version:
            raise ProtocolVersionError(
                f"initialize#/protocolVersion: expected {PROTOCOL.version}, "
                f"got {greeting.protocol_version!r:.40}. Use a server that speaks it."
            )
        await session.notify(NOTIFICATIONS_INITIALIZED, mcp.NotificationParams())
        return greeting

    def _add_handler(self, method: Method[Any, Any], handler: Callable[..., Any]) -> None:
        self._handlers.add(method, handler)


@asynccontextmanager
async def connect(
    target: Transport, *, name: str = "kinwire", version: str = "0.1.0"
) -> AsyncGenerator[Connection]:
    """Yield a connection to one server, as a host called `name` makes it.

    Raises what `Host.connect` does.
    """
    async with Host(name, version) as host:
        yield await host.connect(target)
