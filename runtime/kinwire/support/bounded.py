"""Mappings with a limit, where the oldest entry is removed first."""

from __future__ import annotations

__all__ = ("DEDUP_SECONDS", "DedupWindow", "lru_put")

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

DEDUP_SECONDS = 86_400.0
"""How long a `DedupWindow` remembers a key by default, in seconds."""
_MOST = 100_000


def lru_put(found: dict[K, V], key: K, value: V, *, limit: int) -> list[K]:
    """Put `value` at the end of `found`, and return the keys that were removed for it."""
    found.pop(key, None)
    found[key] = value
    gone: list[K] = []
    while len(found) > limit:
        oldest = next(iter(found))
        del found[oldest]
        gone.append(oldest)
    return gone


class DedupWindow(Generic[V]):
    """Recognizes keys that come again within `window` seconds, and returns the value of each.

    The caller stores what must outlive the process. `now` must never decrease.
    """

    def __init__(self, *, window: float = DEDUP_SECONDS, limit: int = _MOST) -> None:
        self._window, self._limit = window, limit
        self._kept: dict[str, tuple[V, float]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def look(self, key: str, *, now: float) -> V | None:
        """Return the value of `key`, or None if the key is new."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if now - kept[1] >= self._window:
            del self._kept[key]
            return None
        return kept[0]

    def keep(self, key: str, value: V, *, now: float) -> None:
        """Remember `key`. A key that was refused is not remembered: it may come again."""
        lru_put(self._kept, key, (value, now), limit=self._limit)

    def forget(self, key: str) -> None:
        """Treat `key` as new again."""
        self._kept.pop(key, None)
