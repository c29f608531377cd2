"""Frames over a WebSocket that stands (RFC 6455), the same on both sides.

A violation ends the connection with its code: 1002, 1003 for binary messages, 1007 for text that is
not UTF-8. A message beyond the largest frame is skipped, and its call fails.
"""

from __future__ import annotations

__all__ = ("WebSocketTransport",)

from contextvars import copy_context
from typing import TYPE_CHECKING

import anyio

from kinwire.rpc.codec import HEAD, TAIL, ends_of, has_id_at_its_end
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.tcp.streams import ByteStream
from kinwire.transports.websocket.splitting import LONGEST_PIECE, FrameSplitter

if TYPE_CHECKING:
    from websockets.frames import Frame
    from websockets.protocol import Protocol

_PING_AFTER = 20.0  # seconds without a word
_PONG_WITHIN = 20.0
_LAST_FRAMES = 2.0  # seconds for what waits when the connection closes
_CLOSE_FRAME = 1.0  # seconds for the peer's close frame

_TEXT, _CONTINUATION, _BINARY, _CLOSE = 1, 0, 2, 8  # opcodes
_PONG = b"\x8a"  # as a frame begins
_UNSUPPORTED, _NO_UTF8 = 1003, 1007
_WHY_REFUSED = {
    1002: "The peer broke the rules of WebSocket.",
    _UNSUPPORTED: "The peer sent a binary message, expected text.",
    _NO_UTF8: "The peer sent text that is not UTF-8.",
}


class WebSocketTransport:
    """A connection after its handshake, and the receiver of its stream.

    `close_code` is sent when this side ends it, and `begun` came behind the handshake.
    """

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(
        self, protocol: Protocol, stream: ByteStream, *, close_code: int, begun: bytes
    ) -> None:
        self._protocol = protocol
        self._stream = stream
        self._close_code = close_code
        self._callbacks: SessionCallbacks | None = None
        self._begun = bytearray()  # of a message that goes on: a list would grow by empty parts
        self._skipping = False  # whether that message is too long
        self._splitter = FrameSplitter()
        self._heard = 0
        self._gone = False
        self._moved: anyio.Event | None = None  # set when there is room, and at the end
        self._receive(begun)

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        self._callbacks = callbacks
        self._feed = callbacks.feed
        if callbacks.loop is None:  # there, handlers have the context in which they are begun
            context = copy_context()

            def feed(message: bytes) -> None:
                context.run(callbacks.feed, message)

            self._feed = feed
        self._protocol.max_message_size = None  # long ones are split, and skipped
        self._protocol.max_fragment_size = LONGEST_PIECE
        self._take_events()  # what came with the handshake
        if self._gone:
            self._end("The connection broke off.")
        self.wake()
        try:
            await self._watch(callbacks)
        finally:
            with anyio.CancelScope(shield=True):
                await self._close(callbacks)

    def wake(self) -> None:
        """See `Transport.wake`."""
        callbacks, protocol = self._callbacks, self._protocol
        if callbacks is None:
            return
        while callbacks.waiting and not self._stream.full:
            frames = callbacks.take()
            if self._open:
                for frame in frames:
                    protocol.send_text(frame)
                self._flush()

    def resume(self) -> None:
        """See `Transport.resume`."""
        self._stream.resume()

    async def aclose(self) -> None:
        """See `Transport.aclose`: `run` has done it."""

    # Callbacks of the stream.

    def received(self, chunk: bytes, /) -> None:
        """See `Receiver.received`."""
        self._heard += 1
        self._receive(chunk)
        if self._callbacks is not None:
            self._take_events()
            if self._callbacks.paused:
                self._stream.pause()
        self._flush()

    def room(self) -> None:
        """See `Receiver.room`."""
        self.wake()
        if self._moved is not None:
            self._moved.set()

    def lost(self, error: Exception | None, /) -> None:
        """See `Receiver.lost`."""
        self._gone = True
        if self._moved is not None:
            self._moved.set()
        self._end("The connection broke off.")

    def _receive(self, chunk: bytes) -> None:
        frames = self._splitter.feed(chunk)
        if frames:
            self._protocol.receive_data(frames)

    @property
    def _open(self) -> bool:
        return self._protocol.state == 1 and not self._gone

    def _flush(self) -> None:
        data = self._protocol.data_to_send()
        if self._stream.full:  # who does not read needs no answers to pings
            data = [frame for frame in data if frame[:1] != _PONG]
        if not data or self._gone:
            return
        ends = not data[-1]  # so the library says that nothing follows
        self._stream.write(b"".join(data))
        if ends:
            self._stream.close()

    def _take_events(self) -> None:
        for event in self._protocol.events_received():
            self._take(event)  # type: ignore[arg-type]
        refused = self._protocol.close_sent if self._protocol.parser_exc is not None else None
        if refused is not None:
            self._end(_WHY_REFUSED.get(refused.code, "The peer broke the rules of WebSocket."))

    def _take(self, frame: Frame) -> None:
        opcode = frame.opcode
        if opcode == _CLOSE:
            self._end(_ended_by_peer(self._protocol))
        elif opcode == _BINARY:
            self._refuse(_UNSUPPORTED)
        elif opcode == _TEXT and frame.fin:
            self._pass_on(bytes(frame.data))
        elif opcode in (_TEXT, _CONTINUATION):
            self._add(frame)

    def _add(self, frame: Frame) -> None:
        """Take a part of a message."""
        callbacks = self._callbacks
        assert callbacks is not None  # who takes frames is running
        if not self._skipping:
            self._begun += frame.data
            if len(self._begun) > callbacks.frame_size:
                self._skip(callbacks)
        elif self._begun:
            self._begun += frame.data
            del self._begun[HEAD:-TAIL]
        if frame.fin:
            self._complete(callbacks)

    def _skip(self, callbacks: SessionCallbacks) -> None:
        """Drop a message that is too long, except its ends if the call has to be found there."""
        self._skipping = True
        head = bytes(self._begun[:HEAD])
        if has_id_at_its_end(head):
            del self._begun[HEAD:-TAIL]
        else:
            self._begun.clear()
            callbacks.overlong(head)

    def _complete(self, callbacks: SessionCallbacks) -> None:
        message, skipped = bytes(self._begun), self._skipping
        self._begun.clear()
        self._skipping = False
        if not skipped:
            self._pass_on(message)
        elif message:
            callbacks.overlong(message)

    def _pass_on(self, message: bytes) -> None:
        if self._callbacks is not None and len(message) > self._callbacks.frame_size:
            self._callbacks.overlong(ends_of(message))
            return
        if not message.isascii():
            try:
                message.decode()
            except UnicodeDecodeError:
                self._refuse(_NO_UTF8)
                return
        self._feed(message)

    def _refuse(self, code: int) -> None:
        if self._open:
            self._protocol.fail(code)
            self._flush()
            self._end(_WHY_REFUSED[code])

    def _end(self, why: str) -> None:
        if self._callbacks is not None:
            self._callbacks.end(ConnectionClosedError(why))

    # Life and end.

    async def _watch(self, callbacks: SessionCallbacks) -> None:
        """Ping a peer that is silent; end the connection if it does not answer."""
        while True:
            heard = self._heard
            await anyio.sleep(_PING_AFTER)
            if self._heard != heard or callbacks.paused or not self._open:
                continue
            self._protocol.send_ping(b"")
            self._flush()
            await anyio.sleep(_PONG_WITHIN)
            if self._heard == heard and not callbacks.paused:
                self._end("The peer does not answer pings.")
                self._stream.abort()

    async def _close(self, callbacks: SessionCallbacks) -> None:
        """Write what waits, say goodbye, and wait for the peer to do so."""
        with anyio.move_on_after(_LAST_FRAMES):
            while callbacks.waiting and self._open:
                self._moved = anyio.Event()
                self.wake()
                if callbacks.waiting:
                    await self._moved.wait()
        if self._open:
            self._protocol.send_close(self._close_code)
            self._flush()
        with anyio.move_on_after(_CLOSE_FRAME):
            while not self._gone:
                self._moved = anyio.Event()
                await self._moved.wait()
        if not self._gone:
            self._stream.abort()


def _ended_by_peer(protocol: Protocol) -> str:
    code = None if protocol.close_rcvd is None else protocol.close_rcvd.code
    if code in (None, 1000, 1001, 1005):
        return "The peer has closed the connection."
    return f"The peer has closed it with code {code}."
