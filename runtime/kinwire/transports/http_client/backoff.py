"""How long to wait before a stream is opened again. Pure: randomness is handed in."""

from __future__ import annotations

__all__ = ("Backoff",)

_FIRST = 0.5  # seconds
_LEAST = 0.01  # also for a server that says 0, and closes behind each event
_MOST = 30.0
_JITTER = 0.25  # of the wait, upward: many clients of one server must not come back at once
_MOST_ASKED = 300.0  # what a server may ask for


class Backoff:
    """The waits of one stream: they double until an attempt brought something."""

    def __init__(self) -> None:
        self.failures = 0
        """Attempts in a row that brought nothing."""

    def succeeded(self) -> None:
        """The stream has brought something: begin anew."""
        self.failures = 0

    def next_wait(self, asked_ms: int | None, *, jitter: float) -> float:
        """Return the seconds until the next attempt.

        `asked_ms` is what the server's `retry` said: the least that it wants. `jitter` is 0 to 1.
        """
        asked = _FIRST if asked_ms is None else min(max(asked_ms / 1000, _LEAST), _MOST_ASKED)
        grown = asked * 2.0 ** min(self.failures, 16) if self.failures else 0.0
        self.failures += 1
        return max(asked, min(grown, _MOST) * (1 + _JITTER * jitter))
