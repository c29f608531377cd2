"""What becomes of an event or message, by the answer of the host."""

from __future__ import annotations

import pytest

from kinwire.mcpl.rules.deliveries import (
    DELIVERED,
    LATER,
    DeliveryOutcome,
    error_outcome,
    message_outcome,
    push_outcome,
)
from kinwire.mcpl.rules.push import BACKPRESSURE, NOT_IN_TIME, REUSED, TOO_LARGE
from kinwire.rpc.errors import (
    ConnectionClosedError,
    InvalidResponseError,
    RequestTimeoutError,
    RpcError,
)
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError, MethodNotFoundError
from kinwire_protocols.mcpl import (
    FeatureSetNotEnabledError,
    IncomingOutcome,
    PushEventResult,
    UnknownFeatureSetError,
)
from tests.each import each

DUPLICATE = PushEventResult(accepted=False, reason="duplicate")


def refused(reason: str) -> DeliveryOutcome:
    return DeliveryOutcome(True, reason)


@pytest.mark.spec("mcpl-9.3-1")
@each(
    ("answer", "repeated", "outcome"),
    [
        (PushEventResult(accepted=True), False, DELIVERED),
        (PushEventResult(accepted=True), True, DELIVERED),
        (BACKPRESSURE, False, LATER),
        (NOT_IN_TIME, True, LATER),
        (DUPLICATE, True, DELIVERED),
        (DUPLICATE, False, refused("duplicate")),
        (REUSED, True, refused(str(REUSED.reason))),
        (TOO_LARGE, False, refused(str(TOO_LARGE.reason))),
        (PushEventResult(accepted=False), False, refused("the host gave no reason")),
    ],
)
def test_an_event_is_delivered_delayed_or_refused(
    answer: PushEventResult, repeated: bool, outcome: DeliveryOutcome
) -> None:
    assert push_outcome(answer, repeated=repeated) == outcome


@pytest.mark.spec("mcpl-14.3-15")
@each(
    ("accepted", "reason", "outcome"),
    [
        (True, None, DELIVERED),
        (False, "backpressure", LATER),
        (False, "the host failed: send it again", LATER),
        (False, "spam", refused("spam")),
        (False, None, refused("the host gave no reason")),
    ],
)
def test_a_message_is_delivered_delayed_or_refused(
    accepted: bool, reason: str | None, outcome: DeliveryOutcome
) -> None:
    answer = IncomingOutcome(message_id="m", accepted=accepted, reason=reason)
    assert message_outcome(answer) == outcome


@pytest.mark.spec("mcpl-9.3-1")
@each("attempt", [1, 2, 3])
@each(
    ("error", "until"),
    [
        (ConnectionClosedError("gone"), None),
        (RequestTimeoutError("late", 1.0), None),
        (FeatureSetNotEnabledError(), None),
        (InternalError("broken"), 3),
        (RpcError("The disk is full", code=-32000), 3),
        (InvalidResponseError("no object"), 3),
        (InvalidParamsError("wrong"), 1),
        (MethodNotFoundError("push/event"), 1),
        (UnknownFeatureSetError("nosuch"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_an_error_is_final_or_repeated(error: Exception, until: int | None, attempt: int) -> None:
    outcome = error_outcome(error, attempt=attempt, attempts=3)
    assert outcome == (LATER if until is None or attempt < until else refused(str(error)))
