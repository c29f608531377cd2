"""Which events a server emits about a request that it serves (MGP 0.2.0 section 13.5)."""

from __future__ import annotations

__all__ = ("OwnEvent", "call_ended", "call_started", "code_rejected", "request_failed")

from collections.abc import Iterator
from typing import NamedTuple

from kinwire.rpc.errors import RequestCancelledError
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.mcp.models import LoggingLevel
from kinwire_protocols.mgp import errors

_DENIALS = (
    errors.PermissionDeniedError,
    errors.AccessDeniedError,
    errors.AuthRequiredError,
    errors.AuthExpiredError,
)
_VERDICTS = (errors.ValidationBlockedError, errors.CodeSafetyViolationError)
_FAULT = InternalError.default_code


class OwnEvent(NamedTuple):
    """An event to emit. `data` has names, codes and times, and nothing that a message contains."""

    channel: str
    severity: LoggingLevel
    data: JsonObject


def call_started(about: JsonObject) -> OwnEvent:
    """Return the event of a call that begins. `about` says which call it is."""
    return OwnEvent("tool.started", "info", about)


def call_ended(
    about: JsonObject, duration_ms: int, error: BaseException | None, *, is_error: bool = False
) -> OwnEvent:
    """Return the event of a call that has ended: with an error, or with a result.

    `is_error` says that the result is about a failure. What is not an `Exception` cancels, as does
    `RequestCancelledError`.
    """
    timed: JsonObject = {**about, "duration_ms": duration_ms}
    if error is None and not is_error:
        return OwnEvent("tool.completed", "info", timed)
    return OwnEvent("tool.failed", "warning", {**timed, **_reason(error)})


def code_rejected(about: JsonObject) -> OwnEvent:
    """Return the event of code that a tool has not run."""
    return OwnEvent("security.validation_failed", "warning", {**about, "reason": "code_rejected"})


def request_failed(about: JsonObject, error: BaseException) -> Iterator[OwnEvent]:
    """Yield the event of security or of the system that the error of a request is, if it is one."""
    data: JsonObject = {**about, **_reason(error)}
    if isinstance(error, _DENIALS):
        yield OwnEvent("security.access_denied", "warning", data)
    elif isinstance(error, _VERDICTS):
        yield OwnEvent("security.validation_failed", "warning", data)
    elif data.get("code") == _FAULT:
        yield OwnEvent("system.error", "error", data)


def _reason(error: BaseException | None) -> JsonObject:
    """Return why it failed: texts of errors are left out, which may show arguments."""
    if error is None:
        return {"reason": "error_result"}
    if isinstance(error, RpcError):
        return {"reason": error.name or "error", "code": error.code}
    if isinstance(error, Exception) and not isinstance(error, RequestCancelledError):
        return {"reason": InternalError.name, "code": _FAULT}
    return {"reason": "cancelled"}
