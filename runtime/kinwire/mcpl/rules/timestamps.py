"""Times that servers write: ISO 8601 date-times (MCPL 9.2, 14.3)."""

from __future__ import annotations

__all__ = ("timestamp_problem", "timestamp_with_zone")

import re
from datetime import datetime

from kinwire_protocols.problems import Problem, shown

_DATE_TIME = re.compile(
    r"(?P<date>\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d-?\d)[Tt ]"
    r"(?P<time>\d\d(?::?\d\d(?P<seconds>:?\d\d)?(?:[.,]\d{1,18})?)?)"
    r"(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)


def timestamp_with_zone(text: str) -> str | None:
    """Return an ISO 8601 date-time, with that of UTC if it has no zone; None for another text."""
    found = _DATE_TIME.fullmatch(text)
    if found is None:
        return None
    date, time, seconds, zone = found.group("date", "time", "seconds", "zone")
    if seconds is not None and seconds.endswith("60"):  # Python has no leap seconds
        time = time.replace(seconds, seconds.replace("60", "59"), 1)
    try:
        datetime.fromisoformat(f"{date}T{time}{zone or ''}".upper())
    except ValueError:  # there is no such day, or no such time
        return None
    return text if zone else f"{text}Z"


def timestamp_problem(text: str) -> Problem:
    """Return what is wrong with a time that `timestamp_with_zone` does not take."""
    return Problem("/timestamp", "an ISO 8601 date-time, as 2026-01-23T10:30:00Z", shown(text))
