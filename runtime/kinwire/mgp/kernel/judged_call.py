"""One call of a tool under way, and its audit events (MGP 6.4: one event for each call)."""

from __future__ import annotations

__all__ = ("JudgedCall",)

import re
from collections.abc import Awaitable
from functools import partial
from typing import Any

from kinwire.mgp.errors import recovery_of
from kinwire.mgp.kernel.audit import AuditLog
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.callers import agent_now
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.open_calls import OpenCall
from kinwire.mgp.kernel.stream_inbox import was_cancelled
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.audit_events import TOOL_RETRIED, TOOL_STARTED, MaskedDetails, SecurityEvent
from kinwire.mgp.rules.masking import masked_text
from kinwire.mgp.rules.trace import trace_id_in
from kinwire.rpc.codec import is_object
from kinwire.storage.clock import Clock
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mgp import errors
from kinwire_protocols.mgp.models import AuditOutcome

_WORD = re.compile("[a-z_]{1,40}")
_TRACED = frozenset({"trace_id", "_mgp", "_meta"})


class JudgedCall(OpenCall):
    """One call under way, and its one audit event."""

    __slots__ = (
        "_audit",
        "_began",
        "_clock",
        "_may_be_stream",
        "_server",
        "arguments",
        "call",
        "fallback",
        "reason",
    )

    def __init__(
        self,
        server: GuardedServer,
        params: JsonObject,
        audit: AuditLog,
        clock: Clock,
        trace_id: str | None = None,
    ) -> None:
        self.ids = []
        self.ended = False
        self.among = server.open_calls
        self.work = None
        self.agent = agent_now()
        self.trace_id = trace_id or _trace_in(params) or new_trace_id()
        self.tool_name = None
        self.arguments: Any = None
        """As they came."""
        self.call: GuardedCall | None = None
        self.reason = "tool"
        """What is checked now."""
        self.fallback: str | None = None
        """The tool to try when all retries have failed."""
        self._may_be_stream = "_mgp" in params
        self._server = server
        self._audit = audit
        self._clock = clock
        self._began = clock()

    async def begins(self, call: GuardedCall) -> bool:
        """Write durably that the call is about to be sent; False if the log did not take it."""
        return await self._audit.record(self._event(TOOL_STARTED, "SUCCESS", _about(call)))

    async def refused(self, error: Exception | None) -> None:
        """Write that the call was refused; None for one that was cancelled."""
        kind = "TOOL_BLOCKED"
        if isinstance(error, errors.ValidationBlockedError):
            kind = "VALIDATION_FAILED"
        elif isinstance(error, errors.CodeSafetyViolationError):
            kind = "CODE_REJECTED"
        details: JsonObject = {"reason": _reason_of(error) or self.reason, **_failure(error)}
        if self.call is not None:
            details = {**_about(self.call), **details}
        await self._audit.record(self._event(kind, "BLOCKED", details))

    async def retried(
        self, call: GuardedCall, error: RpcError, failures: int, delay: float
    ) -> None:
        """Write that the call failed and is tried again after `delay` seconds."""
        details = {**_about(call), **_failure(error), "attempt": failures}
        details["delay_ms"] = round(delay * 1000)
        waiting = self._write(TOOL_RETRIED, "FAILURE", details)
        if waiting is not None:
            await waiting

    async def failed(self, error: Exception | None) -> None:
        """Write that the call was sent and has failed; None for one that was cancelled."""
        reason: JsonObject = {"reason": "cancelled"} if error is None else _failure(error)
        waiting = self._write(
            "TOOL_EXECUTED", "FAILURE", {**self._measured(self._took()), **reason}
        )
        if waiting is not None:
            await waiting

    def executed(self, result: Any) -> Awaitable[object] | None:
        """Write that the server has answered; return what to wait for."""
        if self._may_be_stream and was_cancelled(result):
            return self.failed(None)
        failed = is_object(result) and result.get("isError") is True
        outcome: AuditOutcome = "FAILURE" if failed else "SUCCESS"
        if self._is_durable:
            # Nothing of a peer is in the details.
            details = MaskedDetails(self._measured(self._took()))
            return self._audit.record(self._event("TOOL_EXECUTED", outcome, details))
        assert self.call is not None  # it was sent
        # It may wait for long while the log fails, so it has words alone, and not the arguments.
        names = (self.agent, self._server.id, self.tool_name, self.trace_id)
        tool = self.call.tool
        about = (tool.risk, tool.validator, self._took())
        self._audit.note_later("TOOL_EXECUTED", partial(_executed, outcome, names, about))
        return None

    def _took(self) -> float:
        return max(0.0, self._clock() - self._began)

    def _measured(self, seconds: float) -> JsonObject:
        assert self.call is not None  # it was sent
        return {**_about(self.call), "duration_ms": round(seconds * 1000)}

    @property
    def _is_durable(self) -> bool:
        """Whether an event has to be written before the call goes on."""
        assert self.call is not None  # it was sent
        return self.call.tool.risk == "dangerous" or not self._audit.buffered

    def _write(
        self, kind: str, result: AuditOutcome, details: JsonObject
    ) -> Awaitable[object] | None:
        event = self._event(kind, result, details)
        if self._is_durable:
            return self._audit.record(event)
        self._audit.note(event)
        return None

    def _event(self, kind: str, result: AuditOutcome, details: JsonObject) -> SecurityEvent:
        server, tool = self._server.id, self.tool_name
        return SecurityEvent(
            kind, "agent", self.agent, server, tool, result, details, self.trace_id
        )


def _executed(
    result: AuditOutcome,
    names: tuple[str, str, str | None, str],
    about: tuple[str, str, float],
) -> SecurityEvent:
    agent, server, tool, trace_id = names
    risk, validator, seconds = about
    details = MaskedDetails(
        risk_level=risk,
        validator_applied=masked_text(validator),
        duration_ms=round(seconds * 1000),
    )
    return SecurityEvent("TOOL_EXECUTED", "agent", agent, server, tool, result, details, trace_id)


def _trace_in(params: JsonObject) -> str | None:
    if _TRACED.isdisjoint(params):  # the usual case
        return None
    return trace_id_in({"params": params})


def _about(call: GuardedCall) -> JsonObject:
    validator = masked_text(call.tool.validator)  # a server may declare anything
    return {"risk_level": call.tool.risk, "validator_applied": validator}


def _failure(error: Exception | None) -> JsonObject:
    """Return what an event says of an error: never its text, which may have arguments in it."""
    if error is None:
        return {"error": "cancelled"}
    if isinstance(error, RpcError):
        return {"error": error.name or type(error).__name__, "code": error.code}
    return {"error": type(error).__name__}


def _reason_of(error: Exception | None) -> str | None:
    """Return the word for why this kernel has refused a call, if its error has one.

    Only a word: a longer text could have arguments in it.
    """
    details = recovery_of(error).details if isinstance(error, RpcError) else None
    reason = details.get("reason") if is_object(details) else None
    return reason if isinstance(reason, str) and _WORD.fullmatch(reason) else None
