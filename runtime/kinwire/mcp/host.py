"""A host: it connects to servers and keeps the connections (MCP, Lifecycle)."""

from __future__ import annotations

__all__ = ("Host", "connect")

import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import anyio
from anyio.abc import TaskGroup, TaskStatus
from typing_extensions import Unpack

from kinwire.mcp.connection import Connection
from kinwire.mcp.context import Context
from kinwire.mcp.extension import Extension, extensions_kind
from kinwire.mcp.handlers import HandlerTable
from kinwire.mcp.negotiation import Negotiation, SpokenProtocols
from kinwire.mcp.notification_router import LogCallback, NotificationRouter
from kinwire.mcp.profile import PROFILE
from kinwire.mcp.roots import RootLike, roots_from
from kinwire.mcp.sampling import Sampling, SamplingRequest
from kinwire.mcp.urls import TARGET_KINDS, transport_to
from kinwire.rpc.calls import DEFAULT, TIMEOUT_KIND, Timeout
from kinwire.rpc.errors import (
    CapabilityNotNegotiatedError,
    ConnectionClosedError,
    ProtocolVersionError,
    RequestTimeoutError,
    SessionStateError,
)
from kinwire.rpc.identity import PeerIdentity
from kinwire.rpc.limits import Limits
from kinwire.rpc.session import Session
from kinwire.rpc.transport import Transport
from kinwire.support.arguments import (
    PLAIN_FUNCTION,
    TEXT,
    ArgumentCheck,
    ValueKind,
    instance_of,
    list_of,
)
from kinwire.support.background import background, movable_background
from kinwire.support.sanitize import sanitize_for_log
from kinwire.support.version import __version__
from kinwire.transports.url_options import OPTION_KINDS, UrlOptions
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from kinwire_protocols.mcp.methods import INITIALIZE, NOTIFICATIONS_INITIALIZED, PROTOCOL
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from kinwire.mcp.kept_connection import KeptConnection, OnConnect
    from kinwire.mcp.server import Server

logger = logging.getLogger("kinwire.host")

_ENDED = "The host has ended."
HANDSHAKE_TIMEOUT = 30.0  # seconds

_ROOTS = list_of(
    instance_of((mcp.Root, PathLike, str), "a path or an address", 'Path("...")'), "several roots"
)
_HOST = ArgumentCheck(
    "Host",
    'Host("my-app", "1.0")',
    {"name": TEXT, "version": TEXT},
    limits=instance_of(Limits, "Limits", "Limits(request_timeout=5)"),
    roots=_ROOTS.or_none,
    sampling=instance_of(Sampling, "Sampling", "Sampling(...)").or_none,
    extensions=extensions_kind("McplHost()"),
)
_REMOVE_HANDLER = ArgumentCheck(
    "Host.remove_handler",
    "host.remove_handler(ROOTS_LIST)",
    {"method": instance_of(Method, "a method of kinwire_protocols.mcp.methods", "ROOTS_LIST")},
)
_SET_ROOTS = ArgumentCheck(
    "Host.set_roots", 'await host.set_roots([Path("...")])', {"roots": _ROOTS}
)
_CONNECT_OPTIONS: dict[str, ValueKind] = {
    "on_log": PLAIN_FUNCTION.or_none,
    "handshake_timeout": TIMEOUT_KIND,
    **OPTION_KINDS,
}
_HOST_CONNECT = ArgumentCheck(
    "Host.connect",
    'await host.connect(stdio("python", "server.py"))',
    TARGET_KINDS,
    server_id=TEXT.or_none,
    **_CONNECT_OPTIONS,
)
_CONNECT = ArgumentCheck(
    "connect",
    'connect(stdio("python", "server.py"))',
    TARGET_KINDS,
    name=TEXT,
    version=TEXT,
    **_CONNECT_OPTIONS,
)


class Host:
    """A client of many servers: an async context manager that closes all connections at its end.

    Servers see `name` and `version`. `limits` bound what a server can make this side keep and how
    long calls wait (`kinwire.Limits`). `roots` are the folders and files that servers may work on;
    with None the host does not offer roots. `sampling` answers servers that request a message of a
    model. `extensions` are other protocols that it speaks with servers that speak them, too.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        limits: Limits = Limits(),
        roots: Iterable[RootLike] | None = None,
        sampling: Sampling | None = None,
        extensions: Iterable[Extension] = (),
    ) -> None:
        _HOST.check(
            name=name,
            version=version,
            limits=limits,
            roots=roots,
            sampling=sampling,
            extensions=extensions,
        )
        self.info = mcp.Implementation(name=name, version=version)
        self.limits = limits
        self.on = mcp.ClientOn(self._add_handler)
        """Decorators that register handlers, one for each method: `@host.on.roots_list`.

        Handlers are `async` functions of (params) or of (params, context).
        """
        self._handlers = HandlerTable()
        self._tasks: TaskGroup | None = None
        self._sessions: set[Session] = set()
        self._connections: dict[Session, Connection] = {}
        self._roots = None if roots is None else roots_from(roots)
        self._sampling = sampling
        self._spoken = SpokenProtocols("client", extensions)
        if self._roots is not None:
            self.on.roots_list(self._list_roots)
        if sampling is not None:
            self.on.sampling_create_message(self._create_message)

    async def __aenter__(self) -> Self:
        if self._tasks is not None:
            raise SessionStateError("The host is open already. Use the one that `async with` gave.")
        self._background = movable_background()
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
        for session in self._sessions:  # also sessions during their handshake
            tasks.start_soon(session.finish if session in self._connections else session.aclose)
        await self._background.__aexit__(None, None, None)

    def remove_handler(self, method: Method[Any, Any]) -> None:
        """Remove the handler of a method, also from open connections.

        Raises:
            KeyError: the method has no handler.
        """
        _REMOVE_HANDLER.check(method=method)
        self._handlers.remove(method)

    async def set_roots(self, roots: Iterable[RootLike]) -> None:
        """Replace the roots, and notify every connected server.

        Raises:
            SessionStateError: the host was made without roots.
            ValueError: an address does not begin with file://.
        """
        _SET_ROOTS.check(roots=roots)
        if self._roots is None:
            raise SessionStateError(
                "roots: the host was made without roots. Write `Host(..., roots=[])`."
            )
        self._roots = roots_from(roots)
        async with anyio.create_task_group() as tasks:
            for connection in self._connections.values():
                tasks.start_soon(_notify_of_roots, connection)

    async def connect(
        self,
        target: Transport | Server | str,
        *,
        server_id: str | None = None,
        on_log: LogCallback | None = None,
        handshake_timeout: Timeout = DEFAULT,
        **options: Unpack[UrlOptions],
    ) -> Connection:
        """Return a connection: `await host.connect(stdio("python", "server.py"))`.

        `target` is one of these:

        - `stdio("python", "server.py")`, a child process, which ends with the connection
        - `"http://127.0.0.1:8000/mcp"`, a URL; also `https`, `ws` and `wss`
        - a `Server` of this program, in memory
        - another transport

        The options:

        - `server_id="..."` is the identity of the server: extensions keep state, approvals and
          limits by it. Without it the identity is what `target` connects to: the command line and
          `cwd` of a child process, a URL with its user name, the name of a `Server`. Only a digest
          of it is stored. Logs have `server_id`, else the name that the server gives itself, made
          one line of bounded length.
        - `on_log=function` is a plain function that gets each log message of the server. Without it
          log messages go to the handler `on.notifications_message`, and without a handler to the
          logger `kinwire.server.NAME`.
        - `handshake_timeout=120` is in seconds, None for no limit. By default it is 30, and a
          shorter `Limits.request_timeout` holds for the server's answer.

        The options of a URL:

        - `headers={"X-Key": "..."}` are sent with every request.
        - `auth=function` returns the value of `Authorization`, such as `"Bearer ..."`. It may be
          `async`, and takes the `WWW-Authenticate` of the server, None before the first request.
        - `proxy="http://..."` is the URL of a proxy. Without it the variables HTTP_PROXY,
          HTTPS_PROXY, ALL_PROXY and NO_PROXY count, unless `trust_env=False` is passed.
        - `tls=ssl.create_default_context(cafile="ca.pem")` names the certificates to trust, and
          the one to show.
        - `insecure=True` allows plain text to another machine.

        Raises:
            ConnectionClosedError: the server cannot be started or reached, or it or the host ended
                during the handshake.
            DuplicateServerError: an extension keeps its data by server, and a connection to this
                one is open already.
            InsecureAddressError: the URL leads to another machine, without TLS.
            InvalidResponseError: the response is not JSON-RPC, such as that of HTTP 404.
            ProtocolVersionError: the server does not speak a version that this host speaks.
            RequestTimeoutError: the handshake took longer than `handshake_timeout`.
            RpcError: the server refused the handshake.
            SessionStateError: the host is not open.
            TypeError: `target` is not a transport, a URL or a `Server`, or options of a URL are
                given without a URL.
            ImportError: the URL needs an extra that is not installed, `http` or `ws`.
            ValueError: the URL or one of its options is not valid.
        """
        _HOST_CONNECT.check(server_id=server_id, on_log=on_log, handshake_timeout=handshake_timeout)
        transport = transport_to(target, options, _HOST_CONNECT)
        if self._tasks is None:
            raise SessionStateError("The host is not open. Write `async with Host(...) as host`.")
        # Each connection has a task of its own, so that any task may close it.
        router = NotificationRouter(self._handlers.routes, on_log)
        connection: Connection = await self._tasks.start(
            self._run_connection, transport, router, server_id, handshake_timeout
        )
        return connection

    def keep_connected(
        self,
        target: Callable[[], Transport | Server | str] | str,
        *,
        server_id: str | None = None,
        on_connect: OnConnect | None = None,
        first_delay: float = 0.5,
        longest_delay: float = 30.0,
        on_log: LogCallback | None = None,
        handshake_timeout: Timeout = DEFAULT,
        **options: Unpack[UrlOptions],
    ) -> AbstractAsyncContextManager[KeptConnection]:
        """Connect, and connect again each time the connection ends, until the end of the block.

        `async with host.keep_connected(lambda: stdio("python", "server.py")) as kept:`, then
        `kept.connection` is the open connection, and `await kept.wait_connected()` waits for the
        next one. `target` is a URL, or a plain function that returns what `connect` takes. The
        first attempt raises as `connect` does; later ones are logged and repeated, after
        `first_delay` seconds, then after delays that double up to `longest_delay`.

        `on_connect` is an `async` function that gets each connection before you do: for
        subscriptions, or to open channels again. If it fails, so does the attempt. Calls that were
        under way when a connection ended are not repeated. What extensions keep of a server
        continues: it belongs to its identity. The other options are those of `connect`.
        """
        from kinwire.mcp.kept_connection import keep_connected

        common = {
            "server_id": server_id,
            "on_log": on_log,
            "handshake_timeout": handshake_timeout,
            **options,
        }
        return keep_connected(self.connect, target, on_connect, first_delay, longest_delay, common)

    async def _run_connection(
        self,
        target: Transport,
        router: NotificationRouter,
        server_id: str | None,
        timeout: Timeout,
        *,
        task_status: TaskStatus[Connection],
    ) -> None:
        negotiation = Negotiation(self._spoken)
        async with (
            Session(
                target,
                profile=PROFILE,
                routes=negotiation.routes(router.routes, router.routes),
                limits=self.limits,
                protocols=self._spoken.tables,
            ) as session,
            background() as tasks,
        ):
            session.adopt(tasks)
            tasks.start_soon(router.run_log_handler)
            session.peer_id = server_id or ""
            if server_id:
                session.identity = PeerIdentity.of(None, server_id)
            self._sessions.add(session)
            try:
                greeting = await self._initialize(session, negotiation, tasks, timeout)
                router.server_name = greeting.server_info.name
                connection = self._connections[session] = Connection(session, greeting, router)
                task_status.started(connection)
                await session.wait_closed()
            finally:
                self._sessions.remove(session)
                self._connections.pop(session, None)
                router.close(session.closed_why or ConnectionClosedError(_ENDED))
            tasks.cancel_scope.deadline = anyio.current_time() + self.limits.drain

    async def _initialize(
        self, session: Session, negotiation: Negotiation, tasks: TaskGroup, timeout: Timeout
    ) -> mcp.InitializeResult:
        # An extension may wait for a message that never comes once the connection has ended.
        if self._tasks is None:
            raise ConnectionClosedError(_ENDED)
        seconds = HANDSHAKE_TIMEOUT if timeout is DEFAULT else timeout
        with anyio.move_on_after(seconds) as scope:
            tasks.start_soon(_cancel_when_closed, scope, session)
            request_timeout = DEFAULT if timeout is DEFAULT else None
            return await self._perform_handshake(session, negotiation, request_timeout)
        if seconds is not None and anyio.current_time() >= scope.deadline and not session.closed:
            raise RequestTimeoutError(negotiation.step, seconds, PROFILE.opening_hint)
        raise session.closed_why or ConnectionClosedError(_ENDED)

    async def _perform_handshake(
        self, session: Session, negotiation: Negotiation, timeout: Timeout
    ) -> mcp.InitializeResult:
        capabilities = self._capabilities()
        negotiation.offer(capabilities)
        params = mcp.InitializeRequestParams(
            protocol_version=PROTOCOL.version,
            capabilities=from_wire(mcp.ClientCapabilities, capabilities),
            client_info=self.info,
        )
        greeting = await session.call(INITIALIZE, params, timeout=timeout)
        if greeting.protocol_version != PROTOCOL.version:
            raise ProtocolVersionError(
                f"initialize#/protocolVersion: expected {PROTOCOL.version}, "
                f"got {greeting.protocol_version!r:.40}. Use a server that speaks it."
            )
        session.peer_id = session.peer_id or sanitize_for_log(greeting.server_info.name)
        negotiation.settle(session, client=capabilities, server=to_wire(greeting.capabilities))
        await negotiation.complete(session)
        await session.notify(NOTIFICATIONS_INITIALIZED, mcp.NotificationParams())
        await session.wait_listening()
        return greeting

    def _capabilities(self) -> JsonObject:
        found = self._handlers.capabilities("client")
        if self._roots is not None and "roots" in found:
            found["roots"]["listChanged"] = True
        return found

    async def _list_roots(self, params: mcp.RequestParams) -> mcp.ListRootsResult:
        return mcp.ListRootsResult(roots=self._roots or [])

    async def _create_message(
        self, params: mcp.CreateMessageRequestParams, context: Context
    ) -> mcp.CreateMessageResult:
        connection = self._connections.get(context.session)
        if connection is None or self._sampling is None:
            raise InvalidRequestError(
                "sampling/createMessage: the session is not open. Wait for initialized."
            )
        return await self._sampling.create_message(SamplingRequest(params, connection))

    def _add_handler(self, method: Method[Any, Any], handler: Callable[..., Any]) -> None:
        self._handlers.add(method, handler)


async def _cancel_when_closed(scope: anyio.CancelScope, session: Session) -> None:
    await session.wait_closed()
    scope.cancel()


async def _notify_of_roots(connection: Connection) -> None:
    try:
        await connection.mcp.notifications_roots_list_changed()
    except (ConnectionClosedError, CapabilityNotNegotiatedError):
        pass
    except Exception:  # of an extension: the other servers are still notified
        logger.exception("%s was not notified of changed roots", connection.server_info.name)


@asynccontextmanager
async def connect(
    target: Transport | Server | str,
    *,
    name: str = "kinwire",
    version: str = __version__,
    on_log: LogCallback | None = None,
    handshake_timeout: Timeout = DEFAULT,
    **options: Unpack[UrlOptions],
) -> AsyncGenerator[Connection]:
    """Yield a connection: `async with connect(stdio("python", "server.py")) as server`.

    `target` is one of these:

    - `stdio("python", "server.py")`, a child process, which ends with the block
    - `"http://127.0.0.1:8000/mcp"`, a URL; also `https`, `ws` and `wss`
    - a `Server` of this program, in memory: for tests, `kinwire.testing.pair` records frames, too
    - another transport

    The options, which `Host.connect` describes with the errors:

    - `name="..."` and `version="..."` are what the server sees of this client.
    - `on_log=function` is a plain function that gets each log message of the server.
    - `handshake_timeout=120` is in seconds, None for no limit; the default is 30.
    - `headers={"X-Key": "..."}`, `auth=function`, `proxy="http://..."`, `trust_env=False`,
      `tls=ssl_context`, `http=client` and `insecure=True` are for a URL.
    """
    _CONNECT.check(name=name, version=version, on_log=on_log, handshake_timeout=handshake_timeout)
    transport = transport_to(target, options, _CONNECT)
    async with Host(name, version) as host:
        yield await host.connect(transport, on_log=on_log, handshake_timeout=handshake_timeout)
