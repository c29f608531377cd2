"""When a client asks for the result of a promise again (MCP-lite 0.042 section 3.5). Pure."""

from __future__ import annotations

__all__ = ("MOST_FAILURES", "TRANSIENT", "PollHints", "next_poll", "retry_after_in")

from dataclasses import dataclass

from kinwire.rpc.codec import is_object
from kinwire.support.backoff import Backoff
from kinwire.support.timestamps import seconds_of

MOST_FAILURES = 20
"""Attempts in a row that fail after which the server counts as gone: about ten minutes.

A server that says that it may be asked again is asked until the promise expires, or the timeout.
"""

TRANSIENT = frozenset({408, 425, 429, 502, 503, 504})
"""Statuses of HTTP by which a server, or a proxy before it, says that it may be asked again."""

_LEAST = 0.05  # seconds: no hint makes a client ask without end
_LONGEST = 30.0  # without a hint of the server, or until the time that it estimates
_LONGEST_HINT = 3600.0
_LONGEST_MILLISECONDS = 2**53  # a server may write numbers that no float can hold
_PENDING = Backoff(first=0.5, longest=_LONGEST)
_UNREACHABLE = Backoff(first=0.5, longest=_LONGEST)


@dataclass(frozen=True, slots=True)
class PollHints:
    """What a server says about a promise."""

    retry_after: float | None = None
    """Seconds after which to ask again."""
    estimated_completion: str | None = None
    """When the result may be there, a date-time."""
    estimated_seconds: float | None = None
    """In how many seconds it may be there, as NLWeb says it."""
    retry_failed_after: float | None = None
    """Seconds after which to try again, from a server that could not answer."""


def retry_after_in(fields: object) -> float | None:
    """Return the seconds that `retry_after_ms` of a promise or an error asks a client to wait.

    None if the server does not ask for it, or not by a whole number of milliseconds.
    """
    given = fields.get("retry_after_ms") if is_object(fields) else None
    if type(given) is not int or given < 0:
        return None
    return min(given, _LONGEST_MILLISECONDS) / 1000


def next_poll(hints: PollHints, *, asked: int, failures: int, now: float, jitter: float) -> float:
    """Return how many seconds to wait before asking again.

    Args:
        hints: what the server said last.
        asked: how often it was asked, and said that the work goes on.
        failures: how often in a row it could not be reached.
        now: seconds since 1970.
        jitter: a random number from 0 to 1.
    """
    if failures:
        wanted = min(_LONGEST_HINT, hints.retry_failed_after or 0.0)
        return max(wanted, _UNREACHABLE.delay(failures, jitter=jitter))
    if hints.retry_after is not None:
        return min(_LONGEST_HINT, max(_LEAST, hints.retry_after))
    grown = _PENDING.delay(asked + 1, jitter=jitter)
    left = _estimated(hints, asked, now)
    return grown if left <= _LEAST else min(_LONGEST, max(grown, left))


def _estimated(hints: PollHints, asked: int, now: float) -> float:
    """Return in how many seconds the result may be there; 0 if that is unknown or past."""
    if hints.estimated_completion is not None:
        try:
            return seconds_of(hints.estimated_completion) - now
        except ValueError:
            return 0
    if hints.estimated_seconds is not None and asked == 0:
        return hints.estimated_seconds
    return 0
