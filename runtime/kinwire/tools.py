"""Tools: functions that a server offers, and the table that lists and calls them (MCP, Tools).

`_tool_arguments.py` makes the schema and checks calls, `_tool_results.py` makes results.
"""

from __future__ import annotations

__all__ = ("FunctionTool", "HandlerTool", "ToolError", "ToolTable", "tool_from_function")

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from kinwire._docstring import split_docstring
from kinwire._functions import function_of, run_in_thread
from kinwire._tool_arguments import ToolArguments, refused_arguments
from kinwire._tool_results import error_result, result_from
from kinwire.context import Context
from kinwire.errors import ToolDefinitionError
from kinwire.mcp.pages import page_of
from kinwire.mcp.rules.json_schema import JsonSchema
from kinwire.mcp.rules.listing import Listing
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError


class ToolError(Exception):
    """Raised by a tool that ran and failed: the caller's model reads the text as the result."""


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function as a tool."""

    name: str
    description: str
    arguments: ToolArguments
    function: Callable[..., Any]
    is_async: bool

    def definition(self) -> JsonObject:
        """Return what `tools/list` says of this tool."""
        described = {"description": self.description} if self.description else {}
        return {"name": self.name, **described, "inputSchema": self.arguments.schema}

    async def call(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        """Check the arguments, run the function, and return its result as JSON.

        Raises:
            InvalidParamsError: the arguments break the schema; the function did not run.
        """
        given = self.arguments.check(self.name, params.arguments or {})
        if self.arguments.context_name is not None:
            given[self.arguments.context_name] = context
        try:
            if self.is_async:
                value = await self.function(**given)
            else:
                value = await run_in_thread(self.function, given)
        except ToolError as error:
            return error_result(str(error))
        return result_from(value)


@dataclass(frozen=True, slots=True)
class HandlerTool:
    """A tool given by its definition, and a handler of `tools/call` for it alone."""

    name: str
    wire: JsonObject
    schema: JsonSchema
    handler: Callable[[mcp.CallToolRequestParams, Context], Any]

    def definition(self) -> JsonObject:
        """Return what `tools/list` says of this tool."""
        return self.wire

    async def call(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        """Check the arguments, run the handler, and return its result as JSON.

        Raises:
            InvalidParamsError: the arguments break the schema; the handler did not run.
        """
        found = self.schema.problems(params.arguments or {}, "/arguments")
        if found:
            raise refused_arguments(self.name, found)
        try:
            value = await self.handler(params, context)
        except ToolError as error:
            return error_result(str(error))
        return result_from(value)


def tool_from_function(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None
) -> FunctionTool:
    """Return `function` as a tool.

    Name and description default to the function's name and docstring; parameters are described by
    `Annotated[..., Field(description=...)]` or by the docstring.

    Raises:
        ToolDefinitionError: the function cannot be a tool; the message says why and the mend.
    """
    served = function_of(function, ToolDefinitionError)
    text, descriptions = split_docstring(function.__doc__)
    return FunctionTool(
        name=function.__name__ if name is None else name,
        description=text if description is None else description,
        arguments=ToolArguments(function, descriptions),
        function=function,
        is_async=served.is_async,
    )


class ToolTable:
    """The tools of one server; may change while sessions are open."""

    def __init__(self, listed: Listing) -> None:
        self._listed = listed
        self._tools: dict[str, FunctionTool | HandlerTool] = {}

    def __len__(self) -> int:
        return len(self._tools)

    def add(self, tool: FunctionTool | HandlerTool) -> None:
        """Add a tool.

        Raises:
            ToolDefinitionError: there is a tool of this name.
        """
        if tool.name in self._tools:
            raise ToolDefinitionError(
                f"Tool {tool.name!r}: expected a name that is free, got one in use. "
                "Give name=..., or remove the other tool first."
            )
        self._listed.add(tool.name, tool.definition())
        self._tools[tool.name] = tool

    def remove(self, name: str) -> None:
        """Remove a tool; calls that are under way finish.

        Raises:
            KeyError: there is no tool of this name.
        """
        del self._tools[name]
        self._listed.remove(name)

    async def list(self, params: mcp.PaginatedRequestParams) -> JsonObject:
        """Answer `tools/list`."""
        return page_of(self._listed, params)

    async def call(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        """Answer `tools/call`."""
        tool = self._tools.get(params.name)
        if tool is None:
            near = get_close_matches(params.name, self._tools, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else " tools/list names those there are."
            raise InvalidParamsError(
                f"Unknown tool: {params.name!r:.60}.{hint}", data={"tool": params.name}
            )
        return await tool.call(params, context)
