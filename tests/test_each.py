"""Tables of cases: all cases run, and each that fails is named."""

from __future__ import annotations

import pytest

from tests.each import each


def test_a_case_may_have_a_name_of_its_own() -> None:
    @each(("a", "b"), [(1, 1), pytest.param(1, 2, id="unequal"), pytest.param(2, 2)])
    def equal(a: int, b: int) -> None:
        assert a == b

    with pytest.raises(AssertionError) as caught:
        equal(**{})
    assert caught.value.__notes__ == ["case: unequal"]


def test_all_cases_that_fail_are_named_also_where_nothing_was_raised() -> None:
    seen: list[str] = []

    @each("text", ["1", "x", "2"])
    def refused(text: str) -> None:
        seen.append(text)
        with pytest.raises(ValueError, match="invalid"):
            int(text)

    with pytest.raises(BaseExceptionGroup, match="2 of 3 cases") as caught:
        refused(**{})
    assert [one.__notes__ for one in caught.value.exceptions] == [["case: '1'"], ["case: '2'"]]
    assert seen == ["1", "x", "2"]


def test_marks_are_for_parametrize() -> None:
    with pytest.raises(TypeError, match="without marks"):
        each("a", [pytest.param(1, marks=pytest.mark.slow)])
