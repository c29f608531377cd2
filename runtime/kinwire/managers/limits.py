"""Limits of what a peer may use: how often, how much at the same time, and how much in all.

They are pure: they do not read a clock, and the caller passes `now`, in seconds of any clock.
"""

from __future__ import annotations

__all__ = ("Budget", "ConcurrencyLimit", "EventLimits", "TokenBucket")

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

from kinwire.support.bounded import LruDict

K = TypeVar("K", bound=Hashable)


class TokenBucket:
    """Limits how often something may happen: `per_second` times on average.

    After a pause it may happen as often as in one second, at least once, without a wait.
    """

    def __init__(self, *, per_second: float) -> None:
        self._rate = per_second
        self._size = self._tokens = max(1.0, per_second)
        self._filled_at: float | None = None

    def take(self, *, now: float) -> bool:
        """Take one token if there is one; return whether there was."""
        if self._filled_at is not None:
            grown = self._tokens + (now - self._filled_at) * self._rate
            self._tokens = min(self._size, grown)
        self._filled_at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class EventLimits(Generic[K]):
    """Limits how many events are written about each of many peers; the others are counted."""

    def __init__(self, most: int, *, per_second: float) -> None:
        """Remember `most` peers, those of the last events."""
        self._per_second = per_second
        self._buckets = LruDict[K, _CountingBucket](most)

    def take(self, peer: K, *, now: float) -> int | None:
        """Return how many were not written before this one; None if this one is not written."""
        bucket = self._buckets.get(peer) or _CountingBucket(per_second=self._per_second)
        self._buckets.put(peer, bucket)
        if not bucket.take(now=now):
            bucket.refused += 1
            return None
        refused, bucket.refused = bucket.refused, 0
        return refused


class _CountingBucket(TokenBucket):
    """Counts what it refuses."""

    refused = 0


class ConcurrencyLimit(Generic[K]):
    """Limits how many operations of each key may run at the same time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: dict[K, int] = {}

    def enter(self, key: K) -> bool:
        """Return whether one more may begin; after True, `leave` must be called once."""
        running = self._running.get(key, 0)
        if running >= self._most:
            return False
        self._running[key] = running + 1
        return True

    def leave(self, key: K) -> None:
        """End one operation of a key; a key without operations takes no memory."""
        if self._running[key] > 1:
            self._running[key] -= 1
        else:
            del self._running[key]


class Budget(Generic[K]):
    """Limits how much each key may spend in all, such as tokens of a model.

    `most` returns what a key may spend; None for any amount. It is asked each time, so a limit may
    change. An operation that began in time may exceed the budget, since its amount is known only
    when it has ended.
    """

    def __init__(self, most: Callable[[K], int | None]) -> None:
        self._most = most
        self._spent: dict[K, int] = {}

    @property
    def spent(self) -> Mapping[K, int]:
        """What each key has spent."""
        return self._spent

    def is_spent(self, key: K) -> bool:
        """Return whether a key may spend nothing more."""
        most = self._most(key)
        return most is not None and self._spent.get(key, 0) >= most

    def spend(self, key: K, amount: int) -> None:
        """Count an amount that a key has spent."""
        self._spent[key] = self._spent.get(key, 0) + amount

    def forget(self, key: K) -> None:
        """Begin again with nothing spent by a key."""
        self._spent.pop(key, None)
