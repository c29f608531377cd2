"""Frames that wait to leave. A request whose caller has gone before it left never leaves."""

from __future__ import annotations

__all__ = ("FEW", "Outbox", "fitted")

from collections import deque
from math import inf

from kinwire.rpc.calls import Outbound
from kinwire.rpc.engine.io import EngineIO, Timer
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.limits import Limits

_AT_ONCE = 256 * 1024  # bytes handed over at a time: the rest can still be taken back
FEW = 16 * 1024
"""Bytes; a longer queue is kept in no more memory than it needs."""


def fitted(frame: bytes, call: Outbound | None) -> bytes:
    """Return the frame, also of `call`, without the up to 4 KiB that orjson leaves behind it."""
    frame = b"%b" % (frame,)
    if call is not None:
        call.frame = frame
    return frame


class Outbox:
    """The frames of one direction, in order, and how many bytes they are."""

    def __init__(self, io: EngineIO, timer: Timer, limits: Limits) -> None:
        self._io = io
        self._timer = timer
        self._limit = limits.unsent
        # Callers wait at the limit, so what this side asks never stops it from reading; nor do
        # two large frames that cross. If both sides stopped, neither would go on.
        self._high_watermark = limits.unsent + 2 * limits.frame_size
        self._stall_timeout = limits.stall
        self.waiting: deque[bytes | Outbound] = deque()
        self._size: int = 0
        self._held = 0  # bytes of these that were taken and cannot leave yet
        self.full = False
        self._above_high_watermark = False
        self._stalled_at = inf  # when a full outbox that nobody empties is given up

    def add(self, frame: bytes, call: Outbound | None = None) -> None:
        """Queue a frame; that of a request goes with its call."""
        first = not self.waiting
        self._size += len(frame)
        if self._size > FEW:
            frame = fitted(frame, call)
        self.waiting.append(frame if call is None else call)
        if self._size > self._limit:
            self._check_high_watermark()
        if first:
            self._io.wake_writer()

    def add_once(self, frame: bytes) -> None:
        """Queue what answers nobody, unless the same waits already."""
        if frame not in self.waiting:
            self.add(frame)

    def take(self, waiting: deque[bytes | Outbound] | None = None) -> list[bytes]:
        """Return the next frames, about 256 KiB of them; none when nothing waits.

        `waiting` is the queue to take them from, where there are several.
        """
        frames: list[bytes] = []
        if waiting is None:
            waiting = self.waiting
        size = 0
        while waiting and size < _AT_ONCE:
            item = waiting.popleft()
            if isinstance(item, bytes):
                size += len(item)
                frames.append(item)
                continue
            size += len(item.frame)
            if not item.over and not self._io.is_abandoned(item):
                item.sent = True
                frames.append(item.frame)
            item.frame = b""  # its answer may be long in coming
        self._size -= size
        if self.full:
            self._check_low_watermark()
        return frames

    def hold_back(self, size: int) -> None:
        """Count bytes that were taken and cannot leave yet, or fewer of them: callers wait."""
        self._held += size
        self._size += size
        if self._size > self._limit:
            self._check_high_watermark()
        elif self.full:
            self._check_low_watermark()

    def expire(self, now: float) -> None:
        """End the connection if a full outbox has stood still for too long."""
        if not self.full:
            return
        if self._size == self._held:  # they wait for answers: that is no peer that does not read
            self._moved()
        elif self._stalled_at <= now:
            self._io.end(ConnectionClosedError("The peer stopped reading."))
        else:
            self._timer.schedule(self._stalled_at)

    def clear(self) -> None:
        """Forget what waits: nothing can leave any more."""
        self.waiting.clear()
        self._size = self._held = 0

    def _check_high_watermark(self) -> None:
        if not self.full:
            self.full = True
            self._moved()
        if self._size > self._high_watermark and not self._above_high_watermark:
            self._above_high_watermark = True
            self._io.pause_reading()

    def _check_low_watermark(self) -> None:
        self._moved()
        if self._above_high_watermark and self._size <= self._limit:
            self._above_high_watermark = False
            self._io.resume_reading()
        if self._size <= self._limit // 4:
            self.full = False
            self._io.room()

    def _moved(self) -> None:
        self._stalled_at = self._io.now() + self._stall_timeout
        self._timer.schedule(self._stalled_at)
