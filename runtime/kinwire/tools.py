"""Tools: functions that a server offers, and the table that lists and calls them (MCP, Tools).

`_tool_arguments.py` makes the schema and checks calls, `_tool_results.py` makes results.
"""

from __future__ import annotations

__all__ = ("FunctionTool", "ToolError", "ToolTable", "tool_from_function")

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import anyio.to_thread

from kinwire._docstring import split_docstring
from kinwire._tool_arguments import ToolArguments
from kinwire._tool_results import error_result, result_from
from kinwire.context import Context
from kinwire.errors import ToolDefinitionError
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

    async def call(self, arguments: JsonObject, context: Context) -> JsonObject:
        """Check the arguments, run the function, and return its result as JSON.

        Raises:
            InvalidParamsError: the arguments break the schema; the function did not run.
        """
        given = self.arguments.check(self.name, arguments)
        if self.arguments.context_name is not None:
            given[self.arguments.context_name] = context
        try:
            if self.is_async:
                value = await self.function(**given)
            else:
                value = await _in_thread(self.function, given)
        except ToolError as error:
            return error_result(str(error))
        return result_from(value)


async def _in_thread(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    # In a tuple, as trio refuses a thread's coroutine: a plain wrapper around an `async def`.
    # Abandoned when cancelled: nobody waits for a thread that nobody can stop.
    (value,) = await anyio.to_thread.run_sync(lambda: (function(**given),), abandon_on_cancel=True)
    return await value if inspect.isawaitable(value) else value


def tool_from_function(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None
) -> FunctionTool:
    """Return `function` as a tool.

    Name and description default to the function's name and docstring; parameters are described by
    `Annotated[..., Field(description=...)]` or by the docstring.

    Raises:
        ToolDefinitionError: the function cannot be a tool; the message says why and the mend.
    """
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise ToolDefinitionError(
            f"expected a function or a method, got {function!r}. Wrap it in a typed `def`."
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolDefinitionError(
            f"{function.__module__}.{function.__qualname__}: expected a function that returns, "
            "got a generator. Return a list, or report progress through the Context."
        )
    text, descriptions = split_docstring(function.__doc__)
    return FunctionTool(
        name=function.__name__ if name is None else name,
        description=text if description is None else description,
        arguments=ToolArguments(function, descriptions),
        function=function,
        is_async=inspect.iscoroutinefunction(function),
    )


class ToolTable:
    """The tools of one server; may change while sessions are open."""

    def __init__(self) -> None:
        self._tools: dict[str, FunctionTool] = {}
        self._page: JsonObject | None = None  # what tools/list answers, until the table changes

    def __len__(self) -> int:
        return len(self._tools)

    def add(self, tool: FunctionTool) -> None:
        """Add a tool.

        Raises:
            ToolDefinitionError: there is a tool of this name.
        """
        if tool.name in self._tools:
            raise ToolDefinitionError(
                f"Tool {tool.name!r}: expected a name that is free, got one in use. "
                "Give name=..., or remove the other tool first."
            )
        self._tools[tool.name] = tool
        self._page = None

    def remove(self, name: str) -> None:
        """Remove a tool; calls that are under way finish.

        Raises:
            KeyError: there is no tool of this name.
        """
        del self._tools[name]
        self._page = None

    async def list(self, params: mcp.PaginatedRequestParams, context: Context) -> JsonObject:
        """Answer `tools/list`: all tools on one page."""
        if params.cursor is not None:
            raise InvalidParamsError(
                f"tools/list#/cursor: expected a cursor that this server gave, got "
                f"{params.cursor!r:.60}. Leave it out: there is one page."
            )
        if self._page is None:
            self._page = {"tools": [tool.definition() for tool in self._tools.values()]}
        return self._page

    async def call(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        """Answer `tools/call`."""
        tool = self._tools.get(params.name)
        if tool is None:
            near = get_close_matches(params.name, self._tools, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else " tools/list names those there are."
            raise InvalidParamsError(
                f"Unknown tool: {params.name!r:.60}.{hint}", data={"tool": params.name}
            )
        return await tool.call(params.arguments or {}, context)
