"""The tools of an MCP server, for MCP-lite: the one place that knows both protocols."""

from __future__ import annotations

__all__ = ("McpTools", "lite_result")

from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, cast

from pydantic import ValidationError

from kinwire.managers.tool_outcomes import NeedsAnswers, Promised, ToolError
from kinwire.mcp.context import Context
from kinwire.mcp.functions.outcomes import ToolOutcomes
from kinwire.mcp.functions.pieces import JoinedPieces
from kinwire.mcp.result_text import result_text
from kinwire.mcp.server import Server
from kinwire.mcp.sessionless import SessionlessPeer, SessionlessRequest, SessionNeededError
from kinwire.mcp.tools import FunctionTool, HandlerTool, RegisteredTool, StreamTool
from kinwire.mcplite.rules.results import content_from, failure_body
from kinwire.mcplite.server.source import ANYONE, LiteCaller, NoSuchToolError, Put, ToolRun
from kinwire.rpc.routes import Handler
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcplite.tools import REDEEM

_FUNCTIONS = FunctionTool, StreamTool


class McpTools:
    """The tools of `server`, as they are at each call."""

    def __init__(self, server: object) -> None:
        """Serve the tools of `server`.

        Raises:
            TypeError: it is not a server of MCP.
            ToolDefinitionError: a tool is called `redeem`.
        """
        if not isinstance(server, Server):
            raise TypeError(f"LiteServer: expected a Server, got {type(server).__name__}.")
        self._server = server
        self._own = server.own_handlers
        self._table = server.tool_table
        self._tools = self._table.entries
        self._peer = SessionlessPeer(server.limits, None)
        self._table.reserve(REDEEM.name, "MCP-lite has a tool that redeems promises")
        self._listed: tuple[tuple[object, ...], list[JsonObject]] = ((), [])
        request = SessionlessRequest(self._peer, TOOLS_CALL, {}, report=_not_reported)
        self._no_context = Context(request)  # of the functions that do not look at it

    @property
    def version(self) -> str | None:
        """See `LiteSource.version`."""
        return self._server.info.version

    @property
    def may_promise(self) -> bool:
        """See `LiteSource.may_promise`."""
        return any(self.promise_after(name) is not None for name in self._tools)

    def promise_after(self, name: str) -> float | None:
        """See `LiteSource.promise_after`."""
        tool = self._tools.get(name) or self._table.find(name)
        return getattr(tool, "promise_after", None)

    async def list_tools(self, caller: LiteCaller) -> Sequence[JsonObject]:
        """See `LiteSource.list_tools`."""
        handler = self._own.get(TOOLS_LIST.name)
        if handler is not None:
            return await self._listed_by(handler)
        tools = tuple(self._tools.values())
        known, listed = self._listed
        if len(known) != len(tools) or any(a is not b for a, b in zip(known, tools, strict=True)):
            listed = [{**tool.definition} for tool in tools]
            self._listed = (tools, listed)
        return listed

    def run(self, run: ToolRun) -> Coroutine[Any, Any, object]:
        """See `LiteSource.run`."""
        call = run.call
        tool = self._tools.get(call.name) or self._table.find(call.name)
        if (
            isinstance(tool, FunctionTool)
            and tool.arguments.context_name is None
            and tool.promise_after is None
            and not call.meta
            and TOOLS_CALL.name not in self._own
        ):  # nothing looks at its request, which would be a tenth of its cost
            return tool.call(call, self._no_context, LITE_OUTCOMES)
        return self._run(run, tool)

    async def _run(self, run: ToolRun, tool: RegisteredTool | None) -> object:
        request = self._request(run)
        try:
            handler = self._own.get(TOOLS_CALL.name)
            if handler is not None:
                return await self._called_by(handler, run.call.name, request)
            if tool is None:
                raise NoSuchToolError
            context = Context(request)
            if isinstance(tool, _FUNCTIONS):
                return await tool.call(run.call, context, LITE_OUTCOMES)
            if isinstance(tool, HandlerTool):
                return await tool.call(_params_of(request), context, LITE_OUTCOMES)
            return lite_result(await tool.call(_params_of(request), context))
        except SessionNeededError as error:
            raise ToolError(str(error), code="SESSION_NEEDED") from None
        finally:
            request.ended = True

    def _request(self, run: ToolRun) -> SessionlessRequest:
        call = run.call
        request = SessionlessRequest(
            self._peer if run.send is None else self._peer_of(run.send),
            TOOLS_CALL,
            {"name": call.name, "arguments": call.arguments},
            report=run.progress,
            answers=run.answers,
            state=run.state,
        )
        if call.meta:  # all else is known to be what the params hold
            request.given["_meta"] = call.meta
            _read(request)
        return request

    def _peer_of(self, send: Put) -> SessionlessPeer:
        limits = self._server.limits
        return SessionlessPeer(limits, _PartSink(send, limits.frame_size // 2))

    # -- a server whose program has handlers of its own --

    async def _listed_by(self, handler: Handler) -> Sequence[JsonObject]:
        found: list[JsonObject] = []
        given: JsonObject = {}
        while True:
            request = SessionlessRequest(self._peer, TOOLS_LIST, given, report=_not_reported)
            page = _wire(await handler(request.params, request))
            found += page["tools"]
            if page.get("nextCursor") is None:
                break
            given = {"cursor": page["nextCursor"]}
        if found != self._listed[1]:
            self._listed = ((), found)
        return self._listed[1]

    async def _called_by(
        self, handler: Handler, name: str, request: SessionlessRequest
    ) -> JsonObject:
        try:
            return lite_result(_wire(await handler(request.params, request)))
        except InvalidParamsError:
            if all(one["name"] != name for one in await self.list_tools(ANYONE)):
                raise NoSuchToolError from None
            raise


async def _not_reported(progress: float, total: float | None, message: str | None) -> None:
    """See `Report`."""


def _wire(made: object) -> JsonObject:
    return to_wire(made) if isinstance(made, Message) else cast(JsonObject, made)


def _params_of(request: SessionlessRequest) -> mcp.CallToolRequestParams:
    return cast(mcp.CallToolRequestParams, request.params)


def _read(request: SessionlessRequest) -> None:
    try:
        request.read_params()
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(map(str, problem["loc"]))
        raise InvalidParamsError(f"tools/call#/{place}: {problem['msg']}") from None


class _PartSink:
    """Sends the pieces of a call as parts, and keeps them for the whole result."""

    def __init__(self, send: Put, most: int) -> None:
        self._send, self._pieces, self._most = send, JoinedPieces(most), most

    def put(self, block: JsonObject) -> Awaitable[None]:
        """See `PieceSink.put`."""
        self._pieces.add(block)
        if self._pieces.cut:
            raise ToolError(f"The result is larger than {self._most} bytes.", code="TOO_LARGE")
        text = block.get("text")
        if isinstance(text, str):
            return self._send({"partial": text})
        return self._send({"partial": "", "content": [block]})

    def result(self) -> JsonObject:
        """See `PieceSink.result`."""
        return {"content": self._pieces.content}

    def end(self) -> None:
        """See `PieceSink.end`."""


def _returned(value: object, tool: str) -> JsonObject:
    """Return the result for a value: content blocks of MCP as they are, all else by A.2."""
    if type(value) is str:  # most tools return text
        return {"content": [{"type": "text", "text": value}]}
    if isinstance(value, mcp.CallToolResult):
        return lite_result(to_wire(value))
    return {"content": content_from(value, tool)}


def lite_result(result: JsonObject) -> JsonObject:
    """Return a result of MCP as one of MCP-lite: an error is a failure."""
    if not result.get("isError") or "error" in result:
        return result
    text = _text_of(result)
    body = failure_body(ToolError(text))
    meta: JsonObject = {**(result.get("_meta") or {}), **body["_meta"]}
    return {**body, **result, "_meta": meta}


def _text_of(result: JsonObject) -> str:
    try:
        return result_text(from_wire(mcp.CallToolResult, result))
    except ValidationError:
        return "The tool failed."


async def _special(value: Promised | NeedsAnswers, tool: str, context: Context) -> Any:
    if isinstance(value, NeedsAnswers):
        return value

    async def work() -> object:
        made = await value.work()
        if isinstance(made, Promised | NeedsAnswers):
            return await _special(made, tool, context)
        return _returned(made, tool)

    return Promised(work, value.estimated_seconds)


LITE_OUTCOMES = ToolOutcomes(_returned, failure_body, _special)
