"""Lenient readings of values: what is accepted, what it becomes, and what stays refused."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from kinwire_protocols import mcp, mcpe, mcpl
from kinwire_protocols.base import Message, OpenUnion, UnknownVariant, from_wire, to_wire
from kinwire_protocols.lenient import READINGS, LenientReading
from kinwire_protocols.problems import Problem, problems
from tests.each import each
from tests.generated.messages import alone

GUIDE = Path(__file__).parents[2] / "docs" / "bindings.md"
TEXT = {"type": "text", "text": "a"}
LINK = {"type": "resource_link", "uri": "file:///a", "size": {"bytes": 5.0}}


def read(kind: type[Message], value: object) -> tuple[Any, list[tuple[str, str]]]:
    """Return the message, and name and place of each lenient reading."""
    found: list[tuple[str, str]] = []

    def noticed(reading: LenientReading, where: str, problem: Problem) -> None:
        found.append((reading.name, f"{where}#{problem.pointer}"))

    return from_wire(kind, value, noticed), found


@each(("given", "expected"), [(5.0, 5), (-0.0, 0), (1e20, 10**20), (-3.0, -3), (1e300, int(1e300))])
def test_an_integral_number_is_an_integer(given: float, expected: int) -> None:  # C012
    made, found = read(mcp.Resource, {"uri": "u", "name": "n", "size": given})
    assert (made.size, type(made.size)) == (expected, int)
    assert found == [("integral-number", "Resource#/size")]


@each("given", [5.5, float("inf"), float("nan"), True, "5", 1e-9])
def test_other_numbers_are_not_integers(given: object) -> None:  # C012
    with pytest.raises(ValidationError, match="size"):
        from_wire(mcp.Resource, {"uri": "u", "name": "n", "size": given})


def test_a_number_that_may_be_a_fraction_keeps_its_kind() -> None:
    made, found = read(mcp.ProgressNotificationParams, {"progressToken": 1, "progress": 5.0})
    assert (type(made.progress), found) == (float, [])


def test_an_empty_array_is_an_empty_object_wherever_one_is_expected() -> None:  # C014
    value = {
        "protocolVersion": "2024-11-05",
        "capabilities": {"logging": [], "experimental": [], "tools": []},
        "serverInfo": {"name": "s", "version": "1"},
        "_meta": [],
    }
    made, found = read(mcp.InitializeResult, value)
    assert to_wire(made)["capabilities"] == {"logging": {}, "experimental": {}, "tools": {}}
    assert (made.meta, len(found)) == ({}, 4)
    assert value["capabilities"]["logging"] == []  # type: ignore[index]


def test_an_array_with_items_is_refused_with_its_place() -> None:  # C014
    value = {"experimental": [], "roots": [1]}
    with pytest.raises(ValidationError) as caught:
        from_wire(mcp.ClientCapabilities, value)
    assert "/roots: expected an object, got an array" in map(str, problems(caught.value, value))


def test_an_array_stays_one_where_it_is_legal() -> None:
    made, found = read(mcp.CallToolResult, {"content": [], "structuredContent": []})
    assert (made.content, found) == ([], [])
    assert made.model_extra == {"structuredContent": []}


def test_an_unknown_block_is_kept_with_its_fields() -> None:  # C013
    made, found = read(mcp.CallToolResult, {"content": [TEXT, LINK, {"type": "(unread)"}]})
    known, unknown, odd = made.content
    assert isinstance(known, mcp.TextContent)
    assert isinstance(unknown, UnknownVariant)
    assert isinstance(odd, UnknownVariant)
    assert (unknown.fields, unknown.type) == (LINK, "resource_link")
    assert found[0] == ("unknown-variant", "CallToolResult#/content/1/type")
    assert to_wire(made)["content"] == [TEXT, LINK, {"type": "(unread)"}]
    assert json.loads(made.model_dump_json(by_alias=True, exclude_none=True))["content"][1] == LINK


def test_a_message_made_with_an_unknown_block_is_refused() -> None:  # C013
    made, _ = read(mcp.CallToolResult, {"content": [LINK]})
    for block in (made.content[0], LINK, {"type": "(unread)"}):
        with pytest.raises(ValidationError, match="'type' set to one of 'text', 'image'"):
            mcp.CallToolResult(content=[block])  # type: ignore[list-item]


def unions() -> Iterator[Any]:
    for module in (mcp, mcpl, mcpe):
        for name, alias in vars(module.models).items():
            value = getattr(alias, "__value__", None)
            marks = [mark for mark in get_args(value) if isinstance(mark, OpenUnion)]
            if marks:
                yield pytest.param(module.PROTOCOL.name, name, marks[0].tag, id=name)


@each(("protocol", "name", "tag"), list(unions()))
def test_every_tagged_union_keeps_what_it_does_not_know(protocol: str, name: str, tag: str) -> None:
    value = {tag: "nobody-knows", "a": [1, {"b": None}]}
    assert alone(protocol, name, value) == value
    for wrong in ({tag: 5}, {tag: None}, {"a": 1}):
        with pytest.raises(ValidationError):
            alone(protocol, name, wrong)


def test_every_tagged_union_of_the_documents_is_open() -> None:
    assert len(list(unions())) == 6
    for module in (mcp, mcpl, mcpe):
        assert "discriminator=" not in Path(str(module.models.__file__)).read_text()


def test_the_json_schema_has_only_the_known_blocks() -> None:
    schema = mcp.CallToolResult.model_json_schema()["$defs"]["ContentBlock"]
    assert set(schema["discriminator"]["mapping"]) == {"text", "image", "audio", "resource"}
    assert len(schema["oneOf"]) == 4


def test_a_value_with_another_fault_is_refused_as_it_came() -> None:
    value = {"content": [LINK, {"type": "text", "text": 5}]}
    with pytest.raises(ValidationError) as caught:
        from_wire(mcp.CallToolResult, value)
    assert caught.value.error_count() == 2


def test_corrections_are_bounded() -> None:
    many = {"content": [{"type": "x"}] * 1000}
    assert len(from_wire(mcp.CallToolResult, many).content) == 1000
    more = {"content": [{"type": "x"}] * 100_000}
    began = time.perf_counter()
    with pytest.raises(ValidationError):
        from_wire(mcp.CallToolResult, more)
    assert time.perf_counter() - began < 5


def test_the_guide_has_the_table_of_the_code() -> None:
    rows = [
        row for row in GUIDE.read_text().splitlines() if re.match(r"\| `[a-z]+-[a-z]+` \|", row)
    ]
    cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
    assert cells == [[f"`{row.name}`", row.read, row.understood, row.logged] for row in READINGS]
