"""What becomes of an event or message, by the answer of the host (MCPL 9, 14.3).

It is delivered, tried again later, or refused for good.
"""

from __future__ import annotations

__all__ = (
    "DELIVERED",
    "LATER",
    "DeliveryOutcome",
    "error_outcome",
    "message_outcome",
    "push_outcome",
)

from dataclasses import dataclass

from kinwire.mcpl.rules.channels import SEND_AGAIN
from kinwire.mcpl.rules.push import BACKPRESSURE, is_duplicate, may_be_accepted_later
from kinwire.rpc.errors import ConnectionClosedError, RequestTimeoutError
from kinwire_protocols.jsonrpc.errors import (
    InvalidParamsError,
    InvalidRequestError,
    MethodNotFoundError,
)
from kinwire_protocols.mcpl.errors import (
    ChannelNotPermittedError,
    FeatureSetNotEnabledError,
    UnknownChannelError,
    UnknownFeatureSetError,
)
from kinwire_protocols.mcpl.models import IncomingOutcome, PushEventResult

_NO_REASON = "the host gave no reason"
_NO_ANSWER = (ConnectionClosedError, RequestTimeoutError, FeatureSetNotEnabledError)
_FINAL = (
    ChannelNotPermittedError,
    InvalidParamsError,
    InvalidRequestError,
    MethodNotFoundError,
    UnknownChannelError,
    UnknownFeatureSetError,
)


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """How an attempt to deliver ended."""

    done: bool
    """Whether there are no more attempts."""
    refusal: str | None = None
    """Why the host refused for good; None if it did not."""


DELIVERED = DeliveryOutcome(True)
"""The host has accepted it."""

LATER = DeliveryOutcome(False)
"""The host may accept it later, or its answer is not known."""


def push_outcome(answer: PushEventResult, *, repeated: bool) -> DeliveryOutcome:
    """Return what becomes of an event; `repeated` says that the host may have it already."""
    if answer.accepted or (repeated and is_duplicate(answer)):
        return DELIVERED
    if may_be_accepted_later(answer):
        return LATER
    return DeliveryOutcome(True, answer.reason or _NO_REASON)


def message_outcome(answer: IncomingOutcome) -> DeliveryOutcome:
    """Return what becomes of a message."""
    if answer.accepted:
        return DELIVERED
    reason = answer.reason or _NO_REASON
    if reason == BACKPRESSURE.reason or reason.endswith(SEND_AGAIN):
        return LATER
    return DeliveryOutcome(True, reason)


def error_outcome(error: Exception, *, attempt: int, attempts: int) -> DeliveryOutcome:
    """Return what becomes of an event or message after an error.

    A lost connection, a timeout and a disabled feature set do not answer. An error that says that
    the message is wrong, or the method or the feature set is unknown, is final. After any other one
    the host gets it up to `attempts` times.
    """
    if isinstance(error, _NO_ANSWER):
        return LATER
    if isinstance(error, _FINAL) or attempt >= attempts:
        return DeliveryOutcome(True, str(error))
    return LATER
