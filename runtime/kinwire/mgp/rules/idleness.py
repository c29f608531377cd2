"""How long a server was idle, without the time in which this program stood still itself.

A program that was stopped for hours, with its machine or by a signal, has not used its servers in
that time; it must not shut all of them down when it goes on.
"""

from __future__ import annotations

__all__ = ("Idleness",)

from typing import Final

_PIECES: Final = 4  # looks in one timeout
_LATE: Final = 5.0  # seconds by which a look may be late in a program that is only busy


class Idleness:
    """Looks at a server now and then. Times are in seconds of a clock that never goes back."""

    def __init__(self, timeout: float, now: float) -> None:
        self._timeout = timeout
        self._since = now
        self._next_look = now

    def wait(self, now: float, last_used: float, *, busy: bool) -> float | None:
        """Return how long to wait before the next look; None if the server was idle for too long.

        `last_used` is when the last call began or ended, and `busy` is whether one is under way.
        """
        late = now - self._next_look > _LATE
        self._since = now if busy or late else max(self._since, last_used)
        left = self._since + self._timeout - now
        if left <= 0:
            return None
        pause = min(left, max(self._timeout / _PIECES, _LATE))
        self._next_look = now + pause
        return pause
