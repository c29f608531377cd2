"""Events that come again, events that are too many, and the pauses between attempts."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.push import (
    BACKPRESSURE,
    NOT_IN_TIME,
    REUSED,
    StoredAnswer,
    body_digest,
    may_be_accepted_later,
    push_backoff,
    taken_before,
)
from kinwire.support.bounded import TtlDict
from kinwire_protocols.mcpl import PushEventParams, PushEventPayload, PushEventResult
from tests.runtime.mcpl.fixtures_long_runs import BRIEF, long_run

DONE = PushEventResult(accepted=True, inference_id="inf_1")


def test_the_oldest_is_forgotten_when_there_are_too_many() -> None:
    seen = TtlDict[str, StoredAnswer](10, limit=3)
    for event in "abcd":
        seen.put(event, StoredAnswer("x", DONE), now=0)
    assert len(seen) == 3
    assert seen.get("a", now=0) is None
    assert seen.get("d", now=0) == StoredAnswer("x", DONE)


@pytest.mark.faults
def test_ids_without_end_take_no_more_room_than_the_limit() -> None:
    seen = TtlDict[str, StoredAnswer](10, limit=100_000)
    kept = StoredAnswer("x", DONE)
    for number in range(200_000):
        seen.put(f"evt_{number}", kept, now=0)
    assert len(seen) == 100_000
    assert seen.get("evt_100000", now=0) == kept
    assert seen.get("evt_99999", now=0) is None


def test_every_field_distinguishes_an_event() -> None:
    event = PushEventParams(
        feature_set="s",
        event_id="e",
        timestamp="t",
        payload=PushEventPayload(content=blocks_of("c")),
    )
    others = [
        event.model_copy(update={"timestamp": "u"}),
        event.model_copy(update={"origin": {}}),
        event.model_copy(update={"payload": PushEventPayload(content=blocks_of("d"))}),
        event.model_copy(update={"feature_set": "other"}),
    ]
    assert len({body_digest(one) for one in (event, *others)}) == 5


class DedupAgainstModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now, self.real = 0.0, TtlDict[str, StoredAnswer](10)
        self.model: list[tuple[str, str, float]] = []  # every event ever kept, never trimmed

    @rule(seconds=st.integers(1, 12))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule(event=st.sampled_from("abc"), body=st.sampled_from("xy"))
    def push(self, event: str, body: str) -> None:
        alive = [b for e, b, at in self.model if e == event and self.now - at < 10]
        expected = None if not alive else DONE if alive == [body] else REUSED
        kept = self.real.get(event, now=self.now)
        assert (None if kept is None else kept.answer_to(body)) == expected
        if expected is None:
            self.real.put(event, StoredAnswer(body, DONE), now=self.now)
            self.model.append((event, body, self.now))


TestDedup = DedupAgainstModel.TestCase
TestDedup.settings = BRIEF
TestDedupAtLength = long_run(DedupAgainstModel)


def test_pauses_grow_to_an_end_and_are_spread() -> None:
    backoff = push_backoff(0.5)
    full = [backoff.delay(failures, jitter=1.0) for failures in (1, 2, 3, 8, 5000)]
    assert full == [0.5, 1.0, 2.0, 30, 30]
    assert backoff.delay(1, jitter=0.0) == 0.25


FINAL = [
    (DONE, True),
    (REUSED, True),
    (BACKPRESSURE, False),
    (NOT_IN_TIME, False),
    (PushEventResult(accepted=False), True),
    (PushEventResult(accepted=False, reason="Unknown feature set: nope"), True),
]


@pytest.mark.parametrize(("answer", "final"), FINAL)
def test_only_a_refusal_for_the_moment_is_worth_another_attempt(
    answer: PushEventResult, final: bool
) -> None:
    assert may_be_accepted_later(answer) is not final


def test_a_host_that_answers_duplicate_to_a_retry_took_the_first_one() -> None:
    duplicate = PushEventResult(accepted=False, reason="duplicate")
    assert not taken_before(duplicate, 1)
    assert taken_before(duplicate, 2)
    assert not taken_before(REUSED, 2)


def test_an_event_may_have_a_number_that_no_double_is() -> None:
    def event(number: float) -> PushEventParams:
        payload = PushEventPayload(content=blocks_of("c"))
        return PushEventParams(
            feature_set="s", event_id="e", timestamp="t", origin={"n": number}, payload=payload
        )

    assert body_digest(event(float("inf"))) != body_digest(event(1))
