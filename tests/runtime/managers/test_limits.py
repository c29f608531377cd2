"""Limits of how often, how much at the same time, and how much in all."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.managers.limits import Budget, ConcurrencyLimit, TokenBucket
from tests.each import each


def taken(bucket: TokenBucket, times: int, *, now: float) -> int:
    return sum(bucket.take(now=now) for _ in range(times))


@each(
    ("rate", "moments", "expected"),
    [
        (10, [5.0, 5.5, 99.0], [10, 5, 10]),
        (0.5, [0.0, 1.0, 2.0, 9.0], [1, 0, 1, 1]),
        (2.5, [0.0, 0.2, 0.4, 0.8], [2, 1, 0, 1]),
        (3, [7.0, 7.0], [3, 0]),
    ],
)
def test_a_bucket_refills_at_its_rate_up_to_its_size(
    rate: float, moments: list[float], expected: list[int]
) -> None:
    bucket = TokenBucket(per_second=rate)
    assert [taken(bucket, 20, now=now) for now in moments] == expected


@given(
    st.floats(min_value=0.1, max_value=1000),
    st.lists(st.floats(min_value=0, max_value=5), max_size=60),
)
def test_a_bucket_never_gives_more_than_its_size_and_its_rate(
    rate: float, pauses: list[float]
) -> None:
    bucket, now, given_out = TokenBucket(per_second=rate), 0.0, 0
    for pause in pauses:
        now += pause
        given_out += bucket.take(now=now)
        assert given_out <= max(1.0, rate) + now * rate + 1e-6


def test_operations_of_each_key_are_limited() -> None:
    limit = ConcurrencyLimit[str](2)
    assert [limit.enter("a") for _ in range(3)] == [True, True, False]
    assert limit.enter("b")
    limit.leave("a")
    assert [limit.enter("a") for _ in range(2)] == [True, False]


def test_a_key_without_operations_takes_no_memory() -> None:
    limit = ConcurrencyLimit[int](3)
    for key in range(100):
        assert limit.enter(key)
        assert limit.enter(key)
        limit.leave(key)
        limit.leave(key)
    assert vars(limit)["_running"] == {}
    with pytest.raises(KeyError):
        limit.leave(1)


def test_a_limit_of_zero_lets_nothing_begin() -> None:
    assert not ConcurrencyLimit[str](0).enter("a")


def test_a_budget_is_for_each_key() -> None:
    budget = Budget[str]({"a": 10, "b": 0}.get)
    assert [budget.is_spent(key) for key in ("a", "b", "free")] == [False, True, False]
    budget.spend("a", 9)
    assert not budget.is_spent("a")
    budget.spend("a", 9)
    assert budget.is_spent("a")
    budget.spend("free", 10**9)
    assert not budget.is_spent("free")
    assert budget.spent == {"a": 18, "free": 10**9}


def test_a_budget_that_is_raised_is_no_longer_spent() -> None:
    most = {"a": 10}
    budget = Budget[str](most.get)
    budget.spend("a", 10)
    assert budget.is_spent("a")
    most["a"] = 11
    assert not budget.is_spent("a")
