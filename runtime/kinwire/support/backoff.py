"""Delays between attempts that fail."""

from __future__ import annotations

__all__ = ("Backoff",)

from dataclasses import dataclass

from kinwire.support.arguments import SECONDS_OR_ZERO, TIME, ArgumentCheck

_MOST_DOUBLED = 32  # times: longer than any delay that is allowed

_BACKOFF = ArgumentCheck(
    "Backoff", "Backoff()", {}, first=SECONDS_OR_ZERO, longest=SECONDS_OR_ZERO, spread=TIME
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long to wait after failures in a row: each delay is twice as long as the one before.

    The class only calculates. The caller counts failures, draws the jitter and waits.
    """

    first: float = 0.5
    """The delay after the first failure, in seconds."""
    longest: float = 30.0
    """The longest delay, in seconds, before the jitter."""
    spread: float = 0.25
    """The largest jitter, as a part of the delay. Jitter only lengthens a delay."""

    def __post_init__(self) -> None:
        _BACKOFF.check(first=self.first, longest=self.longest, spread=self.spread)

    def delay(self, failures: int, *, jitter: float) -> float:
        """Return the seconds to wait after `failures` attempts in a row have failed, at least 1.

        `jitter` is a random number from 0 to 1, so that programs that failed together do not
        all come back at the same time.
        """
        grown = self.first * 2.0 ** min(failures - 1, _MOST_DOUBLED)
        return min(self.longest, grown) * (1 + self.spread * jitter)
