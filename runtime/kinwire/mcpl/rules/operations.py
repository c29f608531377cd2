"""The audit event of one operation, from its message and its result (MCPL 13.2, 11.5)."""

from __future__ import annotations

__all__ = (
    "Operation",
    "Outcome",
    "ended_with",
    "failed_with",
    "inference_of",
    "model_of",
    "set_of",
)

from dataclasses import dataclass
from typing import Literal

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
    at: float
    """When it ended, in seconds since 1970."""
    outcome: Outcome
    reason: str | None = None
    """Why it did not succeed."""
    model: str | None = None
    """The model that has answered an inference."""

    def event(self) -> JsonObject:
        """Return the event as it is logged: names of the specification, and no None."""
        members: JsonObject = {
            "method": self.method,
            "sender": self.sender,
            "serverId": self.server,
            "featureSet": self.feature_set,
            "inferenceId": self.inference_id,
            "timestamp": self.at,
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


def ended_with(result: Message | None) -> tuple[Outcome, str | None]:
    """Return the outcome for a result; some results are refusals."""
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


def failed_with(error: Exception) -> tuple[Outcome, str]:
    """Return the outcome for an error."""
    late = isinstance(error, RequestTimeoutError)
    if isinstance(error, RpcError) and is_object(error.data):
        late = error.data.get("reason") == "timeout"
    return ("timeout" if late else "failure"), sanitize_for_log(str(error) or type(error).__name__)


def _member(name: str, messages: tuple[object, ...]) -> str | None:
    found = (getattr(message, name, None) for message in messages)
    return next((sanitize_for_log(value) for value in found if isinstance(value, str)), None)
