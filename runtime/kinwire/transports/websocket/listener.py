"""A port on which a server is reached by WebSocket; a connection is a session.

Who may reach it, and who is asking, is decided as for HTTP, before the handshake is answered.
"""

from __future__ import annotations

__all__ = ("serve_websocket",)

import http
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterable
from contextlib import contextmanager
from functools import partial
from ssl import SSLContext
from typing import TYPE_CHECKING
from urllib.parse import unquote

import anyio
from anyio import TASK_STATUS_IGNORED
from anyio.abc import TaskStatus

from kinwire.support.arguments import (
    FUNCTION,
    PORT,
    TEXT,
    ArgumentCheck,
    having,
    instance_of,
)
from kinwire.support.background import running_loop
from kinwire.transports.http.guard import (
    LISTENER_KINDS,
    PRINCIPAL,
    Authenticate,
    Guard,
    principal_address,
)
from kinwire.transports.http.head import read_head
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.listener import client_of
from kinwire.transports.http.paths import PATH_KIND, ServedPaths
from kinwire.transports.http.replies import HttpResponse, too_many
from kinwire.transports.http.security import AccessRules, must_be_secure
from kinwire.transports.task_spawner import TaskSpawner, task_spawner
from kinwire.transports.tcp.listening import listening
from kinwire.transports.tcp.streams import ByteStream
from kinwire.transports.websocket.connection import WebSocketTransport
from kinwire.transports.websocket.protocol import server_protocol
from kinwire.transports.websocket.splitting import HeadReader

if TYPE_CHECKING:
    from websockets.http11 import Request

logger = logging.getLogger("kinwire.transports")

_GOING_AWAY = 1001
_PATH = "/mcp"
_PATIENCE = 10.0  # seconds for the request to be complete

Serve = Callable[[WebSocketTransport], Awaitable[object]]
"""Serves one connection until it ends, as `Server.serve` does."""


_SERVE_WEBSOCKET = ArgumentCheck(
    "serve_websocket",
    "await serve_websocket(server.serve)",
    {"serve": FUNCTION},
    host=TEXT,
    port=PORT,
    path=PATH_KIND.or_none,
    tls=instance_of(SSLContext, "an ssl.SSLContext", "ssl_context").or_none,
    task_status=having(["started"], "what a task group passes", "task_status"),
    **{**LISTENER_KINDS, "limits": instance_of(HttpLimits, "HttpLimits", "HttpLimits()")},
)


async def serve_websocket(  # noqa: PLR0913 - all that a listener is made of
    serve: Serve,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    path: str | None = None,
    allowed_hosts: Iterable[str] = (),
    allowed_origins: Iterable[str] = (),
    authenticate: Authenticate | None = None,
    resource_metadata: str | None = None,
    insecure: bool = False,
    tls: SSLContext | None = None,
    limits: HttpLimits = HttpLimits(),  # noqa: B008 - frozen
    task_status: TaskStatus[int] = TASK_STATUS_IGNORED,
) -> None:
    """Serve every client that connects, until cancelled; `task_status` gets the port.

    `serve` serves a connection, such as the method `serve` of a `Server`. The options are those of
    `Server.asgi` but `stateless` and `health`: a connection is a session. Without a `path` clients
    connect to "/mcp" or "/"; a request for another path gets 404. Without `tls` it
    listens on addresses of this machine only, unless `insecure` says that a proxy has the TLS, or
    that the network is trusted.

    Raises:
        InsecureAddressError: others could read and change what goes over the network.
        OSError: the port cannot be had.
        ValueError: an entry of the lists is not a host, or not an origin; the path has no slash.
        TypeError: a list is a single string.
        ImportError: the extra `ws` is not installed.
    """
    _SERVE_WEBSOCKET.check(
        serve=serve,
        host=host,
        port=port,
        path=path,
        allowed_hosts=allowed_hosts,
        allowed_origins=allowed_origins,
        authenticate=authenticate,
        resource_metadata=resource_metadata,
        insecure=insecure,
        tls=tls,
        limits=limits,
        task_status=task_status,
    )
    must_be_secure(host, tls=tls is not None, insecure=insecure, doing="listen on")
    server_protocol()  # the library is there, or this is the place to say so
    guard = Guard(
        AccessRules(allowed_hosts, allowed_origins),
        limits,
        insecure=True,  # the one address is checked above
        authenticate=authenticate,
        resource_metadata=resource_metadata,
    )
    loop = running_loop()
    async with task_spawner() as streams, task_spawner() as sessions:
        paths = ServedPaths(path, _PATH, None, at_root=True)
        accept = partial(_accept, _Listener(serve, paths, guard, limits, sessions))
        place = listening(host, port, accept, tls=tls, loop=loop, tasks=streams)
        async with place as number:
            task_status.started(number)
            await anyio.sleep_forever()


class _Listener:
    """What all connections share."""

    def __init__(
        self,
        serve: Serve,
        paths: ServedPaths,
        guard: Guard,
        limits: HttpLimits,
        tasks: TaskSpawner,
    ) -> None:
        self.serve = serve
        self.paths = paths
        self.guard = guard
        self.limits = limits
        self.tasks = tasks
        self.open = 0
        self.clients: Counter[object] = Counter()
        """The sessions of each client: see `client_of`."""

    @contextmanager
    def admitted(self, client: object) -> Generator[bool]:
        """Count a session; yield whether the client may have another one."""
        most = self.limits.sessions_per_client
        if most is None:
            yield True
            return
        self.clients[client] += 1
        try:
            yield self.clients[client] <= most
        finally:
            self.clients[client] -= 1
            if not self.clients[client]:
                del self.clients[client]


def _accept(listener: _Listener, stream: ByteStream) -> WebSocketServerHandshake:
    handshake = WebSocketServerHandshake(stream)
    listener.tasks.spawn(partial(_serve, listener, handshake))
    return handshake


async def _serve(listener: _Listener, handshake: WebSocketServerHandshake) -> None:
    listener.open += 1
    try:
        full = listener.open > listener.limits.sessions
        if not await handshake.heard(listener.paths, listener.guard, full=full):
            return
        scope = {"client": (handshake.stream.peer(), 0)}
        with listener.admitted(client_of(PRINCIPAL.get(), scope)) as admitted:
            if handshake.answered(None if admitted else too_many()):
                await listener.serve(_transport(handshake))
    except Exception:
        logger.exception("a session has failed")
    finally:
        listener.open -= 1
        handshake.stream.close()


def _transport(handshake: WebSocketServerHandshake) -> WebSocketTransport:
    transport = WebSocketTransport(
        handshake.protocol,
        handshake.stream,
        close_code=_GOING_AWAY,
        begun=handshake.head.rest,
    )
    transport.address = principal_address(PRINCIPAL.get())
    handshake.hand_over(transport)
    return transport


class WebSocketServerHandshake:
    """A connection that came in, and the receiver of its stream until the handshake is over."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self.protocol = server_protocol()
        self.head = HeadReader()
        self._request: Request | None = None
        self._gone = False
        self._news: anyio.Event | None = None

    async def heard(self, paths: ServedPaths, guard: Guard, *, full: bool) -> bool:
        """Read the handshake; say whether it may be answered. If not, it was refused."""
        with anyio.move_on_after(_PATIENCE):
            while self._request is None and not self._failed:
                self._news = anyio.Event()
                await self._news.wait()
        request = self._request
        if request is None or self._gone:
            self._flush()
            return False
        head = read_head(_fields(request))
        reply = paths.other_reply({"type": "websocket", "path": _path_of(request)})
        if reply is None:
            reply = too_many() if full else await guard.admit({"scheme": "ws"}, head)
        return reply is None or self.answered(reply)

    def answered(self, reply: HttpResponse | None) -> bool:
        """Answer the handshake, or refuse it with a reply; say whether the connection stands."""
        assert self._request is not None
        if reply is None:
            self.protocol.send_response(self.protocol.accept(self._request))
        else:
            self._reject(reply)
        self._flush()
        return self.protocol.handshake_exc is None and reply is None and not self._gone

    def hand_over(self, transport: WebSocketTransport) -> None:
        """Have the stream tell `transport` from now on."""
        self.stream.receiver = transport
        self.stream.resume()
        if self._gone:
            transport.lost(None)

    def received(self, chunk: bytes, /) -> None:
        """See `Receiver.received`."""
        head = self.head.feed(chunk)
        if head and self.protocol.handshake_exc is None:
            self.protocol.receive_data(head)
        if self._request is None and self.protocol.events:
            self._request = self.protocol.events.pop(0)  # type: ignore[assignment]
            self.stream.pause()  # the system, or the client, keeps what comes until it is accepted
        self._tell()

    def room(self) -> None:
        """See `Receiver.room`."""

    def lost(self, error: Exception | None, /) -> None:
        """See `Receiver.lost`."""
        self._gone = True
        self._tell()

    @property
    def _failed(self) -> bool:
        return self._gone or self.protocol.handshake_exc is not None

    def _tell(self) -> None:
        if self._news is not None and (self._request is not None or self._failed):
            self._news.set()

    def _reject(self, reply: HttpResponse) -> None:
        response = self.protocol.reject(http.HTTPStatus(reply.status), reply.body.decode())
        del response.headers["Content-Type"]
        for name, value in reply.headers:
            response.headers[name.decode()] = value.decode()
        self.protocol.send_response(response)

    def _flush(self) -> None:
        data = self.protocol.data_to_send()
        if data and not self._gone:
            self.stream.write(b"".join(data))


def _path_of(request: Request) -> str:
    return unquote(request.path.partition("?")[0])


def _fields(request: Request) -> list[tuple[bytes, bytes]]:
    return [
        (name.lower().encode(), value.encode("latin-1", "replace"))
        for name, value in request.headers.raw_items()
    ]
