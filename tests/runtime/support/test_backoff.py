"""Delays between attempts."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.support.backoff import Backoff
from tests.each import each

SECONDS = st.floats(0, 1e6)


def test_delays_double_until_the_longest() -> None:
    backoff = Backoff(first=0.5, longest=30)
    delays = [backoff.delay(failures, jitter=0.0) for failures in (1, 2, 3, 4, 7, 8, 100_000)]
    assert delays == [0.5, 1, 2, 4, 30, 30, 30]


@given(first=SECONDS, longest=SECONDS, failures=st.integers(1), jitter=st.floats(0, 1))
def test_jitter_lengthens_by_at_most_its_part(
    first: float, longest: float, failures: int, jitter: float
) -> None:
    backoff = Backoff(first=first, longest=longest, spread=0.5)
    shortest = backoff.delay(failures, jitter=0.0)
    assert shortest <= backoff.delay(failures, jitter=jitter) <= shortest * 1.5
    assert shortest <= backoff.delay(failures + 1, jitter=0.0) <= longest


@each("option", ["first", "longest", "spread"])
@each("value", [-1, float("nan"), "1", None])
def test_wrong_numbers_are_refused(option: str, value: object) -> None:
    options: dict[str, object] = {option: value}
    with pytest.raises(ValueError, match=rf"^Backoff\.{option}: expected seconds"):
        Backoff(**options)  # type: ignore[arg-type]
