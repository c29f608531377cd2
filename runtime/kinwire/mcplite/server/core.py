"""What the tools of a server of MCP-lite answer, whatever the transport (section 3).

`service.py` has the transports, `promises.py` what goes on behind a promise.
"""

from __future__ import annotations

__all__ = ("LiteCore",)

import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

from kinwire.managers.tool_outcomes import MoreResources, NeedsAnswers, Promised, ToolError
from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.elicitation import AnswerSeal, binding_of
from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.rules.promise_calls import owner_of
from kinwire.mcplite.rules.results import elicitation_body, failure_body, finished
from kinwire.mcplite.rules.unavailable import ServerUnavailableError
from kinwire.mcplite.server.faults import ends_task
from kinwire.mcplite.server.promises import PromiseBoard
from kinwire.mcplite.server.source import (
    ANYONE,
    LiteCaller,
    LiteSource,
    NoSuchToolError,
    Put,
    ToolRun,
    ToolServer,
)
from kinwire.mcplite.server.visible_tools import VisibleTools
from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.error_table import internal_error
from kinwire.rpc.errors import RpcError
from kinwire.storage.errors import StorageUnavailableError
from kinwire.storage.records import Records
from kinwire.support.arguments import FUNCTION, SECRET, TEXT, ArgumentCheck, having, instance_of
from kinwire.support.sanitize import sanitize_for_log
from kinwire.transports.http.guard import PRINCIPAL
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcplite.tools import REDEEM

logger = logging.getLogger("kinwire.mcplite")
_SECRET_SIZE = 32  # bytes, or characters
_UNAVAILABLE = "The store of promises is unavailable at the moment. Call again later."
_SPECIAL = Promised, NeedsAnswers, MoreResources

_LITE_SERVER = ArgumentCheck(
    "LiteServer",
    'LiteServer(Server("notes", "1.0"))',
    {"server": having(("list_tools", "run"), "a Server or a source of tools", "server")},
    records=having(("get", "put", "watch"), "records of a store", "records").or_none,
    secret=SECRET.or_none,
    limits=instance_of(LiteLimits, "LiteLimits", "LiteLimits(token_life=3600)"),
    version=TEXT.or_none,
    may_call=FUNCTION.or_none,
)


class LiteCore:
    """Lists and calls tools for the bindings: see `LiteServer`."""

    def __init__(
        self,
        server: ToolServer | LiteSource,
        *,
        records: Records | None = None,
        secret: str | None = None,
        limits: LiteLimits = LiteLimits(),
        version: str | None = None,
        may_call: Callable[[object, str], bool] | None = None,
    ) -> None:
        """Prepare; nothing is read or written.

        Raises:
            TypeError, ValueError: an argument is not of its type.
            ToolDefinitionError: a tool is called `redeem`, which is the name of a system tool.
        """
        _LITE_SERVER.check(
            records=records, secret=secret, limits=limits, version=version, may_call=may_call
        )
        self.source = _source_of(server)
        self.limits = limits
        self._visible = VisibleTools(self.source, may_call)
        self._version = self.source.version if version is None else version
        self._awaited = set[str]()
        self._running: dict[ToolRun, str] = {}
        self._promises = PromiseBoard(records, limits)
        self._seal = AnswerSeal(
            _secret_bytes(secret), life=limits.questions_life, most=limits.state_size
        )

    async def list_tools(self, caller: LiteCaller = ANYONE) -> EncodedObject:
        """Return `{"tools": [...]}`: the same object as before if nothing has changed.

        Raises:
            RpcError: the source cannot list its tools.
        """
        return await self._visible.list_tools(caller)

    def call(self, call: ToolCall, caller: LiteCaller = ANYONE) -> Coroutine[Any, Any, JsonObject]:
        """Await this for the result of a call, with its `_meta`.

        Raises:
            ToolNotFoundError: there is no such tool, for this caller.
            InvalidParamsError: the arguments break the schema.
            InternalError: the tool failed in a way that it did not foresee; the log says how.
            ServerUnavailableError: the store of promises is unavailable; the call may be repeated.
        """
        return self._answered(ToolRun(call, caller))

    async def stream(self, call: ToolCall, caller: LiteCaller, send: Put) -> JsonObject:
        """Do as `call`; parts of the result go to `send` before it returns.

        A part is `{"partial": "..."}`, with the next piece of text. Another block comes as
        `content` in addition, and progress of a promise as `progress`.
        """
        return await self._answered(ToolRun(call, caller, send))

    async def close(self, grace: float = 1.0) -> None:
        """End the work of promises that are open; what needs more than `grace` seconds has failed.

        Call it when the server ends. Its promises can be redeemed in other processes.
        """
        await self._promises.works.close(grace)

    def running_calls(self) -> list[str]:
        """Return the tools that run, as the log names them. Any thread may call it."""
        return [f"tools/call {name:.100}" for name in tuple(self._running.values())]

    async def _answered(self, run: ToolRun) -> JsonObject:
        started = time.perf_counter()
        principal = run.caller.principal
        before = None if PRINCIPAL.get() is principal else PRINCIPAL.set(principal)
        self._running[run] = run.call.name
        try:
            value = await self._outcome(run)
            body = await self._special(value, run) if isinstance(value, _SPECIAL) else value
            # `_finished` in line, for a hundredth of the cost of a call.
            took = time.perf_counter() - started
            return finished(body, time.time(), took, self._version, run.call.meta)
        except BaseException as error:
            return await self._failed(error, run, started)
        finally:
            del self._running[run]
            if before is not None:
                PRINCIPAL.reset(before)

    def _finished(self, body: JsonObject, run: ToolRun, started: float) -> JsonObject:
        took = time.perf_counter() - started
        return finished(body, time.time(), took, self._version, run.call.meta)

    async def _failed(self, error: BaseException, run: ToolRun, started: float) -> JsonObject:
        """Return the result of a tool that failed.

        Raises:
            RpcError: the call has an error of the protocol instead.
            BaseException: the task ends.
        """
        if isinstance(error, ToolError):
            return self._finished(failure_body(error), run, started)
        if isinstance(error, NoSuchToolError):
            return await self._refused(run)
        if isinstance(error, RpcError) or ends_task(error):
            raise error
        raise internal_error(f"tool {run.call.name!r:.100}", error) from None

    def _outcome(self, run: ToolRun) -> Awaitable[Any]:
        """Begin what a call asks for; await it for what came of that."""
        call = run.call
        if call.name == REDEEM.name:
            return _from_store(self._promises.redeem(run, run.send))
        if not self._visible.to_all and not self._visible.is_for(run.caller, call.name):
            return self._refused(run)
        after = self.source.promise_after(call.name)
        if after is None and "idempotency_key" not in call.meta:
            return self._run(run) if call.meta else self.source.run(run)
        answer = self._promises.answer(run, self._performed, after=after, send=run.send)
        return _from_store(answer)

    async def _refused(self, run: ToolRun) -> JsonObject:
        raise await self._visible.not_found(run.call.name, run.caller) from None

    async def _performed(self, run: ToolRun) -> JsonObject:
        """Run a tool, and return its whole result: any process may have to return it later."""
        started = time.perf_counter()
        try:
            value: Any = await self._run(run)
            body = await self._special(value, run) if isinstance(value, _SPECIAL) else value
            return self._finished(body, run, started)
        except BaseException as error:
            return await self._failed(error, run, started)

    def _run(self, run: ToolRun) -> Awaitable[object]:
        if "elicitation_answers" in run.call.meta:
            self._open_answers(run)
        return self.source.run(run)

    async def _special(self, value: object, run: ToolRun) -> JsonObject:
        while isinstance(value, Promised):
            if self.source.promise_after(run.call.name) is None:
                self._note_awaited(run.call.name)
            if run.promised is not None:
                await run.promised(value.estimated_seconds)
            value = await value.work()
        if isinstance(value, NeedsAnswers):
            return elicitation_body(value, self._seal.seal(value, _binding(run), now=time.time()))
        if isinstance(value, MoreResources):
            return value.result
        return cast(JsonObject, value)

    def _note_awaited(self, name: str) -> None:
        """Say once of a tool that its promises are awaited: clients do not expect them."""
        if name not in self._awaited:
            self._awaited.add(name)
            logger.warning(
                "tool %s returned Promised without promise_after=, so its call is awaited. "
                "Write @server.tool(promise_after=...).",
                f"{name!r:.100}",
            )

    def _open_answers(self, run: ToolRun) -> None:
        """Give the run the answers that its call brings.

        Raises:
            ToolError: they belong to no questions that are open.
            InvalidParamsError: they are not an object.
        """
        answers = run.call.meta["elicitation_answers"]
        if answers is None:
            return
        if not isinstance(answers, dict):
            raise InvalidParamsError("_meta#/elicitation_answers: expected an object")
        given = cast(JsonObject, answers)
        context = run.call.meta.get("elicitation_context")
        asked = self._seal.open(context, _binding(run), now=time.time())
        run.answers = {id: given[id] for id in asked.ids if id in given} if asked.ids else given
        run.state = asked.state


async def _from_store(answer: Awaitable[JsonObject]) -> JsonObject:
    """Return what promises answer. What tools raise has become an error of the protocol before.

    Raises:
        ServerUnavailableError: the store cannot be used now.
    """
    try:
        return await answer
    except StorageUnavailableError as error:
        logger.warning("the store of promises is unavailable: %s", sanitize_for_log(error))
        raise ServerUnavailableError(_UNAVAILABLE) from None


def _secret_bytes(secret: str | None) -> bytes:
    if secret is None:
        return secrets.token_bytes(_SECRET_SIZE)
    if len(secret) < _SECRET_SIZE:
        raise ValueError(
            f"LiteServer.secret: expected at least {_SECRET_SIZE} characters, got {len(secret)}. "
            "Draw one by secrets.token_hex()"
        )
    return secret.encode("utf-8", "surrogatepass")


def _binding(run: ToolRun) -> str:
    return binding_of(run.call.name, run.call.arguments, owner_of(run.caller.principal))


def _source_of(server: object) -> LiteSource:
    if isinstance(server, ToolServer):
        from kinwire.mcplite.server.mcp_tools import McpTools

        return McpTools(server)
    _LITE_SERVER.check(server=server)
    return cast("LiteSource", server)
