"""When keys are due: pure, without a clock. `TimerWheel` waits for them."""

from __future__ import annotations

__all__ = ("DueTimes",)

from collections.abc import Hashable, Iterator
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_FREE_PLACES = 64  # that the heap keeps in addition to as many as there are keys


class DueTimes(Generic[K]):
    """Keys with a time each. To set, remove and take one costs the logarithm of their number."""

    def __init__(self) -> None:
        self._times: dict[K, tuple[float, int]] = {}
        self._heap: list[tuple[float, int, K]] = []  # also what was removed or set again since
        self._numbers = 0  # of what was set, so that keys are not compared

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._times)

    def get(self, key: K) -> float | None:
        """Return when `key` is due, None without a time."""
        found = self._times.get(key)
        return None if found is None else found[0]

    def set(self, key: K, at: float) -> None:
        """Set when `key` is due, instead of its time before."""
        self._numbers += 1
        self._times[key] = at, self._numbers
        heappush(self._heap, (at, self._numbers, key))
        if len(self._heap) > 2 * len(self._times) + _FREE_PLACES:
            self._heap = [(at, number, key) for key, (at, number) in self._times.items()]
            heapify(self._heap)

    def discard(self, key: K) -> None:
        """Remove the time of `key`; one without a time changes nothing."""
        self._times.pop(key, None)

    @property
    def first(self) -> float | None:
        """The earliest time; None without keys."""
        heap = self._heap
        while heap and not self._is_set(heap[0]):
            heappop(heap)
        return heap[0][0] if heap else None

    def take(self, now: float) -> Iterator[tuple[K, float]]:
        """Remove and yield the keys that are due, with their times: the earliest first.

        Of those with the same time the one that was set first comes first.
        """
        while (first := self.first) is not None and first <= now:
            at, _, key = heappop(self._heap)
            del self._times[key]
            yield key, at

    def _is_set(self, entry: tuple[float, int, K]) -> bool:
        at, number, key = entry
        return self._times.get(key) == (at, number)
