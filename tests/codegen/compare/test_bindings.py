"""What stops programs that use the bindings, whatever goes over the wire."""

from __future__ import annotations

import pytest

from kinwire_codegen.compare.change import DocumentChange
from kinwire_codegen.compare.verdict import Category, Level
from tests.codegen.compare.documents import (
    Node,
    against,
    at,
    changing,
    edited,
    golden,
    toy,
)


def of_bindings(old: Node, new: Node) -> list[DocumentChange]:
    return against(old, new).of(Category.BINDINGS)


def test_a_class_that_is_gone_stops_programs_though_nothing_sends_it() -> None:
    old = edited(toy(), changing("$defs", "Spare", {"description": "A.", "type": "string"}))
    (change,) = of_bindings(old, toy())
    assert (change.rule.name, change.what) == ("class-removed", "Spare is gone")
    assert (change.level, list(map(str, change.breaks))) == (Level.BREAKING, ["old programs"])


@pytest.mark.parametrize("row", ["params", "result"])
def test_another_class_of_the_same_shape_is_another_type_to_programs(row: str) -> None:
    def twin(content: Node) -> None:
        content["$defs"]["Twin"] = content["$defs"]["AskParams"]

    old = edited(toy(), twin)
    new = edited(old, changing("methods/ask", row, "#/$defs/Twin"))
    found = {change.rule.name: change.what for change in of_bindings(old, new)}
    was = {"params": "AskParams", "result": "AskResult"}[row]
    assert found == {"annotation-changed": f"ask {row}: Twin in Python, and was {was}"}


def test_another_class_of_a_member_is_another_type_to_programs() -> None:
    def twin(content: Node) -> None:
        content["$defs"]["Twin"] = content["$defs"]["Part"]

    old = edited(toy(), twin)
    path = "$defs/AskParams/properties"
    new = edited(old, changing(path, "c", {"$ref": "#/$defs/Twin"}))
    (change,) = of_bindings(old, new)
    assert change.what == "AskParams.c is Twin in Python, and was Part"
    assert against(old, new).of(Category.WIRE) == []


def test_a_constant_of_the_tables_that_is_gone_stops_programs() -> None:
    old = golden()["tiny"].content

    def edit(content: Node) -> None:
        content["limits"].pop(next(iter(content["limits"])))

    (change,) = of_bindings(old, edited(old, edit))
    assert (change.rule.name, change.level) == ("constant-removed", Level.BREAKING)


def test_a_tool_that_meets_a_method_of_its_name_is_called_otherwise() -> None:
    old = golden()["tiny"].content

    def edit(content: Node) -> None:
        content["methods"]["dust"] = at(content, "methods/books~find")

    (change,) = of_bindings(old, edited(old, edit))
    assert change.what == "dust was dust in Python and is dust_tool"


def test_a_removed_anchor_is_reported_to_readers() -> None:
    new = edited(toy(), changing("$defs/AskParams/properties", "b", None))
    found = [one for one in against(toy(), new).of(Category.DOCS)]
    assert [(one.rule.name, one.what) for one in found] == [
        (
            "anchor-removed",
            "the anchor of AskParams.b is gone: toy/methods/ask.md#params.b",
        )
    ]
