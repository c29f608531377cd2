"""Events that come again, and the pauses between attempts."""

from __future__ import annotations

import pytest

from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.push import (
    BACKPRESSURE,
    NOT_IN_TIME,
    REUSED,
    body_digest,
    is_duplicate,
    may_be_accepted_later,
    push_backoff,
)
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcpl import PushEventParams, PushEventPayload, PushEventResult
from tests.each import each

pytestmark = pytest.mark.spec("mcpl-9.4-1")

DONE = PushEventResult(accepted=True, inference_id="inf_1")


def test_every_field_but_the_time_distinguishes_an_event() -> None:
    event = PushEventParams(
        feature_set="s",
        event_id="e",
        timestamp="t",
        payload=PushEventPayload(content=blocks_of("c")),
    )
    others = [
        event.model_copy(update={"origin": {}}),
        event.model_copy(update={"payload": PushEventPayload(content=blocks_of("d"))}),
        event.model_copy(update={"feature_set": "other"}),
    ]
    assert len({body_digest(to_wire(one)) for one in (event, *others)}) == 4
    later = event.model_copy(update={"timestamp": "u"})
    assert body_digest(to_wire(later)) == body_digest(to_wire(event))


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


@each(("answer", "final"), FINAL)
def test_only_a_refusal_for_the_moment_is_worth_another_attempt(
    answer: PushEventResult, final: bool
) -> None:
    assert may_be_accepted_later(answer) is not final


def test_a_host_may_answer_that_an_event_is_a_duplicate() -> None:
    duplicate = PushEventResult(accepted=False, reason="duplicate")
    assert is_duplicate(duplicate)
    assert not is_duplicate(REUSED)


def test_an_event_may_have_a_number_that_no_double_is() -> None:
    def event(number: float) -> PushEventParams:
        payload = PushEventPayload(content=blocks_of("c"))
        return PushEventParams(
            feature_set="s", event_id="e", timestamp="t", origin={"n": number}, payload=payload
        )

    assert body_digest(to_wire(event(float("inf")))) != body_digest(to_wire(event(1)))
