"""A service of MCP-lite as an MCP server: what `kinwire serve lite URL` serves."""

from __future__ import annotations

__all__ = ("LiteBridge",)

import sys
from functools import partial
from typing import Any, Final

import anyio

from kinwire import NeedsAnswers, Promised, Server, ToolError, ToolQuestion, __version__
from kinwire.mcplite import (
    LiteAnswer,
    LiteClient,
    LiteElicitation,
    LiteFailure,
    LiteOutcome,
    LitePromise,
    LiteResourceRequest,
    UnknownToolError,
)
from kinwire.rpc.errors import KinwireError, ToolDefinitionError
from kinwire.support.json_values import text as json_line
from kinwire_cli.layout import one_line
from kinwire_cli.lite.calls import lite_tool
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcplite.tools import REDEEM

_FRESH = 60.0  # seconds between looks at the list: no message says that it has changed
_CANCELLING = 2.0  # seconds to give a promise up that nobody waits for
_BLOCKS = ("text", "image", "audio", "resource", "resource_link")


class LiteBridge:
    """An MCP server with the tools of a service.

    A promise is awaited. Questions are an error that the caller's model reads, because MCP has no
    way back for the answers. Content that MCP does not have is sent as text with its JSON, and as
    `structuredContent`.
    """

    def __init__(self, client: LiteClient) -> None:
        self.server: Final = Server("kinwire-lite", __version__)
        self._client = client
        self._known: dict[str, JsonObject] = {}

    async def refresh(self) -> None:
        """Have the tools that the service has now.

        Raises:
            RpcError, KinwireError: see `LiteClient.list_tools`.
        """
        tools = await self._client.list_tools()
        wires = {tool.name: to_wire(tool) for tool in tools if tool.name != REDEEM.name}
        for name in [one for one, wire in self._known.items() if wires.get(one) != wire]:
            del self._known[name]
            self.server.remove_tool(name)
        for tool in tools:
            if tool.name in wires and tool.name not in self._known:
                self._add(lite_tool(tool), wires[tool.name])

    async def keep_fresh(self) -> None:
        """Do `refresh` from time to time, until this is cancelled; failures are printed."""
        while True:
            await anyio.sleep(_FRESH)
            try:
                await self.refresh()
            except Exception as error:  # the service may be back next time
                _note(f"the tools of the service cannot be listed: {error}")

    def _add(self, tool: mcp.Tool, wire: JsonObject) -> None:
        try:
            self.server.add_tool(tool, self._call)
        except ToolDefinitionError as error:
            _note(f"a tool is left out: {error}")
        else:
            self._known[tool.name] = wire

    async def _call(self, params: mcp.CallToolRequestParams) -> Any:
        try:
            return self._returned(await self._client.call(params.name, params.arguments))
        except UnknownToolError as error:
            hint = error.suggestion or ""
            unknown = InvalidParamsError(f"Unknown tool: {params.name:.200}. {hint:.500}".rstrip())
        except KinwireError as error:
            raise ToolError(f"The service did not answer: {error}") from None
        raise unknown

    def _returned(self, outcome: LiteOutcome) -> Any:
        """Return what a function of a tool returns for an outcome.

        Raises:
            ToolError: it is a failure, or a response that MCP has nothing for.
        """
        match outcome:
            case LiteAnswer():
                return mcp_result(outcome.result)
            case LitePromise():
                return Promised(partial(self._kept, outcome))
            case LiteElicitation(text, questions):
                asked = [ToolQuestion(one.id, one.text, one.type, one.options) for one in questions]
                return NeedsAnswers(text, asked)
            case LiteFailure(code, message, data):
                raise ToolError(message, code=code or "TOOL_FAILED", data=data)
            case LiteResourceRequest():
                return mcp_result({**outcome.result, "isError": True})
            case _:
                raise ToolError(f"The service answered with {outcome.response_type!r:.100}.")

    async def _kept(self, promise: LitePromise) -> Any:
        """Await a promise, and give it up if nobody waits any more."""
        try:
            outcome = await promise
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(_CANCELLING, shield=True):
                await self._cancelled(promise)
            raise
        return self._returned(outcome)

    async def _cancelled(self, promise: LitePromise) -> None:
        try:
            await promise.cancel()
        except Exception as error:  # it expires
            _note(f"a promise of the service could not be cancelled: {error}")


def mcp_result(result: JsonObject) -> mcp.CallToolResult:
    """Return a result of MCP-lite as one of MCP (MCP-lite 0.042 section 7.1)."""
    content: list[JsonObject] = result.get("content") or []
    blocks = [one if _is_block(one) else _text_block(json_line(one)) for one in content]
    others = [one for one in content if not _is_block(one)]
    made: JsonObject = {"content": blocks}
    structured = result.get("structuredContent", {"content": others} if others else None)
    if structured is not None:
        made["structuredContent"] = structured
    if result.get("isError") is True:
        made["isError"] = True
    return from_wire(mcp.CallToolResult, made)


def _is_block(item: JsonObject) -> bool:
    """Return whether MCP has such content."""
    if item.get("type") not in _BLOCKS:
        return False
    try:
        from_wire(mcp.CallToolResult, {"content": [item]})
    except ValueError:
        return False
    return True


def _text_block(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _note(text: str) -> None:
    print(one_line(f"note: {text}"), file=sys.stderr, flush=True)
