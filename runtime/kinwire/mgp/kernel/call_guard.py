"""The way of a call of a tool out of the kernel: judged, sent, audited (MGP 0.2.0, 4 to 7 and 14).

It stands around the wire of each session, so every path that a call can take passes it.
"""

from __future__ import annotations

__all__ = ("CallGuard", "CallStep", "KernelServices")

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import anyio

from kinwire.mgp.errors import recovery_of, refusal
from kinwire.mgp.kernel.audit import AuditLog
from kinwire.mgp.kernel.call import Check, GuardedCall
from kinwire.mgp.kernel.callers import agent_now
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.retries import RetryEngine
from kinwire.mgp.kernel.tool_list import ToolList
from kinwire.mgp.kernel.tracing import new_trace_id, traced_json
from kinwire.mgp.rules.audit_events import TOOL_RETRIED, TOOL_STARTED, MaskedDetails, SecurityEvent
from kinwire.mgp.rules.masking import masked_text
from kinwire.mgp.rules.tools import KnownTool
from kinwire.mgp.rules.trace import trace_id_in
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import InvalidResponseError
from kinwire.rpc.interceptors import Send
from kinwire.storage.clock import Clock
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mgp import errors
from kinwire_protocols.mgp.models import AuditOutcome
from kinwire_protocols.nearest import nearest

_WORD = re.compile("[a-z_]{1,40}")
_TRACED = frozenset({"trace_id", "_mgp", "_meta"})


class CallStep(NamedTuple):
    """One check of calls."""

    reason: str
    """What audit events say if it refuses."""
    check: Check
    again: bool = True
    """Whether it is checked again after a person was asked, and before a call is repeated."""
    asks: bool = False
    """Whether it may wait for a person; what the steps before it found may not hold then."""
    counts: bool = False
    """Whether it counts the call."""


class KernelServices(NamedTuple):
    """What the guards of all servers of one kernel share."""

    audit: AuditLog
    clock: Clock
    retries: RetryEngine
    steps_of: Callable[[GuardedServer, KnownTool], Iterable[CallStep]]
    """Returns what a call of a tool has to pass, in order; it is kept for the tool."""


class CallGuard:
    """Guards the calls to one server."""

    def __init__(self, server: GuardedServer, tools: ToolList, services: KernelServices) -> None:
        self._server = server
        self._tools = tools
        self._services = services
        self._steps: dict[str, tuple[KnownTool, Sequence[CallStep]]] = {}

    async def call(self, params: JsonObject, send: Send) -> Any:
        """Judge a call, send it, and return its result as JSON.

        A call that fails with a retryable error is repeated, and at last its fallback is called,
        which is judged as a call of its own.

        Raises:
            RpcError: it was refused, or the server answered with an error.
        """
        judged = _Judged(self._server, params, self._services)
        try:
            return await self._once(judged, params, send)
        except RpcError as error:
            if judged.fallback is None:
                raise
            failure = error
        try:
            other = _Judged(self._server, params, self._services, judged.trace_id)
            return await self._once(other, {**params, "name": judged.fallback}, send)
        except Exception as error:
            failure.add_note(f"The fallback {judged.fallback!r:.60} failed as well: {error}")
            raise failure from None

    async def _once(self, judged: _Judged, params: JsonObject, send: Send) -> Any:
        try:
            call = judged.call = self._known_now(judged, params) or await self._known(judged)
            waiting = self._judge(judged, call, self._steps_of(call.tool))
            if waiting is not None:
                await waiting
            judged.reason = "audit"
            if call.tool.risk == "dangerous":
                await self._announce(judged, call)
            elif not self._services.audit.has_room and not await self._services.audit.make_room():
                raise _not_audited(call)
        except Exception as error:
            await judged.refused(error)
            raise
        except anyio.get_cancelled_exc_class():
            await judged.refused(None)
            raise
        return await self._sent(judged, call, params, send)

    def _judge(
        self, judged: _Judged, call: GuardedCall, steps: Sequence[CallStep]
    ) -> Awaitable[None] | None:
        """Check a call; return what to wait for, None if all is checked."""
        for index, step in enumerate(steps):
            judged.reason = step.reason
            waiting = step.check(call)
            if waiting is not None:
                return self._judge_on(judged, call, steps, index, waiting)
        return None

    async def _judge_on(
        self,
        judged: _Judged,
        call: GuardedCall,
        steps: Sequence[CallStep],
        index: int,
        waiting: Awaitable[None],
    ) -> None:
        """Check a call from the step on that has something to wait for."""
        await waiting
        asked = steps[index].asks
        for step in steps[index + 1 :]:
            judged.reason = step.reason
            more = step.check(call)
            if more is not None:
                await more
                asked = asked or step.asks
        if asked:  # what held before may have ended while a person thought about the call
            await self._judge_again(judged, call, counted=True)

    def _known_now(self, judged: _Judged, params: JsonObject) -> GuardedCall | None:
        """Return the call of a tool that is at hand; None if the list has to be looked at.

        Raises:
            ToolNotFoundError: it has no name of a tool.
            InvalidToolArgsError: its arguments are not an object.
        """
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise refusal(errors.ToolNotFoundError, "tools/call: expected the name of a tool")
        judged.tool_name, judged.arguments = name, arguments
        tool = self._tools.at_hand(name)
        return None if tool is None else self._call_of(judged, tool)

    async def _known(self, judged: _Judged) -> GuardedCall:
        """Return the call of a tool that the server has.

        Raises:
            ToolNotFoundError: it has no such tool.
        """
        assert judged.tool_name is not None  # `_known_now` has read it
        tool = await self._tools.find(judged.tool_name)
        if tool is None:
            raise self._unknown(judged.tool_name)
        return self._call_of(judged, tool)

    def _call_of(self, judged: _Judged, tool: KnownTool) -> GuardedCall:
        """Return the call of a tool that may be called.

        Raises:
            ToolDisabledError: the configuration has disabled it.
            InvalidToolArgsError: the arguments are not an object.
        """
        if not tool.policy.enabled:
            judged.reason = "disabled"
            raise refusal(
                errors.ToolDisabledError,
                f"{self._server.id}: the tool {tool.name!r:.60} is disabled by configuration.",
            )
        arguments: Any = {} if judged.arguments is None else judged.arguments
        if not is_object(arguments):
            judged.reason = "arguments"
            raise refusal(errors.InvalidToolArgsError, "arguments: expected an object")
        return GuardedCall(judged.agent, self._server, tool, arguments, judged.trace_id)

    def _unknown(self, name: str) -> errors.ToolNotFoundError:
        near = nearest(name, list(self._tools.tools))
        hint = f"Did you mean {near!r}?" if near else "tools/list names those that there are."
        return refusal(
            errors.ToolNotFoundError,
            f"{self._server.id} has no tool {name!r:.60}. {hint}",
            details={"tool": name[:200]},
        )

    def _steps_of(self, tool: KnownTool) -> Sequence[CallStep]:
        kept = self._steps.get(tool.name)
        if kept is not None and kept[0] is tool:
            return kept[1]
        steps = tuple(self._services.steps_of(self._server, tool))
        self._steps[tool.name] = tool, steps
        return steps

    async def _announce(self, judged: _Judged, call: GuardedCall) -> None:
        """Write that a dangerous call begins, before it does.

        Raises:
            ResourceExhaustedError: the audit log cannot take the event.
        """
        started = judged.event(TOOL_STARTED, "SUCCESS", _about(call))
        if not await self._services.audit.record(started):
            raise _not_audited(call)

    async def _sent(
        self, judged: _Judged, call: GuardedCall, params: JsonObject, send: Send
    ) -> Any:
        if self._server.offer is not None:
            params = traced_json(params, call.trace_id)
        try:
            result = await self._tried(judged, call, params, send)
        except Exception as error:
            await judged.executed(call, "FAILURE", _failure(error))
            raise
        except anyio.get_cancelled_exc_class():
            await judged.executed(call, "FAILURE", {"reason": "cancelled"})
            raise
        failed = is_object(result) and result.get("isError") is True
        await judged.executed(call, "FAILURE" if failed else "SUCCESS", {})
        return result

    async def _tried(
        self, judged: _Judged, call: GuardedCall, params: JsonObject, send: Send
    ) -> Any:
        """Send a call until it does not fail with an error for which it is repeated.

        Raises:
            RpcError: the last error, or why the call may not be sent again.
        """
        retries, failures = self._services.retries, 0
        retries.called(call)
        while True:
            try:
                return await send(params)
            except RpcError as error:
                failures += 1
                delay = retries.delay(call, error, failures)
                if delay is None:
                    judged.fallback = retries.fallback(call, error)
                    raise
                await judged.retried(call, error, failures, delay)
            except InvalidResponseError as error:
                raise _as_refusal(error) from error
            await retries.sleep(delay)
            await self._judge_again(judged, call)

    async def _judge_again(
        self, judged: _Judged, call: GuardedCall, *, counted: bool = False
    ) -> None:
        """Check what may have changed while a call waited; `counted` is whether limits have it.

        Raises:
            RpcError: it may not be sent any more.
        """
        if await self._tools.find(call.tool.name) is not call.tool:
            text = f"{call.tool.name}: the tool changed while the call waited."
            raise refusal(errors.ToolNotFoundError, text)
        steps = [one for one in self._steps_of(call.tool) if one.again]
        waiting = self._judge(judged, call, [one for one in steps if not (counted and one.counts)])
        if waiting is not None:
            await waiting


class _Judged:
    """One call under way, and its one audit event."""

    def __init__(
        self,
        server: GuardedServer,
        params: JsonObject,
        services: KernelServices,
        trace_id: str | None = None,
    ) -> None:
        self.agent = agent_now()
        self.trace_id = trace_id or _trace_in(params) or new_trace_id()
        self.tool_name: str | None = None
        self.arguments: Any = None
        """As they came."""
        self.call: GuardedCall | None = None
        self.reason = "tool"
        """What is checked now."""
        self.fallback: str | None = None
        """The tool to try when all retries have failed."""
        self._server = server
        self._services = services
        self._began = services.clock()

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
        await self._write(kind, "BLOCKED", details, durable=True)

    async def retried(
        self, call: GuardedCall, error: RpcError, failures: int, delay: float
    ) -> None:
        """Write that the call failed and is tried again after `delay` seconds."""
        details = {**_about(call), **_failure(error), "attempt": failures}
        details["delay_ms"] = round(delay * 1000)
        durable = call.tool.risk == "dangerous"
        await self._write(TOOL_RETRIED, "FAILURE", details, durable=durable)

    async def executed(self, call: GuardedCall, result: AuditOutcome, details: JsonObject) -> None:
        """Write that the call was made."""
        took = max(0.0, self._services.clock() - self._began)
        members = {**_about(call), "duration_ms": round(took * 1000), **details}
        if not details:  # nothing of a peer is in it
            members = MaskedDetails(members)
        await self._write("TOOL_EXECUTED", result, members, durable=call.tool.risk == "dangerous")

    async def _write(
        self, kind: str, result: AuditOutcome, details: JsonObject, *, durable: bool
    ) -> None:
        audit, event = self._services.audit, self.event(kind, result, details)
        if durable or not audit.buffered:
            await audit.record(event)
        else:
            audit.note(event)

    def event(self, kind: str, result: AuditOutcome, details: JsonObject) -> SecurityEvent:
        """Return an event about the call."""
        return SecurityEvent(
            event_type=kind,
            actor_type="agent",
            actor_id=self.agent,
            server_id=self._server.id,
            tool_name=self.tool_name,
            result=result,
            details=details,
            trace_id=self.trace_id,
        )


def _trace_in(params: JsonObject) -> str | None:
    if _TRACED.isdisjoint(params):  # the usual case
        return None
    return trace_id_in({"params": params})


def _not_audited(call: GuardedCall) -> errors.ResourceExhaustedError:
    return refusal(
        errors.ResourceExhaustedError,
        f"{call.tool.name}: the audit log cannot be written, so the call was not made.",
    )


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


def _as_refusal(error: InvalidResponseError) -> Exception:
    """Return the error for an answer that is not a response: 1002 if credentials are missing."""
    if error.status != HTTPStatus.UNAUTHORIZED:
        return error
    return refusal(
        errors.AuthRequiredError,
        "The server requires authentication (HTTP status 401). Connect with credentials.",
    )
