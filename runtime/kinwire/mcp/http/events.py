"""Events that were sent and may have been lost, for a client that comes back (MCP, Streamable
HTTP, Resumability). Pure: the time is handed in.
"""

from __future__ import annotations

__all__ = ("EventStore",)

from typing import Generic, NamedTuple, TypeVar

from kinwire.transports.http.limits import HttpLimits

S = TypeVar("S")


class _Kept(NamedTuple, Generic[S]):
    stream: S
    event: bytes
    at: float


class EventStore(Generic[S]):
    """The last events of one session, of all its streams. Ids are opaque to clients."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._kept: dict[int, _Kept[S]] = {}  # by number, oldest first
        self._counts: dict[S, int] = {}  # how many of each stream
        self.size = 0
        """Bytes that are kept."""
        self._last = 0

    def next_id(self) -> str:
        """Return the id of the next event to add."""
        return str(self._last + 1)

    def add(self, stream: S, event: bytes, *, now: float) -> None:
        """Keep an event that goes out on `stream` under `next_id()`."""
        self._last += 1
        self._kept[self._last] = _Kept(stream, event, now)
        self._counts[stream] = self._counts.get(stream, 0) + 1
        self.size += len(event)
        self.expire(now)
        limits = self._limits
        while len(self._kept) > limits.events or self.size > limits.event_bytes:
            if len(self._kept) == 1:
                break
            self._drop_oldest()

    def after(self, event_id: str, *, now: float) -> tuple[S, list[bytes]] | None:
        """Return the stream of an event and what followed on it; None if that is not kept."""
        self.expire(now)
        number = int(event_id) if event_id.isdecimal() and len(event_id) < 20 else 0
        if str(number) != event_id:
            return None
        found = self._kept.get(number)
        if found is None:
            return None
        rest = (kept for at, kept in self._kept.items() if at > number)
        return found.stream, [kept.event for kept in rest if kept.stream is found.stream]

    def has(self, stream: S) -> bool:
        """Return whether a client could come back to `stream`."""
        return stream in self._counts

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
        self._counts.clear()
        self.size = 0

    def expire(self, now: float) -> None:
        """Forget what is too old."""
        while self._kept:
            oldest = next(iter(self._kept.values()))
            if now - oldest.at < self._limits.event_age:
                return
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        dropped = self._kept.pop(next(iter(self._kept)))
        self.size -= len(dropped.event)
        self._counts[dropped.stream] -= 1
        if not self._counts[dropped.stream]:
            del self._counts[dropped.stream]
