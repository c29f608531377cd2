"""Tools: functions that a server offers, and the table that lists and calls them (MCP, Tools).

`functions/arguments.py` checks calls, `functions/results.py` makes results.
"""

from __future__ import annotations

__all__ = (
    "FunctionTool",
    "HandlerTool",
    "NamedArguments",
    "RegisteredTool",
    "StreamTool",
    "ToolTable",
    "tool_from_function",
)

from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from kinwire.managers.entry_table import EntryKind, EntryTable
from kinwire.managers.listing import Listing
from kinwire.managers.tool_outcomes import NeedsAnswers, Promised, ToolError
from kinwire.mcp.context import Context
from kinwire.mcp.functions.arguments import ToolArguments, invalid_arguments
from kinwire.mcp.functions.docstring import split_docstring
from kinwire.mcp.functions.function import (
    function_of,
    must_be_function,
    run_in_thread,
    yields,
)
from kinwire.mcp.functions.outcomes import MCP_OUTCOMES, ToolOutcomes
from kinwire.mcp.functions.pieces import JoinedPieces, PieceSink, blocks_of, values_of
from kinwire.mcp.rules.json_schema import JsonSchema
from kinwire.mcp.rules.json_schema_lenient import corrected
from kinwire.mcp.server_session import ServerSession
from kinwire.mcp.sessionless import SessionlessPeer
from kinwire.rpc.errors import ToolDefinitionError
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError

_SPECIAL = (Promised, NeedsAnswers)  # looked up by class: a call of `isinstance` costs more


class NamedArguments(Protocol):
    """A call of a tool, by what a function needs of it."""

    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> JsonObject | None: ...


class RegisteredTool(Protocol):
    """An entry of the table: a function, or a handler with a definition."""

    @property
    def definition(self) -> JsonObject: ...
    async def call(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject: ...


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function as a tool."""

    definition: JsonObject
    arguments: ToolArguments
    function: Callable[..., Any]
    is_async: bool
    promise_after: float | None = None
    """Seconds after which a protocol that has promises answers by one; None for never."""

    async def call(
        self,
        params: NamedArguments,
        context: Context,
        outcomes: ToolOutcomes = MCP_OUTCOMES,
    ) -> Any:
        """Check the arguments, run the function, and return its result as JSON.

        `outcomes` make the result; those of another protocol may make something else.

        Raises:
            InvalidParamsError: the arguments break the schema; the function did not run.
        """
        given = self.arguments.check(params.name, params.arguments or {}, context)
        if self.arguments.context_name is not None:
            given[self.arguments.context_name] = self.arguments.context_kind.of(context)
        try:
            if self.promise_after is not None:
                value = await context.reporting_time(partial(self._value, given))
            elif self.is_async:
                value = await self.function(**given)
            else:
                value = await run_in_thread(self.function, given)
        except ToolError as error:
            return outcomes.failed(error)
        if value.__class__ in _SPECIAL:
            return await outcomes.special(value, params.name, context)
        return outcomes.returned(value, params.name)

    async def _value(self, given: dict[str, Any]) -> Any:
        if self.is_async:
            return await self.function(**given)
        return await run_in_thread(self.function, given)


@dataclass(frozen=True, slots=True)
class StreamTool:
    """A generator as a tool: what it yields is joined, or sent in pieces to who asked for that."""

    definition: JsonObject
    arguments: ToolArguments
    function: Callable[..., Any]
    promise_after: float | None = None
    """See `FunctionTool.promise_after`."""

    async def call(
        self,
        params: NamedArguments,
        context: Context,
        outcomes: ToolOutcomes = MCP_OUTCOMES,
    ) -> Any:
        """Check the arguments, run the generator to its end, and return its result as JSON.

        `outcomes` make the result of one that failed.

        Raises:
            InvalidParamsError: the arguments break the schema; the function did not run.
        """
        given = self.arguments.check(params.name, params.arguments or {}, context)
        if self.arguments.context_name is not None:
            given[self.arguments.context_name] = context
        sink = sink_of(context) or _Joined(params.name, context)
        try:
            async with aclosing(values_of(self.function, given)) as values:
                async for value in values:
                    for block in blocks_of(value, params.name):
                        context.raise_if_cancelled()  # a generator may swallow its cancellation
                        await sink.put(block)
        except ToolError as error:
            failure = outcomes.failed(error)
            result = sink.result()
            return {**result, **failure, "content": [*result["content"], *failure["content"]]}
        finally:
            sink.end()
        return sink.result()


class _Joined:
    """The pieces of a call whose client gets one result."""

    def __init__(self, tool: str, context: Context) -> None:
        self._tool = tool
        self._most = context.session.limits.frame_size // 2
        self._pieces = JoinedPieces(self._most)

    async def put(self, block: JsonObject) -> None:
        """Add a piece.

        Raises:
            ToolError: the result would not fit into a frame.
        """
        self._pieces.add(block)
        if self._pieces.cut:
            text = f"{self._tool}: its result is larger than {self._most} bytes."
            raise ToolError(text, code="TOO_LARGE")

    def result(self) -> JsonObject:
        """Return what there is."""
        return {"content": self._pieces.content}

    def end(self) -> None:
        """See `PieceSink.end`."""


def sink_of(context: Context) -> PieceSink | None:
    """Return where the pieces of a call go; None if its client gets one result."""
    session: object = context.session
    if isinstance(session, ServerSession | SessionlessPeer):
        return session.open_sink(context)
    return None


@dataclass(frozen=True, slots=True)
class HandlerTool:
    """A tool made from its definition and a handler of `tools/call` for this tool only."""

    definition: JsonObject
    schema: JsonSchema
    handler: Callable[[mcp.CallToolRequestParams, Context], Any]
    promise_after: float | None = None
    """See `FunctionTool.promise_after`."""

    async def call(
        self,
        params: mcp.CallToolRequestParams,
        context: Context,
        outcomes: ToolOutcomes = MCP_OUTCOMES,
    ) -> Any:
        """Check the arguments, run the handler, and return its result; see `FunctionTool.call`.

        Raises:
            InvalidParamsError: the arguments break the schema; the handler did not run.
        """
        given = params.arguments or {}
        read = corrected(self.schema, given)
        found = self.schema.problems(read, "/arguments")
        if found:
            raise invalid_arguments(params.name, found)
        if read is not given:
            params = params.model_copy(update={"arguments": read})
        try:
            value = await self.handler(params, context)
        except ToolError as error:
            return outcomes.failed(error)
        if value.__class__ in _SPECIAL:
            return await outcomes.special(value, params.name, context)
        return outcomes.returned(value, params.name)


def tool_from_function(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    type: str | None = None,
    promise_after: float | None = None,
) -> FunctionTool | StreamTool:
    """Make a tool from `function`.

    Name and description default to the function's name and docstring; parameters are described by
    `Annotated[..., Field(description=...)]` or by the docstring.

    Raises:
        ToolDefinitionError: the function cannot be a tool; the message says why and how to fix it.
    """
    must_be_function(function, ToolDefinitionError)
    text, descriptions = split_docstring(function.__doc__)
    arguments = ToolArguments(function, descriptions)
    shown = text if description is None else description
    definition: JsonObject = {
        "name": function.__name__ if name is None else name,
        **({} if type is None else {"@type": type}),
        **({"description": shown} if shown else {}),
        "inputSchema": arguments.schema,
    }
    if yields(function):
        return StreamTool(definition, arguments, function, promise_after)
    is_async = function_of(function, ToolDefinitionError).is_async
    return FunctionTool(definition, arguments, function, is_async, promise_after)


_KIND = EntryKind(
    "Tool",
    "a name",
    "Give name=..., or remove the other tool first.",
    ToolDefinitionError,
)


class ToolTable:
    """The tools of one server; may change while sessions are open."""

    def __init__(self, listed: Listing, changed: Callable[[], None]) -> None:
        self._table = EntryTable[RegisteredTool](_KIND, listed, changed)
        self.entries = self._table.entries
        """The tools by name; it follows each change."""
        self._aliases: dict[str, str] = {}
        self._reserved: dict[str, str] = {}

    def reserve(self, name: str, reason: str) -> None:
        """Refuse tools of this name from now on; `reason` is a clause.

        Raises:
            ToolDefinitionError: there is one.
        """
        self._reserved[name] = reason
        if name in self._table.entries:
            raise self._refusal(name)

    def add(self, tool: RegisteredTool, aliases: Iterable[str] = ()) -> None:
        """Add a tool; the list does not show `aliases`, by which it can be called too.

        Raises:
            ToolDefinitionError: the name is in use or reserved, or JSON cannot hold the definition.
        """
        name: str = tool.definition["name"]
        if name in self._reserved:
            raise self._refusal(name)
        self._table.add(name, tool)
        self._aliases |= {alias: name for alias in aliases}

    def remove(self, name: str) -> None:
        """Remove a tool; calls in progress finish.

        Raises:
            KeyError: no tool has this name.
        """
        self._table.remove(name)
        if self._aliases:
            self._aliases = {one: of for one, of in self._aliases.items() if of != name}

    def find(self, name: str) -> RegisteredTool | None:
        """Return the tool that has this name, or this alias; None without one."""
        tool = self.entries.get(name)
        return self.entries.get(self._aliases.get(name, "")) if tool is None else tool

    def _refusal(self, name: str) -> ToolDefinitionError:
        return ToolDefinitionError(
            f"Tool {name!r}: expected another name, because {self._reserved[name]}. "
            "Give name=..., or rename the function."
        )

    async def list(self, params: mcp.PaginatedRequestParams) -> JsonObject:
        """Answer `tools/list`."""
        return self._table.page(params.cursor)

    async def call(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        """Answer `tools/call`."""
        tool = self._table.entries.get(params.name)
        if tool is None:
            tool = self._table.entries.get(self._aliases.get(params.name, ""))
        if tool is None:
            raise InvalidParamsError(
                f"Unknown tool: {params.name!r:.60}. {self._table.near(params.name)}",
                data={"tool": params.name},
            )
        return await tool.call(params, context)
