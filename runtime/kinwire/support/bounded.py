"""Dictionaries that keep so many entries, and let the oldest go."""

from __future__ import annotations

__all__ = ("put_newest",)

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def put_newest(found: dict[K, V], key: K, value: V, *, limit: int) -> list[K]:
    """Put an entry in as the newest, and return the keys of those that had to go."""
    found.pop(key, None)
    found[key] = value
    gone: list[K] = []
    while len(found) > limit:
        oldest = next(iter(found))
        del found[oldest]
        gone.append(oldest)
    return gone
