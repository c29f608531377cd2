"""Times on the wire that are numbers of milliseconds (MGP 11.4, 13.4, 14.5)."""

from __future__ import annotations

__all__ = ("in_seconds",)

from typing import Final

_MOST: Final = 10**15  # milliseconds; above that a whole number may be more than a float can hold


def in_seconds(milliseconds: float) -> float:
    """Return a time that a peer has written; one of more than 30,000 years is cut to that."""
    return min(milliseconds, _MOST) / 1000
