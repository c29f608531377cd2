"""The states of a promise: who may redeem it, until when, and what a repetition gets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.rules.promises import (
    TOKEN_SIZE,
    PendingPromise,
    PromiseRecord,
    Redeemed,
    Refused,
    begun_promise,
    cancelled,
    finished_promise,
    poll_after,
    promise_meta,
    redeemed,
    repeated_token,
    token_name,
    token_of,
    unavailable,
)
from tests.each import each

LIMITS = LiteLimits(token_life=100.0, result_kept=10.0, poll=1.0, longest_poll=30.0)
OWNER, RESULT = "a" * 64, {"content": [{"n": 1}]}
BEGUN = begun_promise(OWNER, "w", now=0.0, estimated=None, limits=LIMITS)
DONE = replace(BEGUN, state="done", result=RESULT)
ONCE = replace(DONE, is_redeemed=True, expires_at=15.0)


@pytest.mark.spec("mcp-lite-3.5-4", "mcp-lite-3.5-7", "mcp-lite-3.6-4")
@each(
    ("record", "owner", "now", "expected"),
    [
        (None, OWNER, 5.0, Refused()),
        (BEGUN, OWNER, 0.0, PendingPromise(BEGUN)),
        (BEGUN, OWNER, 99.9, PendingPromise(BEGUN)),
        (BEGUN, OWNER, 100.0, Refused()),
        (BEGUN, "b" * 64, 5.0, Refused()),
        (BEGUN, "", 5.0, Refused()),
        (replace(BEGUN, state="cancelled"), OWNER, 5.0, Refused()),
        (DONE, "b" * 64, 5.0, Refused()),
        (DONE, OWNER, 100.0, Refused()),
        (DONE, OWNER, 5.0, Redeemed(RESULT, ONCE)),
        (DONE, OWNER, 95.0, Redeemed(RESULT, replace(ONCE, expires_at=100.0))),
        (ONCE, OWNER, 14.9, Redeemed(RESULT, None)),
        (ONCE, OWNER, 15.0, Refused()),
        (
            replace(DONE, state="failed"),
            OWNER,
            5.0,
            Redeemed(RESULT, replace(ONCE, state="failed")),
        ),
    ],
)
def test_what_redeeming_a_token_gives(
    record: PromiseRecord | None, owner: str, now: float, expected: Any
) -> None:
    assert redeemed(record, owner, now=now, limits=LIMITS) == expected


@each("state", ["done", "failed", "cancelled"])
def test_a_promise_that_has_come_to_an_end_has_no_other_one(state: Any) -> None:
    ended = replace(BEGUN, state=state)
    assert finished_promise(ended, {}) is None
    assert cancelled(ended) is None


def test_work_ends_as_done_or_as_failed() -> None:
    assert finished_promise(BEGUN, RESULT) == DONE
    assert finished_promise(BEGUN, RESULT, lost=True) == replace(DONE, state="failed")


@each(
    ("estimated", "now", "wait"),
    [
        (None, 0.0, 1.0),
        (None, 20.0, 5.0),
        (None, 1000.0, 30.0),
        (8.0, 0.0, 8.0),
        (8.0, 7.9, 1.0),
        (8.0, 12.0, 3.0),
        (500.0, 0.0, 30.0),
    ],
)
def test_when_to_redeem_again(estimated: float | None, now: float, wait: float) -> None:
    record = begun_promise(OWNER, "w", now=0.0, estimated=estimated, limits=LIMITS)
    assert poll_after(record, now=now, limits=LIMITS) == wait


@pytest.mark.spec("mcp-lite-A.3-1", "mcp-lite-3.5-1")
def test_the_meta_of_a_promise() -> None:
    record = begun_promise(OWNER, "w", now=0.0, estimated=8.0, limits=LIMITS)
    assert promise_meta(record, "t", now=0.0, limits=LIMITS) == {
        "response_type": "promise",
        "promise_token": "t",
        "estimated_completion": "1970-01-01T00:00:08.000Z",
        "expires_at": "1970-01-01T00:01:40.000Z",
        "retry_after_ms": 8000,
    }
    late = promise_meta(record, "t", now=20.0, limits=LIMITS)
    assert late["estimated_completion"] == "1970-01-01T00:00:20.000Z"


@pytest.mark.spec("mcp-lite-3.5-6", "mcp-lite-3.5-8")
def test_a_token_has_256_bits_and_only_its_digest_is_stored() -> None:
    token = token_of(bytes(range(TOKEN_SIZE)))
    assert TOKEN_SIZE * 8 == 256
    assert (len(token), len(token_name(token))) == (43, 64)
    assert token not in token_name(token)
    assert token_name(token) != token_name(token[:-1])
    assert len(token_name("\ud800")) == 64


def test_the_token_of_a_repeated_call_depends_on_all_that_it_is_made_of() -> None:
    made = {repeated_token(*row) for row in (("n", "o", "k"), ("m", "o", "k"), ("n", "p", "k"))}
    assert len(made | {repeated_token("n", "o", "l")}) == 4
    assert repeated_token("n", "o", "k") in made


def test_the_failure_of_every_token_that_cannot_be_redeemed_is_the_same() -> None:
    assert unavailable().code == "PROMISE_UNAVAILABLE"
    assert str(unavailable()) == str(unavailable())


class Promise(RuleBasedStateMachine):
    """One promise, seen by its owner and by others, next to the simplest account of it."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.record: PromiseRecord = BEGUN
        self.answers: list[Any] = []
        self.first: float | None = None

    @rule(seconds=st.floats(0.0, 40.0))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    @rule(number=st.integers(0, 3), lost=st.booleans())
    def finish(self, number: int, lost: bool) -> None:
        ended = finished_promise(self.record, {"n": number}, lost=lost)
        assert (ended is None) is (self.record.state != "pending")
        self.record = ended or self.record

    @rule()
    def cancel(self) -> None:
        self.record = cancelled(self.record) or self.record

    @rule()
    def redeem(self) -> None:
        decision = redeemed(self.record, OWNER, now=self.now, limits=LIMITS)
        if isinstance(decision, Redeemed):
            assert (decision.write is None) is (self.first is not None)
            self.first = self.now if self.first is None else self.first
            self.record = decision.write or self.record
            self.answers.append(decision.result)

    @rule(owner=st.sampled_from(["", "b" * 64, "a" * 63, "A" * 64]))
    def redeem_as_another(self, owner: str) -> None:
        assert redeemed(self.record, owner, now=self.now, limits=LIMITS) == Refused()

    @invariant()
    def has_one_answer(self) -> None:
        assert all(answer == self.answers[0] for answer in self.answers)

    @invariant()
    def expires(self) -> None:
        kept = 100.0 if self.first is None else min(100.0, self.first + LIMITS.result_kept)
        decision = redeemed(self.record, OWNER, now=self.now, limits=LIMITS)
        over = self.now >= kept or self.record.state == "cancelled"
        assert isinstance(decision, Refused) is over


TestPromise = Promise.TestCase


@given(st.binary(min_size=TOKEN_SIZE, max_size=TOKEN_SIZE))
def test_a_token_is_safe_in_addresses_and_headers(bits: bytes) -> None:
    token = token_of(bits)
    assert token.isascii()
    assert all(one.isalnum() or one in "-_" for one in token)
