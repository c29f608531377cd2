"""The tools of an MCP server, for MCP-lite: the one place that knows both protocols."""

from __future__ import annotations

__all__ = ("McpTools",)

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from kinwire.managers.tool_outcomes import NeedsAnswers, Promised, ToolError
from kinwire.mcp.context import Context
from kinwire.mcp.functions.outcomes import ToolOutcomes
from kinwire.mcp.functions.pieces import JoinedPieces
from kinwire.mcp.result_text import result_text
from kinwire.mcp.server import Server
from kinwire.mcp.sessionless import SessionlessPeer, SessionlessRequest, SessionNeededError
from kinwire.mcp.tools import FunctionTool, HandlerTool
from kinwire.mcplite.rules.results import content_from, failure_body
from kinwire.mcplite.server.source import LiteCaller, Put, ToolRun
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcplite.tools import REDEEM


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
        self._table = self._server.tool_table
        self._table.reserve(REDEEM.name, "MCP-lite has a tool that redeems promises")
        self._listed: tuple[tuple[object, ...], list[JsonObject]] = ((), [])

    @property
    def version(self) -> str | None:
        """See `LiteSource.version`."""
        return self._server.info.version

    @property
    def may_promise(self) -> bool:
        """See `LiteSource.may_promise`."""
        return any(self.promise_after(name) is not None for name in self._table.entries)

    def promise_after(self, name: str) -> float | None:
        """See `LiteSource.promise_after`."""
        return getattr(self._table.find(name), "promise_after", None)

    async def list_tools(self, caller: LiteCaller) -> Sequence[JsonObject]:
        """See `LiteSource.list_tools`."""
        tools = tuple(self._table.entries.values())
        known, listed = self._listed
        if len(known) != len(tools) or any(a is not b for a, b in zip(known, tools, strict=True)):
            listed = [{**tool.definition} for tool in tools]
            self._listed = (tools, listed)
        return listed

    async def run(self, run: ToolRun) -> object:
        """See `LiteSource.run`."""
        call = run.call
        tool = self._table.find(call.name)
        if tool is None:
            raise KeyError(call.name)
        sink = (
            None if run.send is None else _PartSink(run.send, self._server.limits.frame_size // 2)
        )
        peer = SessionlessPeer(self._server.limits, sink)
        params: JsonObject = {"name": call.name, "arguments": call.arguments}
        if call.meta:
            params["_meta"] = call.meta
        given = _params_from(params)
        request = SessionlessRequest(
            peer,
            given,
            {"jsonrpc": "2.0", "method": "tools/call", "params": params},
            report=run.progress,
            answers=run.answers,
            state=run.state,
        )
        context = Context(request)
        try:
            if isinstance(tool, FunctionTool | HandlerTool):
                return await tool.call(given, context, LITE_OUTCOMES)
            made = await tool.call(given, context)
        except SessionNeededError as error:
            return failure_body(ToolError(str(error), code="SESSION_NEEDED"))
        finally:
            request.ended = True
        return _from_mcp(made)


def _params_from(params: JsonObject) -> mcp.CallToolRequestParams:
    try:
        return from_wire(mcp.CallToolRequestParams, params)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(map(str, problem["loc"]))
        raise InvalidParamsError(f"tools/call#/{place}: {problem['msg']}") from None


class _PartSink:
    """Sends the pieces of a call as parts, and keeps them for the whole result."""

    def __init__(self, send: Put, most: int) -> None:
        self._send, self._pieces, self._most = send, JoinedPieces(most), most

    async def put(self, block: JsonObject) -> None:
        """See `PieceSink.put`."""
        self._pieces.add(block)
        if self._pieces.cut:
            raise ToolError(f"The result is larger than {self._most} bytes.", code="TOO_LARGE")
        text = block.get("text")
        if isinstance(text, str):
            await self._send({"partial": text})
        else:
            await self._send({"partial": "", "content": [block]})

    def result(self) -> JsonObject:
        """See `PieceSink.result`."""
        return {"content": self._pieces.content}

    def end(self) -> None:
        """See `PieceSink.end`."""


def _returned(value: object, tool: str) -> JsonObject:
    """Return the result for a value: content blocks of MCP as they are, all else by A.2."""
    if isinstance(value, mcp.CallToolResult):
        return _from_mcp(to_wire(value))
    return {"content": content_from(value, tool)}


def _from_mcp(result: JsonObject) -> JsonObject:
    """Return a result of MCP as one of MCP-lite: an error is a failure."""
    if not result.get("isError"):
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
