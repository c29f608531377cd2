"""Data of a protocol outside its messages is the same in Python and in the document."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from kinwire_codegen.load.names import constant_name
from kinwire_protocols import mcplite
from kinwire_protocols.base import to_wire
from kinwire_protocols.tables import KeyedTable, Machine
from tests.each import each
from tests.generated.messages import DOCUMENTS


def entries(kind: str) -> list[Any]:
    return [
        pytest.param(
            getattr(
                import_module(f"kinwire_protocols.{document.module}.tables"), constant_name(name)
            ),
            entry,
            id=f"{document.name} {name}",
        )
        for document in DOCUMENTS
        for name, entry in document.table(kind).items()
    ]


@each(("table", "entry"), entries("tables"))
def test_a_table_has_the_rows_of_the_document(table: Any, entry: Any) -> None:
    keyed = isinstance(table, KeyedTable)
    assert keyed is ("key" in entry)
    rows = [to_wire(row) for row in (table.values() if keyed else table)]
    assert len(table) == len(entry["rows"])
    for row, binding in zip(rows, entry["rows"], strict=True):
        assert row == row | binding  # defaults of the type come on top
    if keyed:
        assert list(table) == [row[entry["key"]] for row in entry["rows"]]
        assert table.get("no such key") is None


@pytest.mark.parametrize(("machine", "entry"), entries("machines"))
def test_a_machine_runs_as_the_document_says(machine: Machine[Any], entry: Any) -> None:
    assert machine.initial == entry["initial"]
    assert machine.final == set(entry.get("final", ()))
    for step in entry["transitions"]:
        assert machine.after(step["from"], step["on"]) == step["to"]
        assert machine.allows(step["from"], step["to"])
    assert machine.after(machine.initial, "no such event") is None
    for state in machine.final:
        assert not any(machine.allows(state, other) for other in machine.states)


@each(("value", "entry"), entries("limits"))
def test_a_limit_is_what_the_document_says(value: Any, entry: Any) -> None:
    assert (value, type(value)) == (entry["value"], type(entry["value"]))


def test_the_binding_to_http_is_what_the_document_says() -> None:
    (document,) = (one for one in DOCUMENTS if "http" in one.content)
    binding, made = document.content["http"], mcplite.tables.HTTP
    assert (made.base, made.verb) == (binding["base"], binding["verb"])
    base = binding["base"].rstrip("/")
    live = {
        name: (
            f"{base}/{name}",
            node["method"],
            tuple(node.get("aliases", ())),
        )
        for name, node in binding["paths"].items()
        if node.get("status") != "considered"
    }
    found = {name: (one.path, one.method, one.aliases) for name, one in made.paths.items()}
    assert found == live
