"""The way of a call of a tool out of the kernel: judged, sent, audited (MGP 0.2.0, 4 to 7 and 14).

It stands around the wire of each session, so every path that a call can take passes it. Most calls
have nothing to wait for before they are sent: then no task switch and no further frame is needed.
"""

from __future__ import annotations

__all__ = ("CallGuard", "CallStep", "KernelServices")

from collections.abc import Awaitable, Callable, Iterable, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import anyio

from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.audit import AuditLog
from kinwire.mgp.kernel.call import Check, GuardedCall
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.judged_call import JudgedCall
from kinwire.mgp.kernel.retries import RetryEngine
from kinwire.mgp.kernel.stream_inbox import may_repeat
from kinwire.mgp.kernel.tool_list import ToolList
from kinwire.mgp.kernel.tracing import traced_json
from kinwire.mgp.rules.tools import KnownTool
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import InvalidResponseError
from kinwire.rpc.interceptors import Send
from kinwire.storage.clock import Clock
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mgp import errors
from kinwire_protocols.nearest import nearest


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
        self._budget = services.retries.budget(server.id)
        self._steps: dict[str, tuple[KnownTool, Sequence[CallStep]]] = {}

    async def call(self, params: JsonObject, send: Send) -> Any:
        """Judge a call, send it, and return its result as JSON.

        A call that fails with a retryable error is repeated, and at last its fallback is called,
        which is judged as a call of its own.

        Raises:
            RpcError: it was refused, or the server answered with an error.
        """
        judged = JudgedCall(self._server, params, self._services.audit, self._services.clock)
        try:
            return await self._once(judged, params, send)
        except RpcError as error:
            if judged.fallback is None:
                raise
            failure = error
        finally:
            judged.end()
        return await self._fall_back(judged, failure, params, send)

    async def _fall_back(
        self, failed: JudgedCall, failure: RpcError, params: JsonObject, send: Send
    ) -> Any:
        services = self._services
        other = JudgedCall(self._server, params, services.audit, services.clock, failed.trace_id)
        try:
            return await self._once(other, {**params, "name": failed.fallback}, send)
        except Exception as error:
            failure.add_note(f"The fallback {failed.fallback!r:.60} failed as well: {error}")
            raise failure from None
        finally:
            other.end()

    async def _once(self, judged: JudgedCall, params: JsonObject, send: Send) -> Any:
        try:
            waiting = self._judge_now(judged, params)
            if waiting is not None:
                await waiting
        except Exception as error:
            await judged.refused(error)
            raise
        except anyio.get_cancelled_exc_class():
            await judged.refused(None)
            raise
        if self._server.offer is not None:
            params = traced_json(params, judged.trace_id)
        self._budget.called()
        try:
            result = await send(params, on_id=judged.ids.append)
        except Exception as error:
            result = await self._tried_again(judged, error, params, send)
        except anyio.get_cancelled_exc_class():
            await judged.failed(None)
            raise
        written = judged.executed(result)
        if written is not None:
            await written
        return result

    def _judge_now(self, judged: JudgedCall, params: JsonObject) -> Awaitable[None] | None:
        """Judge a call; return what to wait for, None if it may be sent."""
        call = judged.call = self._known_now(judged, params)
        if call is None:
            return self._judge_found(judged)
        waiting = self._judge(judged, call, self._steps_of(call.tool))
        if waiting is not None:
            return self._judge_slowly(judged, call, waiting)
        return self._begin(judged, call)

    async def _judge_found(self, judged: JudgedCall) -> None:
        call = judged.call = await self._known(judged)
        waiting = self._judge(judged, call, self._steps_of(call.tool))
        await self._judge_slowly(judged, call, waiting)

    async def _judge_slowly(
        self, judged: JudgedCall, call: GuardedCall, waiting: Awaitable[None] | None
    ) -> None:
        if waiting is not None:
            await waiting
        waiting = self._begin(judged, call)
        if waiting is not None:
            await waiting

    def _begin(self, judged: JudgedCall, call: GuardedCall) -> Awaitable[None] | None:
        """See that the call can be audited; return what to wait for."""
        judged.reason = "audit"
        self._server.open_calls.add(judged)
        if call.tool.risk == "dangerous":
            return self._announce(judged, call)
        return None if self._services.audit.has_room else self._make_room(call)

    async def _make_room(self, call: GuardedCall) -> None:
        if not await self._services.audit.make_room():
            raise _not_audited(call)

    def _judge(
        self, judged: JudgedCall, call: GuardedCall, steps: Sequence[CallStep]
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
        judged: JudgedCall,
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

    def _known_now(self, judged: JudgedCall, params: JsonObject) -> GuardedCall | None:
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

    async def _known(self, judged: JudgedCall) -> GuardedCall:
        """Return the call of a tool that the server has.

        Raises:
            ToolNotFoundError: it has no such tool.
        """
        assert judged.tool_name is not None  # `_known_now` has read it
        tool = await self._tools.find(judged.tool_name)
        if tool is None:
            raise self._unknown(judged.tool_name)
        return self._call_of(judged, tool)

    def _call_of(self, judged: JudgedCall, tool: KnownTool) -> GuardedCall:
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

    async def _announce(self, judged: JudgedCall, call: GuardedCall) -> None:
        """Write that a dangerous call begins, before it does.

        Raises:
            ResourceExhaustedError: the audit log cannot take the event.
        """
        if not await judged.begins(call):
            raise _not_audited(call)

    async def _tried_again(
        self, judged: JudgedCall, error: Exception, params: JsonObject, send: Send
    ) -> Any:
        """Send a call again until it does not fail with an error for which it is repeated.

        Raises:
            RpcError: the last error, or why the call may not be sent again.
        """
        try:
            return await self._repeated(judged, error, params, send)
        except Exception as last:
            await judged.failed(last)
            raise
        except anyio.get_cancelled_exc_class():
            await judged.failed(None)
            raise

    async def _repeated(
        self, judged: JudgedCall, error: Exception, params: JsonObject, send: Send
    ) -> Any:
        retries, failures = self._services.retries, 0
        call = judged.call
        assert call is not None  # it was judged
        while isinstance(error, RpcError):
            judged.stop()
            if not may_repeat():
                break
            failures += 1
            delay = retries.delay(call, error, failures)
            if delay is None:
                judged.fallback = retries.fallback(call, error)
                break
            await judged.retried(call, error, failures, delay)
            await retries.sleep(delay)
            await self._judge_again(judged, call)
            try:
                return await send(params, on_id=judged.ids.append)
            except Exception as next_error:
                error = next_error
        raise _as_refusal(error)

    async def _judge_again(
        self, judged: JudgedCall, call: GuardedCall, *, counted: bool = False
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


def _not_audited(call: GuardedCall) -> errors.ResourceExhaustedError:
    return refusal(
        errors.ResourceExhaustedError,
        f"{call.tool.name}: the audit log cannot be written, so the call was not made.",
    )


def _as_refusal(error: Exception) -> Exception:
    """Return the error for an answer that is not a response: 1002 if credentials are missing."""
    if not isinstance(error, InvalidResponseError) or error.status != HTTPStatus.UNAUTHORIZED:
        return error
    return refusal(
        errors.AuthRequiredError,
        "The server requires authentication (HTTP status 401). Connect with credentials.",
    )
