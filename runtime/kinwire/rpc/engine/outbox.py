"""Frames that wait to leave. A request whose caller has gone before it left never leaves."""

from __future__ import annotations

__all__ = ("FEW", "FrameOutbox", "Item", "fitted", "ignore_rest")

from collections import deque
from collections.abc import Callable
from math import inf

from kinwire.rpc.calls import Outbound
from kinwire.rpc.codec import OutgoingFrame, frame_of_bytes
from kinwire.rpc.engine.io import EngineIO, Timer
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.limits import Limits
from kinwire.rpc.transport import Write

_AT_ONCE = 256 * 1024  # bytes handed over at a time: the rest can still be taken back
FEW = 16 * 1024
"""Bytes; a longer queue is kept in no more memory than it needs."""


Item = bytes | Outbound | OutgoingFrame
"""What waits: a request, a frame, or bytes, as those of a result: they need no object."""


def fitted(data: bytes, of: Outbound | OutgoingFrame | None) -> bytes:
    """Return `data`, also of `of`, without the up to 4 KiB that orjson leaves behind it."""
    data = b"%b" % (data,)
    if of is not None:
        of.data = data
    return data


class FrameOutbox:
    """The frames of one direction, in order, and how many bytes they are."""

    __slots__ = (
        "_above_high_watermark",
        "_crowded_from",
        "_held",
        "_high_watermark",
        "_limit",
        "_size",
        "_stall_timeout",
        "_stalled_at",
        "_timer",
        "crowded_by_answers",
        "full",
        "hindrances",
        "io",
        "keep",
        "waiting",
        "watched",
        "write",
    )

    def __init__(self, io: EngineIO, timer: Timer, limits: Limits) -> None:
        self.io = io
        self._timer = timer
        self._limit = limits.unsent
        # Callers wait at the limit, so what this side asks never stops it from reading; nor do
        # two large frames that cross. If both sides stopped, neither would go on.
        self._high_watermark = limits.unsent + 2 * limits.frame_size
        self._crowded_from = limits.unsent + limits.frame_size
        self._stall_timeout = limits.stall
        self.waiting: deque[Item] = deque()
        self.watched = 0
        """How many wait until something has left."""
        self.write: Write | None = None
        """Writes a line while nothing waits; None if the transport has no such thing now."""
        self.keep: Callable[[bytes], None] = ignore_rest
        """Takes what could not be written of a line."""
        self.hindrances = 0
        """Counts what has begun to hinder that frames are written so, such as the end."""
        self._size: int = 0
        self._held = 0  # bytes of these that were taken and cannot leave yet
        self.full = False
        self.crowded_by_answers = False
        """Whether so much waits that no further handler begins until there is room again.

        What handlers send on their way makes them wait before: only answers can be as much. So what
        ends a stream, or an endless supply of events, is handled although nobody reads these."""
        self._above_high_watermark = False
        self._stalled_at = inf  # when a full outbox that nobody empties is given up

    def add(self, data: bytes, of: Outbound | OutgoingFrame | None = None) -> None:
        """Queue bytes and what they are the frame of; None where the bytes show it."""
        first = not self.waiting
        self._size += len(data)
        if self._size > FEW:
            data = fitted(data, of)
        self.waiting.append(data if of is None else of)
        if self._size > self._limit:
            self._check_high_watermark()
        if first:
            self.io.wake_writer()

    @property
    def blocked(self) -> bool:
        """Whether too much waits to leave for more of what belongs to no request."""
        return self.full

    def add_apart(self, notification: bytes) -> bool:
        """Queue a notification that belongs to no request, unless it is blocked; whether it was.

        It does not matter in which task it is sent.
        """
        if self.full:
            return False
        self.add(notification)
        return True

    def write_with(self, write: Write | None, keep: Callable[[bytes], None]) -> None:
        """See `SessionCallbacks.write_with`."""
        self.write, self.keep = write, keep
        self.hinder()

    def hinder(self) -> None:
        """Have each sender look again whether it may."""
        self.hindrances += 1

    def add_once(self, notification: OutgoingFrame) -> None:
        """Queue a notification, unless the same waits already."""
        if notification not in self.waiting:
            self.add(notification.data, notification)

    def take(self, waiting: deque[Item] | None = None) -> list[bytes]:
        """Return the next frames, about 256 KiB of them; an empty list when nothing waits.

        `waiting` is the queue to take them from, where there are several.
        """
        frames: list[bytes] = []
        if waiting is None:
            waiting = self.waiting
        size = 0
        while waiting and size < _AT_ONCE:
            item = waiting.popleft()
            if type(item) is Outbound:
                size += len(item.data)
                if not item.over and not self.io.is_abandoned(item):
                    item.sent = True
                    frames.append(item.data)
                item.data = b""  # its answer may be long in coming
                continue
            data = item.data if type(item) is OutgoingFrame else item
            size += len(data)
            frames.append(data)
        self._size -= size
        if self.full:
            self._check_low_watermark()
        if self.watched:
            self.io.room()
        return frames

    def take_frames(self) -> list[OutgoingFrame]:
        """Return the next frames as `take` does, with what each of them is."""
        items = list(self.waiting)
        taken = self.take()
        items = items[: len(items) - len(self.waiting)]
        left = (item for item in items if type(item) is not Outbound or item.sent)
        return [_frame_of(item, data) for item, data in zip(left, taken, strict=True)]

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
        if self._size == self._held:  # they wait for answers, so the peer does read
            self._moved()
        elif self._stalled_at <= now:
            self.io.end(ConnectionClosedError("The peer stopped reading."))
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
        if self._size > self._crowded_from:
            self.crowded_by_answers = True
        if self._size > self._high_watermark and not self._above_high_watermark:
            self._above_high_watermark = True
            self.io.pause_reading()

    def _check_low_watermark(self) -> None:
        self._moved()
        if self._above_high_watermark and self._size <= self._limit:
            self._above_high_watermark = False
            self.io.resume_reading()
        if self._size <= self._limit // 4:
            self.full = self.crowded_by_answers = False
            self.io.room()

    def _moved(self) -> None:
        self._stalled_at = self.io.now() + self._stall_timeout
        self._timer.schedule(self._stalled_at)


def ignore_rest(rest: bytes) -> None:
    """See `SessionCallbacks.write_with`: nothing is written any more."""


def _frame_of(item: Item, data: bytes) -> OutgoingFrame:
    if type(item) is OutgoingFrame:
        return item
    if type(item) is Outbound:
        return OutgoingFrame(data, "request", item.id, item.name)
    return frame_of_bytes(data)
