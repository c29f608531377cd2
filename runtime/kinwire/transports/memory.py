"""Two ends in one process. The frames are real: the bytes that would go over a pipe."""

from __future__ import annotations

__all__ = ("MemoryTransport", "Record", "memory_pair")

from collections.abc import Callable

import anyio

from kinwire.rpc.codec import ends_of
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks

Record = Callable[[int, bytes], object]
"""Takes the number of the end that sent a frame, 0 or 1, and the frame."""


def memory_pair(record: Record | None = None) -> tuple[MemoryTransport, MemoryTransport]:
    """Return two connected transports; `record` sees every frame when it is handed over."""
    first, second = MemoryTransport(0, record), MemoryTransport(1, record)
    first.peer, second.peer = second, first
    return first, second


class MemoryTransport:
    """One end of a pair."""

    peer_may_emit_noise = False
    address: str | None = None
    peer: MemoryTransport

    def __init__(self, number: int, record: Record | None) -> None:
        self._number = number
        self._record = record
        self._callbacks: SessionCallbacks | None = None
        self._arrived: anyio.Event | None = None  # where there are no callbacks to hang on
        self._closed = False

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        self._callbacks = callbacks
        if self.peer._closed:
            self._lost()
        self.wake()  # for what was called before
        if callbacks.loop is not None:
            self._pull()
            await callbacks.loop.create_future()
        while True:
            self._arrived = arrived = anyio.Event()
            self._pull()
            await arrived.wait()

    def wake(self) -> None:
        """Have the other end take it: in this turn, or where its own task runs."""
        if self.peer._arrived is None:
            self.peer._pull()
        else:
            self.peer._arrived.set()

    def resume(self) -> None:
        """Take what came during the pause, as if it came now."""
        self.peer.wake()

    async def aclose(self) -> None:
        """Hand over what still waits, and end the other end's reading."""
        self._closed = True
        self.peer._pull()
        self._callbacks = None
        self.peer._lost()

    def _pull(self) -> None:
        callbacks, other = self._callbacks, self.peer._callbacks
        if callbacks is None or other is None:
            return
        while other.waiting and not callbacks.paused:
            for frame in other.take():
                if self._record is not None:
                    self._record(self.peer._number, frame)
                if len(frame) > callbacks.frame_size:
                    callbacks.overlong(ends_of(frame))
                else:
                    callbacks.feed(frame)

    def _lost(self) -> None:
        if self._callbacks is not None:
            self._callbacks.end(ConnectionClosedError("The peer has closed the connection."))
