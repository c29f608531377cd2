"""When cron expressions are due: vectors, another library, a slow model, and clock changes."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from hypothesis import example, given, strategies as st

from kinwire.mcpe.rules.cron import CRON_SIZE, CronTimes, cron_expression, instant_of
from kinwire.mcpe.rules.features import EventFeatures
from kinwire_protocols.mcpe.tables import CRON_PRESETS
from tests.absent import shared

PRESETS = {name: row.expression for name, row in CRON_PRESETS.items()}
ZONES = ["UTC", "America/New_York", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia"]
ZONES += ["Africa/Cairo", "Asia/Kathmandu", "America/Sao_Paulo", "Europe/Helsinki"]


def times_of(expression: str, zone: str = "UTC") -> CronTimes:
    return CronTimes(cron_expression(expression, PRESETS), ZoneInfo(zone))


def due(expression: str, zone: str, after: str, count: int) -> list[str]:
    """Return the next due times, in UTC."""
    times, at, found = times_of(expression, zone), seconds(after), list[str]()
    for _ in range(count):
        following = times.next_after(at)
        assert following is not None
        assert following > at
        at = following
        found.append(datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%MZ"))
    return found


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.spec("mcpe-8.2-2", "mcpe-8.2-3", "mcpe-8.2-6")
def test_the_vectors() -> None:
    vectors = json.loads(shared("corpora/cron/vectors.json").read_text("utf-8"))
    assert vectors["presets"] == PRESETS
    assert len(vectors["valid"]) >= 30
    for row in vectors["valid"]:
        times, at = times_of(row["expression"], row["timezone"]), seconds(row["after"])
        for expected in row["expected"]:
            found = times.next_after(at)
            assert found == seconds(expected), row
            at = found
    for row in vectors["invalid"]:
        with pytest.raises(ValueError, match=r"fields|cron expression"):
            times_of(row["expression"])


CASES: list[tuple[str, str, str, list[str]]] = [
    # Both day fields restricted: one is enough. A full range is a restriction, a star is not.
    ("0 9 1-31 * 1", "UTC", "2026-05-01T00:00Z", ["05-01T09:00", "05-02T09:00", "05-03T09:00"]),
    ("0 9 * * 1", "UTC", "2026-05-01T00:00Z", ["05-04T09:00", "05-11T09:00"]),
    ("0 9 */1 * 1", "UTC", "2026-05-01T00:00Z", ["05-04T09:00", "05-11T09:00"]),
    ("0 9 1,* * 1", "UTC", "2026-05-01T00:00Z", ["05-04T09:00", "05-11T09:00"]),
    ("0 0 13 * 5", "UTC", "2026-05-01T00:00Z", ["05-08T00:00", "05-13T00:00", "05-15T00:00"]),
    ("0 0 31 2 1-5", "UTC", "2026-02-01T00:00Z", ["02-02T00:00", "02-03T00:00"]),
    # A star with a step is a restriction, alone and next to the other day field.
    ("0 0 * * */2", "UTC", "2026-01-02T00:00Z", ["01-03T00:00", "01-04T00:00", "01-06T00:00"]),
    ("0 0 * * 0,2,4,6", "UTC", "2026-01-02T00:00Z", ["01-03T00:00", "01-04T00:00", "01-06T00:00"]),
    ("0 0 13 * */2", "UTC", "2026-05-11T00:00Z", ["05-12T00:00", "05-13T00:00", "05-14T00:00"]),
    ("0 0 */10 * 1", "UTC", "2026-05-01T00:00Z", ["05-04T00:00", "05-11T00:00", "05-18T00:00"]),
    ("0 0 */10 * *", "UTC", "2026-02-21T00:00Z", ["03-01T00:00", "03-11T00:00", "03-21T00:00"]),
    # Sunday is 0 and 7, and names are read in any case.
    ("0 0 * * 7", "UTC", "2026-05-01T00:00Z", ["05-03T00:00", "05-10T00:00"]),
    ("0 0 * * 0", "UTC", "2026-05-01T00:00Z", ["05-03T00:00"]),
    ("0 0 * * SUN", "UTC", "2026-05-01T00:00Z", ["05-03T00:00"]),
    ("0 0 * jan mon-fri", "UTC", "2026-05-01T00:00Z", ["01-01T00:00", "01-04T00:00"]),
    # A step behind a single number begins there.
    ("5/15 * * * *", "UTC", "2026-05-01T00:00Z", ["05-01T00:05", "05-01T00:20", "05-01T00:35"]),
    ("*/90 * * * *", "UTC", "2026-05-01T00:00Z", ["05-01T01:00", "05-01T02:00"]),
    # Leap days, also over the year 2100.
    ("0 9 29 2 *", "UTC", "2028-02-29T09:00Z", ["02-29T09:00"]),
    ("0 9 29 2 *", "UTC", "2096-02-29T09:00Z", ["02-29T09:00"]),
    ("0 0 31 * *", "UTC", "2026-01-31T00:00Z", ["03-31T00:00", "05-31T00:00", "07-31T00:00"]),
    # An hour that comes twice: by the clock once, in real time twice.
    ("30 1 * * *", "America/New_York", "2026-10-31T06:00Z", ["11-01T05:30", "11-02T06:30"]),
    ("30 1 * * *", "America/New_York", "2026-11-01T06:10Z", ["11-02T06:30"]),
    ("0-59 1 * * *", "America/New_York", "2026-11-01T05:58Z", ["11-01T05:59", "11-02T06:00"]),
    ("30 * * * *", "Europe/Helsinki", "2026-10-25T00:00Z", ["10-25T00:30", "10-25T01:30"]),
    ("30 * * * *", "Australia/Lord_Howe", "2026-04-04T14:00Z", ["04-04T14:30", "04-04T15:00"]),
    # An hour that is skipped: the end of the gap, once.
    ("30 3 * * *", "America/New_York", "2026-03-08T05:00Z", ["03-08T07:30", "03-09T07:30"]),
    ("0 1-3 * * *", "America/New_York", "2026-03-08T05:00Z", ["03-08T06:00", "03-08T07:00"]),
    ("15,45 2 * * *", "America/New_York", "2026-03-08T05:00Z", ["03-08T07:00", "03-09T06:15"]),
    ("0 0 30 12 *", "Pacific/Apia", "2011-12-01T00:00Z", ["12-30T10:00", "12-29T10:00"]),
]


def test_cases_that_other_programs_got_wrong() -> None:
    for expression, zone, after, expected in CASES:
        found = due(expression, zone, after, len(expected))
        assert [one[5:16] for one in found] == expected, expression
    assert due("0 9 29 2 *", "UTC", "2096-02-29T09:00Z", 1) == ["2104-02-29T09:00Z"]
    assert due("0 0 31 * *", "UTC", "2026-01-31T12:00Z", 4)[-1] == "2026-08-31T00:00Z"


def test_expressions_that_are_refused_say_what_is_expected() -> None:
    table = [
        ("0 0 31 2 *", "a valid cron expression (Bad day-of-month)"),
        ("0 0 30 2 *", "a valid cron expression (Bad day-of-month)"),
        ("0 0 31 4,6 *", "a valid cron expression (Bad day-of-month)"),
        ("0 0 * 2 1#5L", "a valid cron expression (Bad day-of-week)"),
        ("* * * *", "five fields: minute, hour, day of month, month, day of week; at most 256"),
        ("* * * * * *", "five fields: "),
        ("* * * *\n*", "five fields: "),
        ("0" * CRON_SIZE + " * * * *", "five fields: "),
        ("", "five fields: "),
        ("60 * * * *", "a valid cron expression (Bad minute)"),
        ("10-5 * * * *", "a valid cron expression (Bad minute)"),
        ("*/0 * * * *", "a valid cron expression (Bad minute)"),
        ("* * *,x * *", "a valid cron expression (Bad day-of-month)"),
        ("* * *, * *", "a valid cron expression (Bad day-of-month)"),
        ("* * * * 8", "a valid cron expression (Bad day-of-week)"),
        ("* * * * ²L", "a valid cron expression (Bad day-of-week)"),
        (
            "@Daily",
            "five fields, or one of {named} (did you mean @daily?)",
        ),
        ("@yearly", "five fields, or one of {named}"),
    ]
    for expression, message in table:
        with pytest.raises(ValueError, match=r"expression|fields") as refused:
            times_of(expression)
        assert str(refused.value).startswith(message.format(named=", ".join(PRESETS))), expression
    with pytest.raises(ValueError, match=r"^five fields$"):
        cron_expression("@daily", {})


def test_the_control_of_those_that_are_never_due_is_accepted() -> None:
    for expression in ("0 0 29 2 *", "0 0 31 2 1-5", "0 0 * 2 0#5", "\t@daily"[1:], " 0  0 * * * "):
        assert times_of(expression).next_after(0.0) is not None


def test_at_the_end_of_all_years_nothing_is_due() -> None:
    end = seconds("9999-12-31T23:59:00+00:00")
    for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
        for expression in ("0 0 * * *", "* * * * *"):
            assert times_of(expression, zone).next_after(end) is None
        assert times_of("* * * * *", zone).next_after(1e18) is None


MINUTES = st.sampled_from(["0", "30", "59", "*", "*/7", "5,35", "10-20/5", "1/20"])
HOURS = st.sampled_from(["0", "1", "2", "3", "*", "*/5", "1-4", "2,23", "22-23"])
DAYS = st.sampled_from(["*", "1", "13,31", "*/9", "8-14", "L", "28-31"])
MONTHS = st.sampled_from(["*", "3", "10,11", "*/4", "4-10"])
WEEKDAYS = st.sampled_from(["*", "0", "7", "1-5", "*/2", "6,0", "SAT"])
EXPRESSION = st.tuples(MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS).map(" ".join)
MOMENT = st.integers(1_767_225_600, 1_830_297_600)  # of 2026 and 2027


def days_of(expression: str, day: datetime) -> bool:
    """Return whether a day fits the last three fields."""
    _, _, days, months, weekdays = expression.split()
    names = {"SAT": "6", "L": str((day.replace(day=28) + timedelta(days=4)).replace(day=1).day)}
    last = (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    fits_day = day.day == last.day if days == "L" else day.day in numbers(days, 1, 31)
    weekday = names.get(weekdays, weekdays)
    fits_weekday = day.isoweekday() % 7 in {one % 7 for one in numbers(weekday, 0, 6)}
    if day.month not in numbers(months, 1, 12):
        return False
    if "*" in (days, weekdays):
        return fits_day and fits_weekday
    return fits_day or fits_weekday


def numbers(field: str, least: int, most: int) -> set[int]:
    """Return the numbers that a field stands for."""
    found = set[int]()
    for item in field.split(","):
        span, _, step = item.partition("/")
        low, _, high = span.partition("-")
        if span == "*":
            first, last = least, most
        else:
            first, last = int(low), int(high or (most if step else low))
        found.update(range(first, last + 1, int(step or 1)))
    return found


def slow_next(expression: str, zone: ZoneInfo, after: int) -> float:
    """Look at every minute of the local calendar, or of real time."""
    minutes, hours = (
        numbers(one, 0, top) for one, top in zip(expression.split()[:2], (59, 23), strict=True)
    )
    real = expression.split()[0].startswith("*") or expression.split()[1].startswith("*")
    at = datetime.fromtimestamp(after, zone).replace(second=0)
    first = (at - timedelta(days=2)).replace(tzinfo=None)
    for day in range(800):
        midnight = first.replace(hour=0, minute=0) + timedelta(days=day)
        near = [midnight + timedelta(days=one) for one in ((-1, 0, 1) if real else (0,))]
        if not any(days_of(expression, one) for one in near):
            continue
        found = (
            list(real_times(expression, zone, midnight, minutes, hours))
            if real
            else [
                instant_of(midnight + timedelta(hours=hour, minutes=minute), zone)
                for hour in hours
                for minute in minutes
            ]
        )
        later = [one for one in found if one > after]
        if later:
            return min(later)
    raise AssertionError(expression)


def real_times(
    expression: str, zone: ZoneInfo, midnight: datetime, minutes: set[int], hours: set[int]
) -> Any:
    begin = int(midnight.replace(tzinfo=UTC).timestamp())
    for at in range(begin, begin + 86_400, 60):
        local = datetime.fromtimestamp(at, zone)
        if local.minute in minutes and local.hour in hours and days_of(expression, local):
            yield float(at)


@given(EXPRESSION, st.sampled_from(ZONES), MOMENT)
@example("*/7 1-4 * * *", "Australia/Lord_Howe", 1_775_311_000)
@example("30 2 * * *", "America/New_York", 1_772_900_000)
def test_it_finds_what_a_slow_model_finds(expression: str, zone: str, after: int) -> None:
    times = times_of(expression, zone)
    found = times.next_after(after)
    assert found == slow_next(expression, ZoneInfo(zone), after)


@given(EXPRESSION.filter(lambda one: "L" not in one), MOMENT)
def test_it_finds_what_croniter_finds_without_clock_changes(expression: str, after: int) -> None:
    theirs = croniter(expression, datetime.fromtimestamp(after, UTC), ret_type=float)
    times, at = times_of(expression), float(after)
    for _ in range(5):
        found = times.next_after(at)
        assert found == theirs.get_next()
        at = found or 0.0


@given(EXPRESSION, st.sampled_from(ZONES), MOMENT, st.floats(0, 1))
def test_times_rise_and_none_is_left_out(
    expression: str, zone: str, after: int, part: float
) -> None:
    times = times_of(expression, zone)
    found = [float(after)]
    for _ in range(20):
        found.append(times.next_after(found[-1]) or 0.0)
    for one, other in pairwise(found):
        assert one < other
        # From anywhere between two times that follow each other, the second is found.
        assert times.next_after(one + (other - one) * min(part, 0.99)) == other


@given(st.datetimes(datetime(2011, 1, 1), datetime(2027, 1, 1)), st.sampled_from(ZONES))
def test_a_local_time_is_an_instant(local: datetime, zone: str) -> None:
    local = local.replace(microsecond=0)
    found = datetime.fromtimestamp(instant_of(local, ZoneInfo(zone)), ZoneInfo(zone))
    shown = found.replace(tzinfo=None)
    if shown != local:  # in a gap, whose end is a second after its begin
        before = datetime.fromtimestamp(found.timestamp() - 1, ZoneInfo(zone)).replace(tzinfo=None)
        assert before < local < shown
    assert found.fold == 0


def test_a_name_that_the_server_does_not_have_is_answered_with_what_it_means_elsewhere() -> None:
    presets = {"@daily": "0 0 * * *"}
    for name, hint in (
        ("@yearly", "write '0 0 1 1 *' for @yearly"),
        ("@midnight", "write '0 0 * * *' for @midnight"),
        ("@dayly", "did you mean @daily?"),
    ):
        with pytest.raises(ValueError, match=f"^five fields, or one of @daily .{re.escape(hint)}"):
            cron_expression(name, presets)


def test_presets_of_a_server_are_checked_when_it_is_made() -> None:
    assert EventFeatures(cron_presets={"@nightly": "0 3 * * *"}).cron_presets
    for presets, expected in (
        ({"@x": "y"}, "five fields"),
        ({"@x": "@daily"}, "five fields"),
        ({"@x": "61 * * * *"}, "a valid cron expression"),
        ({"@x": "0 0 30 2 *"}, "a valid cron expression"),
        ({"nightly": "0 3 * * *"}, "a name as @nightly, got 'nightly'"),
        ({"@": "0 3 * * *"}, "a name as @nightly"),
    ):
        with pytest.raises(ValueError, match=f"EventFeatures: cron_presets: expected .*{expected}"):
            EventFeatures(cron_presets=presets)
