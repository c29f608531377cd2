"""The time by which records expire: a wall clock that is never seen to go back."""

from __future__ import annotations

__all__ = ("Clock", "forward")

from collections.abc import Callable
from time import monotonic

Clock = Callable[[], float]
"""Returns the time in seconds since 1970."""


def forward(clock: Clock, pace: Clock = monotonic) -> Clock:
    """Return `clock` without its steps back: what has expired stays so when it is put back.

    Until it has caught up, time goes on at the `pace` of another clock. Standing still would let
    live for months what was to live for a minute, after a clock that was wrong for a moment.
    """
    latest = clock()
    looked = pace()

    def now() -> float:
        nonlocal latest, looked
        before, looked = looked, pace()
        time = clock()
        latest = time if time >= latest else latest + (looked - before)
        return latest

    return now
