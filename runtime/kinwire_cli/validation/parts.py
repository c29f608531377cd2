"""Checks of a message beyond the type of its method: tools, augments, offers, data of errors.

Pure. An augment counts wherever its target stands in a message, also deep inside; an offer at each
place below `capabilities` where it is looked for.
"""

from __future__ import annotations

__all__ = ("AnyTool", "MessageParts", "Row")

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from pydantic import ValidationError

from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import RpcError
from kinwire.rpc.negotiated import at_path
from kinwire_protocols.augment import AnyAugment, Augment, ErrorAugment
from kinwire_protocols.base import JsonObject, Message, from_wire
from kinwire_protocols.peer import Method, ProtocolTable, error_kind
from kinwire_protocols.problems import Problem, problems, shown
from kinwire_protocols.tool_methods import ToolMethod

Row = Method[Any, Any]
AnyTool = ToolMethod[Any, Any]


class MessageParts:
    """The tools, augments and offers of some protocols."""

    def __init__(self, tables: Sequence[ProtocolTable]) -> None:
        rows = [row for table in tables for row in table.tools.values()]
        self._tools = {name: row for row in rows[::-1] for name in (row.name, *row.aliases)}
        self._augments = [augment for table in tables for augment in table.augments]
        self._offering = [table for table in tables if table.offers]
        self._added_errors = [table.added_errors for table in tables]
        self._error_data: dict[tuple[str | None, str | None], type[Message]] = {
            (table.name, name): kind for table in tables for name, kind in table.error_data.items()
        }

    def tool(self, row: Row, params: object) -> AnyTool | None:
        """Return the tool that `params` of the method `row` call, if a protocol defines it."""
        name = params.get("name") if is_object(params) else None
        tool = self._tools.get(name) if isinstance(name, str) else None
        return tool if tool is not None and tool.caller == row else None

    def call_problems(
        self, row: Row, tool: AnyTool | None, params: JsonObject
    ) -> Iterator[Problem]:
        """Yield what is wrong with params that fit their own type."""
        yield from self._added(row, "params", params, row.decode_params(params))
        if tool is not None:
            given = params.get("arguments")
            try:
                tool.decode_params(given)
            except RpcError as error:
                for one in error.data["problems"]:
                    where = f"/params/arguments{one['pointer']}"
                    yield Problem(where, one["expected"], one["got"])

    def reply_problems(
        self, row: Row, tool: AnyTool | None, message: JsonObject
    ) -> Iterator[Problem]:
        """Yield what is wrong with a reply that fits its own type."""
        if "error" in message:
            error = message["error"]
            augments = [one for one in self._augments if isinstance(one, ErrorAugment)]
            added = _read(augments, error, "/error/data")
            yield from dict.fromkeys((*added, *self._data_problems(row, error)))
        elif row.result is not None:
            result = message["result"]
            yield from self._added(row, "result", result, row.decode_result(result))
            if tool is not None:
                yield from _result_problems(tool, result)

    def _added(self, row: Row, part: str, body: JsonObject, made: Message) -> Iterator[Problem]:
        found = (*self._augmented(row, part, body, made), *self._offered(row, part, body))
        yield from dict.fromkeys(found)  # an offer may be an augment too

    def _augmented(self, row: Row, part: str, body: JsonObject, made: Message) -> Iterator[Problem]:
        places = {f"{row.name} {part}", f"every {part}"}
        yield from _read([one for one in self._augments if one.to in places], body, f"/{part}")
        by_type = [one for one in self._augments if isinstance(one, Augment) and "#" in one.to]
        for pointer, inner in _messages(made, f"/{part}") if by_type else ():
            met = [one for one in by_type if one.message is type(inner)]
            yield from _read(met, inner, pointer)

    def _data_problems(self, row: Row, error: JsonObject) -> Iterator[Problem]:
        data, code = error.get("data"), error["code"]
        added = [
            kind
            for errors in self._added_errors
            for method in (row.name, None)
            for kind in errors.get(method, ())
        ]
        meant = error_kind(row.errors, code, data) or error_kind(tuple(added), code, data)
        if meant is not None and data is not None:
            expected = self._error_data.get((meant.protocol, meant.name))
            if expected is not None:
                yield from _misfits(expected, data, "/error/data")

    def _offered(self, row: Row, part: str, body: JsonObject) -> Iterator[Problem]:
        if (row.protocol, row.name) != ("mcp", "initialize"):
            return
        end = "client" if part == "params" else "server"
        for table in self._offering:
            places = [place for place in (table.capability, *table.capability_aliases) if place]
            for place in places if end in table.offers else ():
                offer = at_path(body["capabilities"], place)
                if offer is not None:
                    pointer = f"/{part}/capabilities/{place.replace('.', '/')}"
                    yield from _misfits(table.offers[end], offer, pointer)


def _misfits(kind: type[Message], value: object, place: str) -> Iterator[Problem]:
    try:
        from_wire(kind, value)
    except ValidationError as error:
        for one in problems(error, value):
            yield Problem(f"{place}{one.pointer}", one.expected, one.got)


def _read(augments: Iterable[AnyAugment], body: Any, place: str) -> Iterator[Problem]:
    for augment in augments:
        try:
            augment.read(body)
        except ValidationError as error:
            value = _raw(augment, body)
            for one in problems(error, value):
                yield Problem(f"{place}/{augment.member}{one.pointer}", one.expected, one.got)


def _raw(augment: AnyAugment, body: Any) -> object:
    if isinstance(augment, ErrorAugment):
        body = body.get("data")
    members = (body.model_extra or {}) if isinstance(body, Message) else body
    return members.get(augment.member) if is_object(members) else None


def _result_problems(tool: AnyTool, result: JsonObject) -> Iterator[Problem]:
    try:
        tool.decode_result(result)
    except RpcError:
        return  # the tool failed, and said so
    except ValidationError as error:
        structured = result.get("structuredContent")
        if structured is None and not tool.whole:
            first = next(iter(result["content"]), None)
            expected = f"a block of text that is the JSON of {tool.result.__name__}"
            yield Problem("/result/content/0", expected, shown(first))
            return
        place = "/result" if tool.whole else "/result/structuredContent"
        for one in problems(error, result if tool.whole else structured):
            yield Problem(place + one.pointer, one.expected, one.got)


def _messages(value: object, pointer: str) -> Iterator[tuple[str, Message]]:
    """Yield each message in `value`, itself included, with its place."""
    if isinstance(value, Message):
        yield pointer, value
        for name, field in type(value).__pydantic_fields__.items():
            yield from _messages(getattr(value, name), f"{pointer}/{field.alias or name}")
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            yield from _messages(item, f"{pointer}/{index}")
    elif is_object(value):
        for name, item in value.items():
            yield from _messages(item, f"{pointer}/{name}")
