"""Times on the wire: RFC 3339 date-times, as `2026-02-27T12:00:00.000Z` (MGP 5.4, 6.3)."""

from __future__ import annotations

__all__ = ("end_of", "is_date_time", "seconds_of", "timestamp_of")

import math
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timestamp_of(seconds: float) -> str:
    """Return a time, in seconds since 1970, as a date-time in UTC with milliseconds.

    Raises:
        ValueError, OverflowError: the time is before the year 1 or after the year 9999.
    """
    return _timestamp(round(seconds * 1000))


@lru_cache(maxsize=4)  # a busy server writes many in the same millisecond
def _timestamp(milliseconds: int) -> str:
    time = _EPOCH + timedelta(milliseconds=milliseconds)
    return time.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def seconds_of(text: str) -> float:
    """Return the time of a date-time with a zone, in seconds since 1970.

    Raises:
        ValueError: `text` is not an RFC 3339 date-time.
    """
    try:
        if _DATE_TIME.fullmatch(text) is not None:
            return (datetime.fromisoformat(text.upper()) - _EPOCH).total_seconds()
    except (ValueError, OverflowError):
        pass  # there is no such day, or no such time
    expected = "expected a date-time with a zone, as 2026-02-27T12:00:00Z"
    raise ValueError(f"{expected}, got {text!r:.60}") from None


def is_date_time(text: str) -> bool:
    """Return whether `text` is an RFC 3339 date-time."""
    try:
        seconds_of(text)
    except ValueError:
        return False
    return True


def end_of(expires_at: object) -> float:
    """Return when something ends, in seconds since 1970, from an `expires_at` of a peer.

    Without a text it never ends; with one that is not a date-time it has ended.
    """
    if not isinstance(expires_at, str):
        return math.inf
    try:
        return seconds_of(expires_at)
    except ValueError:
        return -math.inf
