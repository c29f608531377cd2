"""A server behind a URL of `ws` or `wss`."""

from __future__ import annotations

__all__ = ("WebSocketClient", "websocket_transport")

from typing import TYPE_CHECKING

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.http_client.address import ServerAddress, hint_for, no_connection
from kinwire.transports.http_client.credentials import Credentials, credentials_of
from kinwire.transports.http_client.dialing import Dialer, HttpRoute, chosen_proxy
from kinwire.transports.http_client.fields import Fields, checked_headers, with_user_agent
from kinwire.transports.http_client.response import need_parser
from kinwire.transports.task_spawner import TaskSpawner, task_spawner
from kinwire.transports.tcp.streams import ByteStream
from kinwire.transports.websocket.connection import WebSocketTransport
from kinwire.transports.websocket.protocol import client_protocol
from kinwire.transports.websocket.splitting import HeadReader

if TYPE_CHECKING:
    from ssl import SSLContext

    from websockets.client import ClientProtocol
    from websockets.http11 import Response

    from kinwire.transports.url_options import UrlOptions

_HANDSHAKE = 10.0  # seconds for one attempt; asking the user for credentials may take longer
_NORMAL = 1000
_SWITCHING = 101


def websocket_transport(address: ServerAddress, options: UrlOptions) -> WebSocketClient:
    """Return the connection to the server at `address`.

    Raises:
        ValueError: an option cannot be sent, two of them say who is calling, or a proxy has an
            invalid URL.
        ImportError: the extra `ws` is not installed; for a proxy, the extra `http`.
    """
    fields = checked_headers(options.get("headers", {}))
    credentials = credentials_of(address, fields, options.get("auth"))
    proxy = chosen_proxy(address, options.get("proxy"), trust_env=options.get("trust_env", True))
    if proxy is not None:
        need_parser()
    tls = options.get("tls")
    return WebSocketClient(HttpRoute(address, proxy), tls, with_user_agent(fields), credentials)


class WebSocketClient:
    """The connection to a server; it begins with `run`."""

    peer_may_emit_noise = False

    def __init__(
        self, route: HttpRoute, tls: SSLContext | None, fields: Fields, credentials: Credentials
    ) -> None:
        address = route.address
        self.address: str | None = address.identity
        self._address = address
        self._route = route
        self._tls = tls
        self._fields = fields
        self._credentials = credentials
        self._transport: WebSocketTransport | None = None
        self._failure: tuple[SessionCallbacks, Exception] | None = None
        client_protocol(address)  # the library is there, or this is the place to say so

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        async with task_spawner() as tasks:
            try:
                transport = await self._connected(callbacks, tasks)
            except _AuthError as failed:
                self._failure = callbacks, failed.cause
                self.wake()
                await anyio.sleep_forever()  # callers get the error; there is no other end
                return
            except OSError as error:  # a timeout is one, too
                callbacks.end(no_connection(self._address, error))
                return
            if isinstance(transport, ConnectionClosedError):
                callbacks.end(transport)
                return
            self._transport = transport
            await transport.run(callbacks)

    def wake(self) -> None:
        """See `Transport.wake`."""
        if self._transport is not None:
            self._transport.wake()
        elif self._failure is not None:
            _tell_callers(*self._failure)

    def resume(self) -> None:
        """See `Transport.resume`."""
        if self._transport is not None:
            self._transport.resume()

    async def aclose(self) -> None:
        """See `Transport.aclose`: `run` has done it."""

    async def _connected(
        self, callbacks: SessionCallbacks, tasks: TaskSpawner
    ) -> WebSocketTransport | ConnectionClosedError:
        """Shake hands, with other credentials if the server wants some; return what came of it."""
        if self._credentials.missing:
            await self._renew(None)
        attempt = await self._attempt(callbacks, tasks)
        status = attempt.status
        if status == 401 and self._credentials.renewable:
            await self._renew(attempt.header("WWW-Authenticate"))
            attempt = await self._attempt(callbacks, tasks)
            status = attempt.status
        if attempt.protocol.handshake_exc is None and status == 101:
            assert attempt.stream is not None
            transport = WebSocketTransport(
                attempt.protocol,
                attempt.stream,
                close_code=_NORMAL,
                begun=attempt.head.rest,
            )
            attempt.stream.receiver = transport
            if attempt.gone:
                transport.lost(None)
            return transport
        answer = f"answered HTTP {status}." if status else "does not speak WebSocket there."
        if status == 101:
            answer = "does not speak WebSocket as it should."
        hint = hint_for(self._address, status, attempt.header("Location"))
        refused = None if status in (0, 101) else status
        return ConnectionClosedError(f"{self._address.origin} {answer}{hint}", status=refused)

    async def _attempt(self, callbacks: SessionCallbacks, tasks: TaskSpawner) -> _Handshake:
        with anyio.fail_after(_HANDSHAKE):
            return await self._shaken(callbacks, tasks)

    async def _shaken(self, callbacks: SessionCallbacks, tasks: TaskSpawner) -> _Handshake:
        handshake = _Handshake(client_protocol(self._address))
        stream = await Dialer(tasks, callbacks.loop, self._tls).dial(self._route, handshake)
        try:
            await handshake.shake(stream, self._headers())
        except BaseException:
            stream.abort()
            raise
        if handshake.status != 101 or handshake.protocol.handshake_exc is not None:
            stream.abort()
        return handshake

    async def _renew(self, challenge: str | None) -> None:
        try:
            await self._credentials.renew(self._credentials.number, challenge)
        except Exception as error:
            raise _AuthError(error) from error

    def _headers(self) -> Fields:
        value = self._credentials.value
        return self._fields if value is None else (*self._fields, ("Authorization", value))


class _AuthError(Exception):
    """The user's function has failed."""

    def __init__(self, cause: Exception) -> None:
        super().__init__()
        self.cause = cause


def _tell_callers(callbacks: SessionCallbacks, error: Exception) -> None:
    """Have every call fail with what the user's own function has raised, as it does over HTTP."""
    while callbacks.waiting:
        for frame in callbacks.take_frames():
            if frame.kind == "request" and frame.id is not None:
                callbacks.fail(frame.id, error)


class _Handshake:
    """One attempt, and the receiver of its stream until it is over."""

    def __init__(self, protocol: ClientProtocol) -> None:
        self.protocol = protocol
        self.stream: ByteStream | None = None
        self.response: Response | None = None
        self.head = HeadReader()
        self.gone = False
        self._over = anyio.Event()

    @property
    def status(self) -> int:
        """Return the status, 0 if the answer was not HTTP."""
        return 0 if self.response is None else self.response.status_code

    def header(self, name: str) -> str | None:
        """Return a header of the answer, None if it is missing."""
        if self.response is None:
            return None
        return ", ".join(self.response.headers.get_all(name)) or None

    async def shake(self, stream: ByteStream, fields: Fields) -> None:
        """Ask, and return when there is an answer or none will come."""
        self.stream = stream
        request = self.protocol.connect()
        for name, value in fields:
            request.headers[name] = value
        self.protocol.send_request(request)
        stream.write(b"".join(self.protocol.data_to_send()))
        await self._over.wait()

    def received(self, chunk: bytes, /) -> None:
        """See `Receiver.received`."""
        protocol = self.protocol
        if self._over.is_set() and self.status != 101:
            return
        if head := self.head.feed(chunk):
            protocol.receive_data(head)
        self._look()
        if self.head.rest and self.status != _SWITCHING:  # it is the body of a refusal
            protocol.receive_data(self.head.rest)
            self.head.rest = b""
            self._look()
        if self.response is not None or protocol.handshake_exc is not None:
            self._over.set()

    def _look(self) -> None:
        """Take the response if it is whole."""
        if self.response is None and self.protocol.events:
            first = self.protocol.events.pop(0)
            self.response = first  # type: ignore[assignment]

    def room(self) -> None:
        """See `Receiver.room`."""

    def lost(self, error: Exception | None, /) -> None:
        """See `Receiver.lost`."""
        self.gone = True
        self._over.set()
