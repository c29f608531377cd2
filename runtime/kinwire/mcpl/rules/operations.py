"""The audit event of one operation, from its message and its result (MCPL 13.2, 11.5)."""

from __future__ import annotations

__all__ = (
    "Operation",
    "Outcome",
    "inference_of",
    "model_of",
    "outcome_of",
    "set_of",
)

from dataclasses import dataclass
from typing import Literal

from kinwire.managers.audit_trail import Ending
from kinwire.mcpl.rules.push import NOT_IN_TIME
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import RequestTimeoutError, RpcError
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.mcpl.models import ChannelsIncomingResult, InferenceRequestResult

Outcome = Literal["success", "failure", "timeout"]

_VERDICTS = ("accepted", "approved", "success", "closed", "delivered")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation, and how it ended."""

    method: str
    sender: Literal["host", "server"]
    server: str
    """What the host calls the server."""
    feature_set: str | None
    inference_id: str | None
    outcome: Outcome
    reason: str | None = None
    """Why it did not succeed."""
    model: str | None = None
    """The model that has answered an inference."""

    def event(self, at: float) -> JsonObject:
        """Return the event as it is logged: names of the specification, and no None.

        `at` is when the operation ended, in seconds since 1970.
        """
        members: JsonObject = {
            "method": self.method,
            "sender": self.sender,
            "serverId": self.server,
            "featureSet": self.feature_set,
            "inferenceId": self.inference_id,
            "timestamp": at,
            "outcome": self.outcome,
            "reason": self.reason,
            "model": self.model,
        }
        return {name: value for name, value in members.items() if value is not None}


def set_of(*messages: object) -> str | None:
    """Return the feature set of the first of these messages that names one."""
    return _member("feature_set", messages)


def inference_of(*messages: object) -> str | None:
    """Return the inference of the first of these messages that names one."""
    return _member("inference_id", messages)


def model_of(result: object) -> str | None:
    """Return the model of a result, if it names one."""
    return sanitize_for_log(result.model) if isinstance(result, InferenceRequestResult) else None


def outcome_of(ending: Ending, sent: str | None) -> tuple[Outcome, str | None]:
    """Return the outcome of an operation, and why it did not succeed.

    `sent` is the method that the host has sent; None if the server sent it. Only a request that
    was sent can be late by a `RequestTimeoutError`: otherwise the host's own handler has failed
    with one, as of a call to another server.
    """
    if ending.cancelled:
        return ("timeout", None) if ending.late else ("failure", "it was cancelled")
    if ending.error is not None:
        return _failed_with(ending.error, sent)
    return _ended_with(ending.result)


def _ended_with(result: Message | None) -> tuple[Outcome, str | None]:
    if isinstance(result, ChannelsIncomingResult):
        refused = [one for one in result.results if not one.accepted]
        if refused:
            return "failure", f"{len(refused)} of {len(result.results)} messages were not accepted"
    if any(getattr(result, name, None) is False for name in _VERDICTS):
        reason = getattr(result, "reason", None)
        return ("timeout" if result == NOT_IN_TIME else "failure"), sanitize_for_log(
            reason or "refused"
        )
    return "success", None


def _failed_with(error: Exception, sent: str | None) -> tuple[Outcome, str]:
    late = isinstance(error, RequestTimeoutError) and error.method == sent
    if isinstance(error, RpcError) and is_object(error.data):
        late = error.data.get("reason") == "timeout"
    return ("timeout" if late else "failure"), sanitize_for_log(str(error) or type(error).__name__)


def _member(name: str, messages: tuple[object, ...]) -> str | None:
    found = (getattr(message, name, None) for message in messages)
    return next((sanitize_for_log(value) for value in found if isinstance(value, str)), None)
