"""The server's side of the handshake: who may connect is decided before it is answered."""

from __future__ import annotations

__all__ = ("WebSocketServerHandshake",)

import http
from typing import TYPE_CHECKING

import anyio

from kinwire.transports.http.guard import Guard
from kinwire.transports.http.head import read_head
from kinwire.transports.http.replies import HttpResponse, too_many
from kinwire.transports.tcp.streams import ByteStream
from kinwire.transports.websocket.protocol import server_protocol

if TYPE_CHECKING:
    from websockets.http11 import Request

    from kinwire.transports.websocket.connection import WebSocketTransport

_PATIENCE = 10.0  # seconds for the request to be complete


class WebSocketServerHandshake:
    """A connection that came in; what its stream tells until the handshake is over."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self.protocol = server_protocol()
        self._request: Request | None = None
        self._gone = False
        self._news: anyio.Event | None = None

    async def shaken(self, guard: Guard, *, full: bool) -> bool:
        """Answer the handshake; say whether the connection stands."""
        with anyio.move_on_after(_PATIENCE):
            while self._request is None and not self._failed:
                self._news = anyio.Event()
                await self._news.wait()
        request = self._request
        if request is None or self._gone:
            self._flush()
            return False
        head = read_head(_fields(request))
        reply = too_many() if full else await guard.admit({"scheme": "ws"}, head)
        if reply is None:
            self.protocol.send_response(self.protocol.accept(request))
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
        if self.protocol.handshake_exc is None:
            self.protocol.receive_data(chunk)
        if self._request is None and self.protocol.events:
            self._request = self.protocol.events.pop(0)  # type: ignore[assignment]
            self.stream.pause()  # what a stranger sends meanwhile is kept by the system, or by them
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


def _fields(request: Request) -> list[tuple[bytes, bytes]]:
    return [
        (name.lower().encode(), value.encode("latin-1", "replace"))
        for name, value in request.headers.raw_items()
    ]
