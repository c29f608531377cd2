"""Cron expressions: what they may be, and when they are due (MCPE 8.2).

Five fields or a preset. The library `cronsim` reads the fields and finds the local times; which
instants they are is decided here. A local time that the clock skips is due at the end of the gap,
and one that comes twice is due the first time. Where minutes or hours begin with a star, they
follow real time: what comes twice is due twice, and what is skipped is not.

If both day fields are restricted, one of them is enough; a field is unrestricted only if it is
written as a star, or a star in steps of one.
"""

from __future__ import annotations

__all__ = ("CRON_SIZE", "CronTimes", "cron_expression", "instant_of", "preset_problem")

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo
from math import floor
from typing import Final

from cronsim import CronSim, CronSimError

from kinwire_protocols.nearest import nearest

CRON_SIZE: Final = 256
"""The longest expression, in characters."""

_USUAL_NAMES: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
"""What other programs mean by a name, for the hint if the server does not have it."""

_FIELDS: Final = ("minute", "hour", "day of month", "month", "day of week")
_DAY = 86_400
_SOME_TIME = datetime(2026, 1, 1, tzinfo=UTC)
_STEPPED_STAR = re.compile(r"\*(?=/)")
_STEP_OF_ONE = re.compile(r"\*/0*1")
_DAYS, _WEEKDAYS = 2, 4  # places of the fields


def cron_expression(text: str, presets: Mapping[str, str]) -> str:
    """Return the expression that `text` is, or that the preset `text` stands for.

    Raises:
        ValueError: it is not five fields and not a preset; the text is what was expected.
    """
    if text.startswith("@"):
        found = presets.get(text)
        if found is None:
            raise ValueError(_other_preset(text, presets))
        return found
    if len(text) > CRON_SIZE or len(re.split("[ \t]+", text.strip(" \t"))) != len(_FIELDS):
        raise ValueError(f"five fields: {', '.join(_FIELDS)}; at most {CRON_SIZE} characters")
    return text


class CronTimes:
    """When an expression is due in a time zone."""

    __slots__ = ("_expression", "_follows_real_time", "_zone")

    def __init__(self, expression: str, zone: tzinfo) -> None:
        """Read an expression with five fields, as `cron_expression` returns it.

        Raises:
            ValueError: a field is wrong, or it is never due, as on 30 February; the text is what
                was expected.
        """
        self._expression = _with_restricted_days(expression)
        self._zone = zone
        minute, hour = self._expression.split()[:2]
        self._follows_real_time = minute.startswith("*") or hour.startswith("*")
        try:
            next(CronSim(self._expression, _SOME_TIME))
        except (CronSimError, ValueError) as error:  # ValueError: thousands of digits
            raise ValueError(f"a valid cron expression ({error})") from None
        except StopIteration:
            raise ValueError("a cron expression that is due at some time") from None

    def next_after(self, seconds: float) -> float | None:
        """Return the first time after a time, both in seconds since 1970; None for never.

        The library looks for it fifty years ahead. No expression is due less often.
        """
        try:
            if self._follows_real_time:
                return self._next_in_real_time(floor(seconds))
            return self._next_by_the_clock(seconds)
        except (StopIteration, OSError, OverflowError, ValueError):  # after the year 9999
            return None

    def _next_by_the_clock(self, seconds: float) -> float:
        """Return when a clock on the wall shows a time that is due, or would but for a gap."""
        local = datetime.fromtimestamp(floor(seconds), self._zone).replace(tzinfo=UTC)
        times = CronSim(self._expression, local)
        while (found := instant_of(next(times).replace(tzinfo=None), self._zone)) <= seconds:
            pass  # the hour that comes twice is over for the first time
        return found

    def _next_in_real_time(self, seconds: int) -> float:
        begin = seconds + 1  # what is due at this time is found, too
        while True:
            offset = _offset(begin, self._zone)
            local = datetime.fromtimestamp(begin - 1 + offset, UTC)
            found = int(next(CronSim(self._expression, local)).timestamp()) - offset
            change = _change_between(begin, found, self._zone)
            if change is None:
                return float(found)
            begin = change


def instant_of(local: datetime, zone: tzinfo) -> float:
    """Return when a clock in the zone shows `local`, a naive time, in seconds since 1970.

    Of a time that comes twice it is the first one; of one that is skipped, the end of the gap.
    """
    seconds = int(local.replace(tzinfo=zone).timestamp())
    if datetime.fromtimestamp(seconds, zone).replace(tzinfo=None) == local:
        return float(seconds)
    before = int(local.replace(tzinfo=zone, fold=1).timestamp())
    return float(_bisected(before, seconds, zone))


def _offset(seconds: int, zone: tzinfo) -> int:
    """Return how far a zone is ahead of UTC at a time, in seconds."""
    offset = datetime.fromtimestamp(seconds, UTC).astimezone(zone).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


def _change_between(after: int, until: int, zone: tzinfo) -> int | None:
    """Return the first second after `after`, at most `until`, from which the offset is another."""
    offset = _offset(after, zone)
    for day in range(after, until, _DAY):
        end = min(day + _DAY, until)
        if _offset(end, zone) != offset:
            return _bisected(day, end, zone)
    return None


def _bisected(low: int, high: int, zone: tzinfo) -> int:
    """Return the first second that has another offset than `low`, as `high` has."""
    offset = _offset(low, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(middle, zone) == offset:
            low = middle
        else:
            high = middle
    return high


def _with_restricted_days(expression: str) -> str:
    """Return the expression with stars in day fields only where they mean every day.

    The library takes a field as unrestricted that begins with a star, as `*/2`.
    """
    fields = expression.split()
    fields[_DAYS] = _restricted(fields[_DAYS], "1-31")
    fields[_WEEKDAYS] = _restricted(fields[_WEEKDAYS], "0-6")
    return " ".join(fields)


def _restricted(field: str, days: str) -> str:
    items = field.split(",")
    if any(item == "*" or _STEP_OF_ONE.fullmatch(item) for item in items):
        return _unless_wrong(items)
    return _STEPPED_STAR.sub(days, field)


def _unless_wrong(items: Iterable[str]) -> str:
    """Return a star first, with the other items, which may be wrong."""
    others = [item for item in items if item != "*" and not _STEP_OF_ONE.fullmatch(item)]
    return ",".join(("*", *others))


def preset_problem(name: str, expression: str) -> str | None:
    """Return what a name that stands for an expression is to be; None if it is right."""
    if not name.startswith("@") or not 1 < len(name) <= CRON_SIZE:
        return f"a name as @nightly, got {name!r:.60}"
    try:
        CronTimes(cron_expression(expression, {}), UTC)
    except ValueError as error:
        return f"{error} for {name}, got {expression!r:.60}"
    return None


def _other_preset(text: str, presets: Mapping[str, str]) -> str:
    expected = f"five fields, or one of {', '.join(presets)}" if presets else "five fields"
    if presets and text in _USUAL_NAMES:
        return f"{expected} (write {_USUAL_NAMES[text]!r} for {text})"
    near = nearest(text, list(presets))
    return f"{expected} (did you mean {near}?)" if near else expected
