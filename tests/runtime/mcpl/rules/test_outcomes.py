"""How operations end in the log of a host, and what a server makes of a host's answers."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.managers.audit_trail import Ending
from kinwire.mcpl.rules.deliveries import DELIVERED, LATER, message_outcome, push_outcome
from kinwire.mcpl.rules.operations import outcome_of
from kinwire.mcpl.rules.push import BACKPRESSURE, NOT_IN_TIME, is_duplicate, may_be_accepted_later
from kinwire.rpc.errors import RequestTimeoutError
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.mcpl import (
    ChannelsIncomingResult,
    IncomingOutcome,
    PushEventResult,
    RollbackResult,
    ScopeElevateResult,
)
from tests.each import each


def pushed(accepted: bool, reason: str | None = None) -> PushEventResult:
    return PushEventResult(accepted=accepted, reason=reason)


def brought(*accepted: bool) -> ChannelsIncomingResult:
    return ChannelsIncomingResult(
        results=[
            IncomingOutcome(message_id=str(at), accepted=one) for at, one in enumerate(accepted)
        ]
    )


LATE = RequestTimeoutError("a/method", 1.0, "")
ENDINGS: list[Any] = [
    (Ending(result=pushed(True)), None, ("success", None)),
    (Ending(result=None), None, ("success", None)),
    (Ending(result=pushed(False, "busy")), None, ("failure", "busy")),
    (Ending(result=pushed(False)), None, ("failure", "refused")),
    (Ending(result=NOT_IN_TIME), None, ("timeout", NOT_IN_TIME.reason)),
    (Ending(result=ScopeElevateResult(approved=False)), None, ("failure", "refused")),
    (Ending(result=RollbackResult(checkpoint="c", success=False)), "x", ("failure", "refused")),
    (Ending(result=brought(True, True)), None, ("success", None)),
    (
        Ending(result=brought(True, False, False)),
        None,
        ("failure", "2 of 3 messages were not accepted"),
    ),
    (Ending(cancelled=True, late=True), None, ("timeout", None)),
    (Ending(cancelled=True), None, ("failure", "it was cancelled")),
    (Ending(error=LATE), "a/method", ("timeout", str(LATE))),
    (Ending(error=LATE), "another/method", ("failure", str(LATE))),
    (Ending(error=LATE), None, ("failure", str(LATE))),
    (Ending(error=InternalError("late", data={"reason": "timeout"})), "x", ("timeout", "late")),
    (Ending(error=InternalError("busy", data={"reason": "busy"})), "x", ("failure", "busy")),
    (Ending(error=InternalError("odd", data=[1])), "x", ("failure", "odd")),
    (Ending(error=ValueError("wrong")), "x", ("failure", "wrong")),
    (Ending(error=ValueError()), "x", ("failure", "ValueError")),
]


@pytest.mark.spec("mcpl-13.2-1")
@each(("ending", "sent", "expected"), ENDINGS)
def test_each_ending_has_its_outcome(ending: Ending, sent: str | None, expected: Any) -> None:
    outcome, reason = outcome_of(ending, sent)
    assert outcome == expected[0]
    assert reason == expected[1] or expected[1] in str(reason)


@pytest.mark.spec("mcpl-9.3-3", "mcpl-9.4-2")
def test_an_answer_says_whether_to_send_an_event_again() -> None:
    for reason in (BACKPRESSURE.reason, NOT_IN_TIME.reason):
        assert may_be_accepted_later(pushed(False, reason))
        assert not may_be_accepted_later(pushed(True, reason))
        assert push_outcome(pushed(False, reason), repeated=False) == LATER
    assert not may_be_accepted_later(pushed(False, "no"))
    assert is_duplicate(pushed(False, "duplicate"))
    assert not is_duplicate(pushed(True, "duplicate"))
    assert not is_duplicate(pushed(False, "no"))


@pytest.mark.spec("mcpl-9.4-2")
def test_a_duplicate_is_delivered_only_if_it_was_sent_before() -> None:
    duplicate = pushed(False, "duplicate")
    assert push_outcome(pushed(True), repeated=False) == DELIVERED
    assert push_outcome(duplicate, repeated=True) == DELIVERED
    assert push_outcome(duplicate, repeated=False).refusal == "duplicate"
    assert push_outcome(pushed(False, "no"), repeated=True).refusal == "no"
    assert push_outcome(pushed(False), repeated=True).refusal


@pytest.mark.spec("mcpl-14.3-15")
def test_the_result_of_a_message_says_whether_to_send_it_again() -> None:
    def outcome(reason: str | None, accepted: bool = False) -> Any:
        return message_outcome(IncomingOutcome(message_id="m", accepted=accepted, reason=reason))

    assert outcome(None, accepted=True) == DELIVERED
    assert outcome(BACKPRESSURE.reason) == LATER
    assert outcome("it could not be taken: send it again") == LATER
    assert outcome("unknown channel").refusal == "unknown channel"
    assert outcome(None).refusal
