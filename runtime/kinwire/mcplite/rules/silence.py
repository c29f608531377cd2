"""When a process that works on promises is believed to be gone. Pure.

A process that looks rarely cannot tell a process that has ended from a store that was unavailable
between two looks. So silence for a whole lease is only a suspicion. It is proof if there is still
no sign some time after a look that found it: then the store was there, and the other process had
the time to write.
"""

from __future__ import annotations

__all__ = ("WorkerSilence",)

from typing import Final

_MARGIN: Final = 2 / 3
"""The part of a lease in which a process writes its next sign when the store is there again."""


class WorkerSilence:
    """What one process has seen of the signs of another. Times are those of `elapsed`."""

    def __init__(self, lasts: float) -> None:
        """Take the seconds that a sign lasts."""
        self._lasts = lasts
        self._revision = 0
        self._since = 0.0
        self._suspected_at: float | None = None

    def is_proof(self, revision: int, now: float) -> bool:
        """Return whether the other process is gone, now that its sign is at `revision`."""
        if revision != self._revision:
            self._revision, self._since, self._suspected_at = revision, now, None
        elif self._suspected_at is not None:
            return now - self._suspected_at >= self._lasts * _MARGIN
        elif now - self._since >= self._lasts:
            self._suspected_at = now
        return False
