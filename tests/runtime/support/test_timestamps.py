"""Date-times on the wire, to seconds and back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.support.timestamps import end_of, is_date_time, seconds_of, timestamp_of


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_a_time_is_read_as_it_was_written(milliseconds: int) -> None:
    text = timestamp_of(milliseconds / 1000)
    assert text.endswith("Z")
    assert seconds_of(text) == pytest.approx(milliseconds / 1000, abs=0.0006)


def test_forms_of_date_times() -> None:
    for text in ("2026-02-27T12:00:00Z", "2026-02-27t13:00:00.000+01:00", "2026-02-27 12:00:00z"):
        assert seconds_of(text) == 1_772_193_600.0
        assert is_date_time(text)
    for bad in (
        "2026-02-27T12:00:00",
        "2026-02-27",
        "2026-02-30T12:00:00Z",
        "2026-02-27T12:00Z",
        "20260227T120000Z",
        "2026-02-27T25:00:00Z",
        "2026-02-27T12:00:00+0100",
        "2026-02-27T12:00:00Z\n",
        "٢026-02-27T12:00:00Z",
        "",
    ):
        with pytest.raises(ValueError, match="expected a date-time with a zone"):
            seconds_of(bad)
        assert not is_date_time(bad)


def test_what_has_an_end_that_is_not_readable_has_ended() -> None:
    assert end_of(None) == float("inf")
    assert end_of("2026-02-27T12:00:00Z") == 1_772_193_600.0
    assert end_of("soon") == float("-inf")
