"""When a failed call is tried again (MGP 14.5, 14.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.errors import recovery_of
from kinwire.mgp.rules.retry import (
    Retries,
    RetryBudget,
    may_be_retried,
    most_retries,
    retry_delay,
)
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tools import KnownTool, known_tool
from kinwire_protocols.base import RpcError
from kinwire_protocols.mgp import errors
from kinwire_protocols.mgp.models import ErrorRecovery
from tests.each import each

OPTIONS = Retries(first_delay=0.5, longest_delay=60.0)


def made(**annotations: Any) -> KnownTool:
    entry = {"name": "run", "inputSchema": {"type": "object"}, "annotations": annotations}
    tool = known_tool(entry, policy=ServerPolicy(), trust="standard")
    assert tool is not None
    return tool


def delays(strategy: str | None, after: float | None, jitter: float = 0.0) -> list[float | None]:
    recovery = ErrorRecovery(retryable=True, retry_strategy=strategy, retry_after_ms=after)
    return [retry_delay(recovery, failures, OPTIONS, jitter=jitter) for failures in range(1, 6)]


@pytest.mark.spec("mgp-14.5-4", "mgp-14.6-2")
def test_the_strategy_decides_how_delays_grow() -> None:
    assert delays("immediate", None) == [0, 0, 0, 0, 0]
    assert delays("immediate", 250) == [0.25] * 5
    assert delays("fixed_delay", None) == [0.5] * 5
    assert delays("fixed_delay", 2000) == [2.0] * 5
    assert delays("exponential_backoff", 1000) == [1, 2, 4, 8, 16]
    assert delays("exponential_backoff", 20_000) == [20, 40, 60, 60, 60]
    assert delays("exponential_backoff", None) == [0.5, 1, 2, 4, 8]
    assert delays("somehow", 1000) == delays(None, 1000) == [1, 2, 4, 8, 16]
    assert delays("exponential_backoff", 60_001) == [None] * 5
    assert delays("fixed_delay", 10**400) == [None] * 5  # no float can hold it


@given(
    st.sampled_from(["immediate", "fixed_delay", "exponential_backoff", "?"]),
    st.floats(0, 60_000),
    st.integers(1, 2000),
    st.floats(0, 1),
)
def test_a_delay_is_never_shorter_than_asked_and_never_too_long(
    strategy: str, after: float, failures: int, jitter: float
) -> None:
    recovery = ErrorRecovery(retryable=True, retry_strategy=strategy, retry_after_ms=after)
    delay = retry_delay(recovery, failures, OPTIONS, jitter=jitter)
    assert delay is not None
    assert after / 1000 <= delay <= 60.0
    calm = retry_delay(recovery, failures, OPTIONS, jitter=0)
    assert calm is not None
    assert calm <= delay


def test_high_numbers_do_not_overflow() -> None:
    recovery = ErrorRecovery(retryable=True, retry_strategy="exponential_backoff", retry_after_ms=1)
    for failures in (1, 2, 64, 1100, 2000, 10**9):
        delay = retry_delay(recovery, failures, OPTIONS, jitter=1.0)
        assert delay is not None
        assert 0.001 <= delay <= 60.0
    huge = ErrorRecovery(retryable=True, retry_after_ms=1e300)
    assert retry_delay(huge, 1, OPTIONS, jitter=0) is None


@pytest.mark.spec("mgp-14.5-5", "mgp-14.6-3")
def test_the_lower_limit_of_retries_counts() -> None:
    said = {None: 3, 0: 0, 1: 1, 3: 3, 50: 3}
    for asked, most in said.items():
        assert most_retries(ErrorRecovery(max_retries=asked), Retries(most=3)) == most
    assert most_retries(ErrorRecovery(max_retries=2), Retries(most=0)) == 0


RETRYABLE = {"_mgp": {"retryable": True}}


@each(
    ("error", "safe", "dangerous"),
    [
        (errors.RateLimitedError("?"), True, True),
        (errors.ServerNotReadyError("?"), True, True),
        (errors.ResourceExhaustedError("?"), True, True),
        (errors.TimedOutError("?"), True, False),
        (errors.UpstreamTimeoutError("?"), True, False),
        (errors.UpstreamError("?"), False, False),
        (errors.UpstreamError("?", data=RETRYABLE), True, False),
        (errors.PermissionDeniedError("?"), False, False),
        (RpcError("?", data=RETRYABLE), True, False),
        (RpcError("?"), False, False),
        (errors.RateLimitedError("?", data={"_mgp": {"retryable": False}}), False, False),
    ],
)
@pytest.mark.spec("mgp-14.5-2", "mgp-14.6-6")
def test_what_may_have_run_is_repeated_only_if_that_does_no_harm(
    error: RpcError, safe: bool, dangerous: bool
) -> None:
    recovery = recovery_of(error)
    tool = made()
    for risk in ("safe", "moderate"):
        assert may_be_retried(error, recovery, replace(tool, risk=risk)) is safe
    assert may_be_retried(error, recovery, replace(tool, risk="dangerous")) is dangerous
    harmless = replace(made(idempotentHint=True), risk="dangerous")
    assert may_be_retried(error, recovery, harmless) is safe
    doubtful = replace(made(idempotentHint="yes"), risk="dangerous")
    assert may_be_retried(error, recovery, doubtful) is dangerous


def test_retries_stay_a_small_part_of_the_calls() -> None:
    budget = RetryBudget(Retries(share=0.1, burst=5))
    taken = 0
    for _call in range(1000):
        budget.called()
        taken += budget.take()
    assert 5 <= taken <= 105
    nothing = RetryBudget(Retries(share=0, burst=2))
    assert [nothing.take() for _ in range(4)] == [True, True, False, False]


def test_options_out_of_range_are_refused() -> None:
    wrong: dict[str, Any]
    for wrong in ({"most": -1}, {"share": 1.5}, {"first_delay": -1}, {"longest_delay": 0}):
        with pytest.raises(ValueError, match=r"Retries\.\w+: expected"):
            Retries(**wrong)
