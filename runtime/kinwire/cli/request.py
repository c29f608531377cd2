"""A request as it is typed on the command line: which method is meant, its params, its result."""

from __future__ import annotations

__all__ = ("TypedRequest",)

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from kinwire.cli.failure import UsageError
from kinwire.cli.layout import printable
from kinwire.cli.members import members_from
from kinwire.cli.patience import patience_with
from kinwire.connection import Connection
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.mcp.methods import PROTOCOL, TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.peer import Method
from kinwire_protocols.problems import problems

_ARGUMENTS = "arguments."


@dataclass(frozen=True, slots=True)
class TypedRequest:
    """A method or tool, the words after it, and the server that is asked."""

    server: Connection
    method: str
    words: list[str]

    async def answer(self) -> object:
        """Return the result as JSON, None for a notification.

        Raises:
            UsageError: the words do not make a request that the schema allows.
        """
        row = PROTOCOL.methods.get(self.method)
        if row is TOOLS_CALL:
            return await self._send(TOOLS_CALL, await self._tool_params())
        if row is not None:
            return await self._send(row, self._params(row))
        if "/" not in self.method:
            return await self._call_tool()
        return await self._send_unknown()

    def _params(self, row: Method[Any, Any]) -> JsonObject:
        if row.sender == "server":
            raise UsageError(
                f"{row.name} is sent by the server, not by the client.",
                f"kinwire describe {row.name} tells more.",
            )
        return members_from(self.words, _params_schema(row), closed=True)

    async def _send(self, row: Method[Any, Any], members: JsonObject) -> JsonObject | None:
        try:
            params = row.decode_params(members)
        except ValidationError as error:
            found = "; ".join(map(str, problems(error, members)))
            known = [field.alias or name for name, field in row.params.model_fields.items()]
            hint = f"Its members are: {', '.join(known)}."
            raise UsageError(f"{row.name}#{found}", hint) from None
        if row.result is None:
            await self.server.session.notify(row, params)
            return None
        async with patience_with(row.name):
            result = await self.server.session.call(row, params, on_progress=_show_progress)
        return to_wire(result)

    async def _tool_params(self) -> JsonObject:
        """Return the params of `tools/call name=... arguments.k=v ...`."""
        own = [word for word in self.words if not word.startswith(_ARGUMENTS)]
        params = members_from(own, _params_schema(TOOLS_CALL), closed=True)
        words = [word.removeprefix(_ARGUMENTS) for word in self.words if word not in own]
        if words:
            if "arguments" in params:
                raise UsageError("arguments: was given twice, as a whole and by member.")
            tool = (await self._tools()).get(params.get("name", ""))
            params["arguments"] = members_from(words, {} if tool is None else _schema(tool))
        return params

    async def _call_tool(self) -> JsonObject | None:
        tools = await self._tools()
        tool = tools.get(self.method)
        if tool is None:
            hint = _nearest(self.method, tools)
            if not tools:
                text = f"The server offers no tools, so none is called {self.method!r}."
                raise UsageError(text, hint or "Methods have a slash, as in prompts/list.")
            hint = hint or f"It has: {', '.join(tools)}."
            raise UsageError(f"The server has no tool {self.method!r}.", printable(hint))
        arguments = members_from(self.words, _schema(tool))
        return await self._send(TOOLS_CALL, {"name": tool.name, "arguments": arguments})

    async def _send_unknown(self) -> object:
        hint = _nearest(self.method, ())
        print(
            f"note: {self.method!r} is in no table and goes out unchecked. {hint}".rstrip(),
            file=sys.stderr,
        )
        members = members_from(self.words, {})
        async with patience_with(self.method):
            return await self.server.session.raw(self.method, members or None)

    async def _tools(self) -> dict[str, mcp.Tool]:
        if self.server.capabilities.tools is None:
            return {}
        async with patience_with(TOOLS_LIST.name):
            return {tool.name: tool async for tool in self.server.tools()}


def _params_schema(row: Method[Any, Any]) -> JsonObject:
    schema: JsonObject = row.params.model_json_schema(by_alias=True)
    return schema


def _schema(tool: mcp.Tool) -> JsonObject:
    return to_wire(tool.input_schema)


def _nearest(name: str, tools: Iterable[str]) -> str:
    """Return which tools or methods may be meant; a method also by what follows its slash."""
    methods = [row.name for row in PROTOCOL.methods.values() if row.sender != "server"]
    meant: dict[str, list[str]] = {known: [known] for known in (*methods, *tools)}
    if "/" not in name:
        for method in methods:
            last = method.rpartition("/")[2]
            if last not in tools and last != method:
                meant.setdefault(last, []).append(method)
    near = get_close_matches(name, meant, n=1)
    return f"Did you mean {' or '.join(map(repr, meant[near[0]]))}?" if near else ""


def _show_progress(report: mcp.ProgressNotificationParams) -> None:
    total = "" if report.total is None else f"/{report.total}"
    text = f"progress {report.progress}{total}  {report.message or ''}"
    print(printable(text.rstrip()), file=sys.stderr)
