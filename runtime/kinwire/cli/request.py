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
from kinwire.cli.target import all_tools
from kinwire.host import Connection
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.mcp.methods import PROTOCOL, TOOLS_CALL
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
        if row is not None and row.sender != "server":
            return await self._send(row, members_from(self.words, row.params.model_json_schema()))
        if "/" not in self.method:
            return await self._call_tool()
        return await self._send_unknown()

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
        result = await self.server.session.call(row, params, on_progress=_show_progress)
        return to_wire(result)

    async def _tool_params(self) -> JsonObject:
        """Return the params of `tools/call name=... arguments.k=v ...`."""
        own = [word for word in self.words if not word.startswith(_ARGUMENTS)]
        params = members_from(own, mcp.CallToolRequestParams.model_json_schema())
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
            hint = _nearest(self.method, (*tools, *PROTOCOL.methods))
            hint = hint or f"It has: {', '.join(tools) or 'none'}."
            raise UsageError(f"The server has no tool {self.method!r}.", printable(hint))
        arguments = members_from(self.words, _schema(tool))
        return await self._send(TOOLS_CALL, {"name": tool.name, "arguments": arguments})

    async def _send_unknown(self) -> object:
        hint = _nearest(self.method, PROTOCOL.methods)
        print(
            f"note: {self.method!r} is in no table and goes out unchecked. {hint}".rstrip(),
            file=sys.stderr,
        )
        members = members_from(self.words, {})
        return await self.server.session.raw(self.method, members or None)

    async def _tools(self) -> dict[str, mcp.Tool]:
        return {tool.name: tool for tool in await all_tools(self.server)}


def _schema(tool: mcp.Tool) -> JsonObject:
    return to_wire(tool.input_schema)


def _nearest(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, list(names), n=1)
    return f"Did you mean {near[0]!r}?" if near else ""


def _show_progress(report: mcp.ProgressNotificationParams) -> None:
    total = "" if report.total is None else f"/{report.total}"
    text = f"progress {report.progress}{total}  {report.message or ''}"
    print(printable(text.rstrip()), file=sys.stderr)
