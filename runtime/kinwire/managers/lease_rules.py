"""When a lease may be taken, and until when its holder may rely on it: rules that know no clock."""

from __future__ import annotations

__all__ = ("ENDS_AFTER", "RENEWED_AFTER", "LeaseTerm", "LeaseView")

from typing import Final

RENEWED_AFTER: Final = 1 / 3
"""After which part of its time a lease is renewed."""
ENDS_AFTER: Final = 2 / 3
"""After which part of its time a lease that was not renewed is lost for its holder."""

_SHORTEST = 1e-6  # seconds: less is not worth a sleep, which might not move the clock


class LeaseView:
    """What one process has seen of a lease that it waits for; it knows no clock itself."""

    def __init__(self, lasts: float) -> None:
        self._lasts = lasts
        self._revision = 0
        self._since = 0.0

    def expected(self, revision: int, now: float) -> int | None:
        """Return the revision at which the lease may be taken; None while it is another's.

        `revision` is that of the record, 0 without one; `now` is a time of `elapsed`.
        """
        if revision and revision != self._revision:
            self._revision, self._since = revision, now
        return revision if not revision or now - self._since >= self._lasts else None


class LeaseTerm:
    """How long a holder may rely on its lease; it knows no clock itself."""

    def __init__(self, lasts: float, sent: float) -> None:
        self._lasts = lasts
        self._sent = sent
        self._over = False

    def renew(self, sent: float) -> None:
        """Count from `sent` on: a time from before the write was sent that has succeeded."""
        self._sent = max(sent, self._sent)

    def end(self) -> None:
        """Rely on it no longer: another process has it."""
        self._over = True

    def left(self, now: float) -> float:
        """Return how many seconds are left, 0 if it is over."""
        left = self._sent + self._lasts * ENDS_AFTER - now
        return 0.0 if self._over or left < _SHORTEST else left
