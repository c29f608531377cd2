"""A WebSocket under uvicorn whose peer cannot make this side keep what it does not read."""

from __future__ import annotations

__all__ = ("BoundedSocket",)

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

_WRITE_AHEAD = 64 * 1024  # bytes that wait for the peer to read before pings are not answered


class BoundedSocket(WebSocketsSansIOProtocol):
    """Answers no pings of a peer that does not read, and ends in every state."""

    def handle_ping(self) -> None:
        """See the base: the library has the answer ready."""
        if self.transport.get_write_buffer_size() <= _WRITE_AHEAD:
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def shutdown(self) -> None:
        """See the base, which wants to answer a handshake that cannot be read."""
        if self.handshake_initiated:
            super().shutdown()
        else:
            self.stop_keepalive()
            self.transport.close()
