"""A request as it is typed on the command line: which method is meant, its params, its result."""

from __future__ import annotations

__all__ = ("TypedRequest", "whole_arguments")

import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pydantic import ValidationError

from kinwire.mcp.connection import Connection
from kinwire.rpc.codec import is_object
from kinwire_cli.failure import UsageError
from kinwire_cli.layout import one_line, printable
from kinwire_cli.members import WrongWordsError, joined, members_from, missing_from
from kinwire_cli.other_offers import OtherOffer, offer_called
from kinwire_cli.protocols import protocol_tables
from kinwire_cli.running import patience_with
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, RpcError, to_wire
from kinwire_protocols.mcp.methods import PROTOCOL, TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.nearest import nearest
from kinwire_protocols.peer import Method
from kinwire_protocols.problems import problems

_ARGUMENTS = "arguments."
_NAMED = 20  # tools that a hint names


@dataclass(frozen=True, slots=True)
class TypedRequest:
    """A method or tool, the words after it, and the server that is asked."""

    server: Connection
    method: str
    words: list[str]
    given: JsonObject
    """What the words add to."""
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    """How the server is named on the command line, before the method and behind its members."""
    package: str | None = None
    """The package of bindings whose methods are known in addition to those of kinwire."""

    async def answer(self) -> object:
        """Return the result as JSON, None for a notification.

        Raises:
            UsageError: the words do not make a request that the schema and the server allow.
        """
        row = self._row()
        if row is TOOLS_CALL:
            return await self._send(TOOLS_CALL, await self._tool_params())
        if row is not None:
            return await self._send(row, self._params(row))
        if "/" not in self.method:
            return await self._call_tool()
        return await self._send_unknown()

    async def raw_answer(self) -> object:
        """Return the result as it came, None for a notification; no gate and no type is asked.

        Raises:
            UsageError: the words do not make params.
        """
        row = self._row()
        members = members_from(
            self.words, {} if row is None else _params_schema(row), given=self.given
        )
        if row is not None and row.result is None:
            await self.server.session.raw_notify(self.method, members)
            return None
        return await self._send_as_it_is(members)

    def _params(self, row: Method[Any, Any]) -> JsonObject:
        if row.sender == "server":
            raise UsageError(
                f"{row.name} is sent by the server, not by the client.",
                f"See kinwire describe {row.name}.",
            )
        return members_from(self.words, _params_schema(row), closed=True, given=self.given)

    async def _send(self, row: Method[Any, Any], members: JsonObject) -> JsonObject | None:
        self._must_be_negotiated(row)
        try:
            # Words have names, also where params go by position.
            params = replace(row, positions=()).decode_params(members)
            row.params_to_wire(params)
        except ValidationError as error:
            found = "; ".join(map(str, problems(error, members)))
            known = [field.alias or name for name, field in row.params.model_fields.items()]
            hint = f"Its parameters are: {', '.join(known)}."
            raise UsageError(f"{row.name}#{found}", hint) from None
        except ValueError as error:  # a later position without an earlier one
            raise UsageError(str(error)) from None
        if row.result is None:
            await self.server.session.notify(row, params)
            return None
        show = None if row.positions else _show_progress  # an array has no place for a token
        async with patience_with(row.name):
            try:
                result = await self.server.session.call(row, params, on_progress=show)
            except row.errors as error:
                raise _of_kinwire(error) from None
        made: JsonObject = to_wire(result)
        return made

    def _must_be_negotiated(self, row: Method[Any, Any]) -> None:
        reason = self.server.session.denial_reason(row)
        if reason is not None:
            declared = ", ".join(to_wire(self.server.capabilities)) or "nothing"
            text = f"{row.name}: needs {row.gate}, but {reason}. The server declared: {declared}."
            raise UsageError(
                printable(text),
                "--raw sends it anyway; kinwire inspect shows what the server answers.",
            )

    async def _tool_params(self) -> JsonObject:
        """Return the params of `tools/call name=... arguments.k=v ...`."""
        own = [word for word in self.words if not word.startswith(_ARGUMENTS)]
        params = members_from(own, _params_schema(TOOLS_CALL), closed=True, given=self.given)
        words = [word.removeprefix(_ARGUMENTS) for word in self.words if word not in own]
        if words and "arguments" in params:
            raise UsageError("arguments: was given twice, as a whole and by member.")
        tool = await self._tool(params.get("name"), needed=bool(words))
        if tool is None:
            if words:
                params["arguments"] = members_from(words, {})
        elif words:
            params["arguments"] = whole_arguments(tool.name, _schema(tool), words)
        else:
            _must_be_whole(tool.name, _schema(tool), params.get("arguments", {}), ())
        return params

    async def _call_tool(self) -> JsonObject | None:
        tools = await self._tools()
        tool = tools.get(self.method)
        if tool is None:
            raise await self._no_tool(tools)
        arguments = whole_arguments(tool.name, _schema(tool), self.words, self.given)
        return await self._send(TOOLS_CALL, {"name": tool.name, "arguments": arguments})

    async def _no_tool(self, tools: Collection[str]) -> UsageError:
        other = await offer_called(self.server, self.method, self.words)
        if other is not None:
            return self._is_other(other, "tool")
        hint = self._nearest(tools)
        if not tools:
            text = f"The server offers no tools, so none is called {self.method!r}."
            return UsageError(text, hint or "Methods have a slash, as in prompts/list.")
        hint = hint or self._unlisted(tools) or f"It has: {_some(tools)}."
        return UsageError(f"The server has no tool {self.method!r}.", printable(hint))

    def _unlisted(self, tools: Collection[str]) -> str:
        """Return how a gateway calls a tool that is not in its list; empty for other servers."""
        from kinwire.mgp.rules.tool_context import CALL_TOOL

        if CALL_TOOL not in tools:
            return ""
        return (
            "A gateway does not list all its tools. This calls one: "
            f"kinwire call {CALL_TOOL} name={self.method} arguments.NAME=VALUE ..."
        )

    async def _send_unknown(self) -> object:
        if "://" in self.method:
            await self._refuse_address()
        hint = self._nearest(())
        print(
            f"note: {self.method!r} is not a known method and is sent unchecked. {hint}".rstrip(),
            file=sys.stderr,
        )
        return await self._send_as_it_is(members_from(self.words, {}, given=self.given))

    async def _refuse_address(self) -> None:
        """Refuse the URI of a resource; what else it may be goes out."""
        other = await offer_called(self.server, self.method, self.words)
        if other is not None:
            raise self._is_other(other, "method")

    def _is_other(self, other: OtherOffer, meant: str) -> UsageError:
        line = shlex.join(["kinwire", "call", *self.before, *other.words, *self.after])
        text = f"{self.method!r} is {other.kind} of the server, not a {meant}."
        return UsageError(text, printable(f"Write {line}"))

    async def _send_as_it_is(self, members: JsonObject) -> object:
        async with patience_with(self.method):
            return await self.server.session.raw(self.method, members or None)

    async def _tool(self, name: object, *, needed: bool) -> mcp.Tool | None:
        """Return the tool of that name; a server that does not list them fails this if `needed`."""
        if not isinstance(name, str):  # JSON is taken as it stands; `_send` refuses it
            return None
        try:
            return (await self._tools()).get(name)
        except RpcError:
            if needed:
                raise
            return None

    async def _tools(self) -> dict[str, mcp.Tool]:
        if self.server.capabilities.tools is None:
            return {}
        async with patience_with(TOOLS_LIST.name):
            return {tool.name: tool async for tool in self.server.tools()}

    def _row(self) -> Method[Any, Any] | None:
        """Return the method of that name or alias; MCP goes before the others."""
        if self.method in PROTOCOL.methods:  # the others take time to load
            return PROTOCOL.methods[self.method]
        return next((row for row in self._rows() if self.method in row.names), None)

    def _rows(self) -> Iterator[Method[Any, Any]]:
        for table in protocol_tables(self.package).values():
            yield from table.methods.values()

    def _nearest(self, tools: Iterable[str]) -> str:
        """Return which tools or methods may be meant; one of MCP also by what follows its slash."""
        methods = [row.name for row in self._rows() if row.sender != "server"]
        meant: dict[str, list[str]] = {known: [known] for known in (*methods, *tools)}
        if "/" not in self.method:
            for method in filter(PROTOCOL.methods.__contains__, methods):
                last = method.rpartition("/")[2]
                if last not in tools and last != method:
                    meant.setdefault(last, []).append(method)
        near = nearest(self.method, meant)
        return f"Did you mean {' or '.join(map(repr, meant[near]))}?" if near else ""


def _of_kinwire(error: RpcError) -> RpcError:
    """Return `error`, which may be of a standalone package, as an error of kinwire's bindings."""
    if RpcError in type(error).__mro__:
        return error
    members = {"protocol": error.protocol, "name": error.name}
    kind: type[RpcError] = type(type(error).__name__, (RpcError,), members)
    return kind(error.message, data=error.data, code=error.code)


def _params_schema(row: Method[Any, Any]) -> JsonObject:
    schema: JsonObject = row.params.model_json_schema(by_alias=True)
    return schema


def _schema(tool: mcp.Tool) -> JsonObject:
    return to_wire(tool.input_schema)


def whole_arguments(
    name: str, schema: JsonObject, words: Sequence[str], given: JsonObject | None = None
) -> JsonObject:
    """Return the arguments of the tool `name` that `words` spell, by the schema of its input.

    Raises:
        UsageError: it names every word that is wrong, and every argument that is missing.
    """
    try:
        arguments = members_from(words, schema, given=given)
    except WrongWordsError as wrong:
        refused = wrong
    else:
        _must_be_whole(name, schema, arguments, words)
        return arguments
    try:
        _must_be_whole(name, schema, refused.members, refused.right, refused.wrong)
    except UsageError as missing:
        raise UsageError(*joined([refused, missing])) from None
    raise refused


def _must_be_whole(
    name: str,
    schema: JsonObject,
    arguments: object,
    words: Iterable[str],
    wrong: Iterable[str] = (),
) -> None:
    if is_object(arguments) and (missing := missing_from(arguments, words, schema, wrong)):
        anyway = shlex.join(["kinwire", "call", "--raw", "tools/call", f"name={name}"])
        text = f"{name}: missing: {', '.join(missing)}"
        hint = f"Add what is missing; {anyway} ... sends it anyway."
        raise UsageError(printable(text), printable(hint))


def _some(tools: Collection[str]) -> str:
    more = len(tools) - _NAMED
    return ", ".join(islice(tools, _NAMED)) + (f" and {more} more" if more > 0 else "")


def _show_progress(report: mcp.ProgressNotificationParams) -> None:
    total = "" if report.total is None else f"/{report.total}"
    text = f"progress {report.progress}{total}  {report.message or ''}"
    print(one_line(text.rstrip()), file=sys.stderr)
