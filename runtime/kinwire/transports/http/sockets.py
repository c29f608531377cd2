"""A WebSocket under uvicorn whose peer cannot make this side keep what it does not read."""

from __future__ import annotations

__all__ = ("BoundedSocket",)

from typing import TYPE_CHECKING

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

_NO_UTF8 = 1007
_WRITE_AHEAD = 64 * 1024  # bytes that wait for the peer to read before pings are not answered


class BoundedSocket(WebSocketsSansIOProtocol):
    """Answers no pings of a peer that does not read, and ends in every state."""

    def handle_ping(self) -> None:
        """See the base: the library has the answer ready."""
        if self.transport.get_write_buffer_size() <= _WRITE_AHEAD:
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def send_receive_event_to_app(self) -> None:
        """See the base, which logs text that is not UTF-8 as an error of this side."""
        data, self.frames = b"".join(self.frames), []
        if self.close_sent:
            return
        if self.curr_msg_data_type == "bytes":
            self.queue.put_nowait({"type": "websocket.receive", "bytes": data})
        else:
            try:
                self.queue.put_nowait({"type": "websocket.receive", "text": data.decode()})
            except UnicodeDecodeError:
                if self.handshake_complete:
                    self.conn.send_close(_NO_UTF8)
                self.handle_parser_exception()
                return
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

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
