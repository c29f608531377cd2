"""Collections with a limit, where the oldest entry is removed first.

They read no clock: the caller passes the time as `now`, in seconds, which must never decrease.
They use `OrderedDict`, because finding the first key of a `dict` takes long after many removals.
"""

from __future__ import annotations

__all__ = ("DEDUP_SECONDS", "DropOldestQueue", "LruDict", "TtlDict")

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator
from math import inf
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

DEDUP_SECONDS = 86_400.0
"""How long what came is remembered in records, so that a repeat is recognized, in seconds."""


class LruDict(Generic[K, V]):
    """A dictionary of at most `limit` entries: the one that was not used for longest goes first."""

    def __init__(self, limit: int) -> None:
        """Begin empty. `limit` is at least 1."""
        self._limit = limit
        self._entries = OrderedDict[K, V]()  # by use, the oldest first

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        """Yield the keys; that of the next entry to be removed comes first."""
        return iter(self._entries)

    def get(self, key: K) -> V | None:
        """Return the value of `key`, or None if it has none. It counts as a use."""
        if key not in self._entries:
            return None
        self._entries.move_to_end(key)
        return self._entries[key]

    def peek(self, key: K) -> V | None:
        """Return the value of `key`, or None if it has none. It does not count as a use."""
        return self._entries.get(key)

    def put(self, key: K, value: V) -> list[K]:
        """Set the value of `key`, and return the keys of the entries that were removed for it."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        excess = len(self._entries) - self._limit
        return [self._entries.popitem(last=False)[0] for _ in range(excess)]

    def pop(self, key: K) -> V | None:
        """Remove the entry of `key`, and return its value, or None if it has none."""
        return self._entries.pop(key, None)

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()


class TtlDict(Generic[K, V]):
    """A dictionary whose entries expire `seconds` after they were put.

    With a `limit`, the entry that was put first goes when there are more. Expired entries are
    removed with every `put`, and by `expire`.
    """

    def __init__(self, seconds: float, *, limit: int | None = None) -> None:
        """Begin empty. `limit` is at least 1; None for no limit."""
        self._seconds = seconds
        self._limit = inf if limit is None else limit
        self._entries = OrderedDict[K, tuple[V, float]]()  # with the time; the oldest first

    def __len__(self) -> int:
        """Return the number of entries, with those that have expired and were not removed yet."""
        return len(self._entries)

    def get(self, key: K, *, now: float) -> V | None:
        """Return the value of `key`, or None if it has none or has expired."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if now - entry[1] >= self._seconds:
            del self._entries[key]
            return None
        return entry[0]

    def put(self, key: K, value: V, *, now: float) -> None:
        """Set the value of `key`; it expires `seconds` from now."""
        entries = self._entries
        entries[key] = (value, now)
        entries.move_to_end(key)
        while entries and (
            len(entries) > self._limit or now - next(iter(entries.values()))[1] >= self._seconds
        ):
            entries.popitem(last=False)

    def pop(self, key: K, *, now: float) -> V | None:
        """Remove the entry of `key`, and return its value as `get` does."""
        value = self.get(key, now=now)
        self._entries.pop(key, None)
        return value

    def pop_oldest(self) -> None:
        """Remove the entry that was put first.

        Raises:
            KeyError: there is no entry.
        """
        self._entries.popitem(last=False)

    def expire(self, *, now: float) -> None:
        """Remove the entries that have expired."""
        while self._entries:
            oldest = next(iter(self._entries.values()))
            if now - oldest[1] < self._seconds:
                return
            self._entries.popitem(last=False)


class DropOldestQueue(Generic[V]):
    """A queue of at most `limit` values, whose sizes are at most `size` in all."""

    __slots__ = ("_limit", "_most", "_size", "_values")

    def __init__(self, limit: int, *, size: float = inf) -> None:
        """Begin empty. `limit` is at least 1; `size` has the unit of the sizes that `put` gets."""
        self._limit = limit
        self._most = size
        self._size = 0
        self._values = deque[tuple[V, int]]()

    def __len__(self) -> int:
        return len(self._values)

    def put(self, value: V, size: int = 0) -> list[V]:
        """Add a value, and return those that were removed for it: the oldest ones first.

        One that is too large by itself is removed, too.
        """
        self._values.append((value, size))
        self._size += size
        removed: list[V] = []
        while len(self._values) > self._limit or self._size > self._most:
            removed.append(self.take())
        return removed

    def take(self) -> V:
        """Remove the oldest value, and return it.

        Raises:
            IndexError: the queue is empty.
        """
        value, size = self._values.popleft()
        self._size -= size
        return value
