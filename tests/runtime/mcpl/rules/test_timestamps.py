"""ISO 8601 date-times: which texts are one, and what a missing zone becomes."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given, settings, strategies as st

from kinwire.mcpl.rules.timestamps import timestamp_problem, timestamp_with_zone
from tests.each import each


@pytest.mark.spec("mcpl-9.2-3")
@each(
    "text",
    [
        "2026-01-23T10:30:00Z",
        "2026-01-23T10:30:00.123456789Z",
        "2026-01-23T10:30:00,5+01:00",
        "2026-01-23t10:30:00z",
        "2026-01-23 10:30:00-0530",
        "2026-01-23T10:30+05",
        "20260123T103000Z",
        "2026-W04-5T10:30:00Z",
        "2016-12-31T23:59:60Z",
        "20161231T235960Z",
    ],
)
def test_a_date_time_stays_as_it_is(text: str) -> None:
    assert timestamp_with_zone(text) == text


@pytest.mark.spec("mcpl-9.2-3")
@each("text", ["2026-01-23T10:30:00", "2026-01-23T10", "20260123T1030"])
def test_a_missing_zone_is_that_of_utc(text: str) -> None:
    assert timestamp_with_zone(text) == f"{text}Z"


@pytest.mark.spec("mcpl-9.2-3")
@each(
    "text",
    [
        "",
        "yesterday",
        "1769164200",
        "2026-01-23",
        "2026-02-30T10:30:00Z",
        "2026-13-01T10:30:00Z",
        "2026-01-23T25:30:00Z",
        "2026-01-23T10:61:00Z",
        "2026-01-23T10:30:61Z",
        "2026-01-23T10:30:00+25:00",
        "2026-01-23T10:30:00Z ",
        "2026-01-23T10:30:00Z\n",
        "2026-01-23T10:30:00.Z",
        "\uff12026-01-23T10:30:00Z",
        "23.01.2026 10:30",
        "2026-01-23T10:30:00.1111111111111111111Z",
    ],
)
def test_another_text_is_not_a_date_time(text: str) -> None:
    assert timestamp_with_zone(text) is None


@pytest.mark.spec("mcpl-9.2-3")
@settings(max_examples=50, deadline=None)
@given(st.datetimes(), st.sampled_from(["", "+00:00", "-11:30", "Z"]))
def test_what_python_writes_is_read(moment: datetime, zone: str) -> None:
    written = moment.isoformat() + zone
    assert timestamp_with_zone(written) == (written if zone else f"{written}Z")


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert timestamp_with_zone(text) is None or "T" in text.upper() or " " in text


def test_the_problem_names_the_place_and_shows_an_example() -> None:
    expected = "an ISO 8601 date-time, as 2026-01-23T10:30:00Z"
    assert str(timestamp_problem("now")) == f'/timestamp: expected {expected}, got "now"'
