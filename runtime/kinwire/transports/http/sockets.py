"""A WebSocket under uvicorn whose peer cannot make this side keep what it does not read."""

from __future__ import annotations

__all__ = ("BoundedSocket",)

from typing import TYPE_CHECKING

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

_WRITE_AHEAD = 64 * 1024  # bytes that wait for the peer to read before pings are not answered


class BoundedSocket(WebSocketsSansIOProtocol):
    """Answers no pings of a peer that does not read, and ends in every state."""

    def handle_ping(self) -> None:
        """See the base: the library has the answer ready."""
        if self.transport.get_write_buffer_size() <= _WRITE_AHEAD:
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def handle_parser_exception(self) -> None:
        """See the base, which knows violations of a WebSocket that stands."""
        if self.conn.close_sent is not None:
            super().handle_parser_exception()
            return
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()

    async def send(self, message: ASGISendEvent) -> None:
        """See the base, which wants to answer after the end of the connection."""
        if self.conn.eof_sent:
            raise ClientDisconnected
        await super().send(message)

    def shutdown(self) -> None:
        """See the base, which wants to answer a handshake that cannot be read."""
        if self.handshake_initiated:
            super().shutdown()
        else:
            self.stop_keepalive()
            self.transport.close()
