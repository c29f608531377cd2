"""The method table says what the document says, row by row."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from kinwire_protocols.peer import Method
from tests.each import each
from tests.generated.messages import DOCUMENTS, generated_type

ROWS = [
    (document.name, name, entry)
    for document in DOCUMENTS
    for name, entry in document.content["methods"].items()
]


def module_of(protocol: str) -> Any:
    return import_module(f"kinwire_protocols.{protocol.replace('-', '')}.methods")


def row_of(protocol: str, name: str) -> Method[Any, Any]:
    found: Method[Any, Any] = module_of(protocol).PROTOCOL.methods[name]
    return found


def type_at(protocol: str, reference: str | None) -> Any:
    if reference is None:
        return None
    file, _, path = reference.partition("#")
    return generated_type(file.removesuffix(".json") or protocol, path.rpartition("/")[2])


@each(("protocol", "name", "entry"), ROWS)
def test_a_row_says_what_the_document_says(protocol: str, name: str, entry: Any) -> None:
    row = row_of(protocol, name)
    assert getattr(module_of(protocol), row.attribute.upper()) is row
    assert (row.name, row.protocol, row.section) == (name, protocol, entry["section"])
    assert (row.kind, row.sender, row.gate) == (entry["kind"], entry["from"], entry.get("gate"))
    assert row.serial is (entry.get("order") == "serial")
    assert (row.aliases, row.status) == (
        tuple(entry.get("aliases", ())),
        entry.get("status", "stable"),
    )
    assert row.params is type_at(protocol, entry["params"])
    assert row.result is type_at(protocol, entry.get("result"))


@each(("protocol", "name", "entry"), ROWS)
def test_a_row_has_the_errors_of_the_document(protocol: str, name: str, entry: Any) -> None:
    named = [tuple(text.rpartition("#")[::2]) for text in entry.get("errors", [])]
    expected = [(home or protocol, error) for home, error in named]
    assert [(kind.protocol, kind.name) for kind in row_of(protocol, name).errors] == expected


@pytest.mark.parametrize("document", DOCUMENTS, ids=[one.name for one in DOCUMENTS])
@pytest.mark.spec("mcp-mcp-specification-details-1")
def test_a_protocol_says_what_the_document_says(document: Any) -> None:
    table = import_module(f"kinwire_protocols.{document.module}.methods").PROTOCOL
    content = document.content
    assert (table.name, table.title, table.version, table.capability) == (
        content["protocol"],
        content["title"],
        content["version"],
        content.get("capability"),
    )
    offered = {end: f"#/$defs/{kind.__name__}" for end, kind in table.offers.items()}
    assert offered == content.get("offers", {})
    data = {name: f"#/$defs/{kind.__name__}" for name, kind in table.error_data.items()}
    assert data == {name: e["data"] for name, e in content["errors"].items() if "data" in e}
    assert list(table.methods) == list(content["methods"])
    found = {name: (kind.default_code, kind.default_message) for name, kind in table.errors.items()}
    assert found == {
        name: (entry["code"], entry["message"]) for name, entry in content["errors"].items()
    }
