"""The time by which records expire: a wall clock that is never seen to go back."""

from __future__ import annotations

__all__ = ("Clock", "forward")

from collections.abc import Callable

Clock = Callable[[], float]
"""Returns the time in seconds since 1970."""


def forward(clock: Clock) -> Clock:
    """Return `clock` without its steps back: what has expired stays so when it is put back."""
    latest = 0.0

    def now() -> float:
        nonlocal latest
        latest = max(latest, clock())
        return latest

    return now
