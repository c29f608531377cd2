"""What has come before: events of servers and messages of channels (MCPL 9.4, 14.3).

Its copy in `Records` is the shell's. The time never goes back.
"""

from __future__ import annotations

__all__ = ("WINDOW", "Seen")

from typing import Generic, TypeVar

from kinwire.support.bounded import put_newest

T = TypeVar("T")

WINDOW = 86_400.0
"""Seconds in which what comes again is known."""
_MOST = 100_000


class Seen(Generic[T]):
    """What came and what is known of it, by key; the oldest first."""

    def __init__(self, *, window: float = WINDOW, limit: int = _MOST) -> None:
        self._window, self._limit = window, limit
        self._kept: dict[str, tuple[T, float]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def look(self, key: str, *, now: float) -> T | None:
        """Return what is known of it, None if it is new."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if now - kept[1] >= self._window:
            del self._kept[key]
            return None
        return kept[0]

    def keep(self, key: str, value: T, *, now: float) -> None:
        """Remember what was taken. What was refused may come again."""
        put_newest(self._kept, key, (value, now), limit=self._limit)

    def forget(self, key: str) -> None:
        """Let it be new again."""
        self._kept.pop(key, None)
