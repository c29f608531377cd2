"""How often calls may happen: windows of time, and quotas. Pure: the caller passes the time."""

from __future__ import annotations

__all__ = ("CallWindows", "Exceeded")

from collections import deque
from typing import NamedTuple

from kinwire.mgp.rules.server_policy import CallLimit
from kinwire.support.bounded import LruDict

Key = tuple[str, ...]

_MOST_KEYS = 10_000


class Exceeded(NamedTuple):
    """A call that is one too many."""

    limit: CallLimit
    current: int
    """How many there would be in the window."""
    retry_after: float
    """Seconds until the next one may happen."""


class CallWindows:
    """Counts calls by key in windows that move with time: any window has at most the limit."""

    def __init__(self) -> None:
        self._calls = LruDict[Key, deque[float]](_MOST_KEYS)

    def exceeded(self, key: Key, limit: CallLimit, *, now: float) -> Exceeded | None:
        """Return why no call may happen now; None if one may. It is not counted yet."""
        calls = self._calls.get(key)
        if calls is None:
            return None
        while calls and calls[0] <= now - limit.seconds:
            calls.popleft()
        if len(calls) < limit.calls:
            return None
        oldest = calls[len(calls) - limit.calls]
        return Exceeded(limit, len(calls) + 1, max(0.0, oldest + limit.seconds - now))

    def count(self, key: Key, *, now: float) -> None:
        """Count a call."""
        calls = self._calls.get(key)
        if calls is None:
            calls = deque[float]()
            self._calls.put(key, calls)
        calls.append(now)
