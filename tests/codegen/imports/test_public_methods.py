"""Methods of public JSON-RPC services: the document language can say each, and import keeps each.

`public_methods.txt` has their names and the shapes of params and results: the examples of OpenRPC,
the Ethereum Classic specification, Ethereum's execution APIs, and Starknet.
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kinwire_codegen.imports.imported import ImportSource
from kinwire_codegen.imports.openrpc import openrpc_document
from kinwire_codegen.lint import RESERVED
from kinwire_codegen.load.names import snake_name
from tests.codegen.documents import documents, load_package, protocol
from tests.codegen.imports.descriptions import findings

Node = dict[str, Any]

TABLE = Path(__file__).with_name("public_methods.txt")
LINE = re.compile(r"(?P<name>[^ (*]+)(?P<position>\*?)\((?P<params>.*)\)(?: -> (?P<result>.+))?")
SHAPES: dict[str, Node] = {
    "any": {},
    "bool": {"type": "boolean"},
    "integer": {"type": "integer"},
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "null": {"type": "null"},
    "number": {"type": "number"},
    "object": {"$ref": "#/$defs/Thing"},
    "text": {"type": "string"},
    "word": {"enum": ["one", "two"]},
}
THING = {
    "description": "Stands for any object.",
    "type": "object",
    "properties": {"id": {"type": "string"}},
}


class Public(NamedTuple):
    name: str
    by_position: bool
    params: dict[str, Node]
    required: list[str]
    result: Node | None


def shape(text: str) -> Node:
    """Return the type that a shape of the table stands for."""
    branches = re.split(r" \| (?![^\[]*\])", text)  # not inside of a list
    if len(branches) > 1:
        return {"anyOf": [shape(branch) for branch in branches]}
    if text.startswith("["):
        return {"type": "array", "items": shape(text[1:-1])}
    return SHAPES[text]


def public(line: str) -> Public:
    found = LINE.fullmatch(line)
    assert found is not None, line
    pairs = [one.rsplit(": ", 1) for one in found["params"].split(", ") if one]
    return Public(
        found["name"],
        bool(found["position"]),
        {name.removesuffix("?"): shape(kind) for name, kind in pairs},
        [name for name, _ in pairs if not name.endswith("?")],
        shape(found["result"]) if found["result"] else None,
    )


LINES = TABLE.read_text(encoding="utf-8").splitlines()


def groups() -> list[list[Public]]:
    """The methods of the table, a document each where a name occurs again."""
    found: list[list[Public]] = [[]]
    for line in LINES:
        if not line.startswith("#"):
            one = public(line)
            if one.name in {other.name for other in found[-1]}:
                found.append([])
            found[-1].append(one)
    return found


def written(methods: list[Public]) -> Node:
    """Return a document with the methods as its author writes it."""
    types: Node = {"Thing": THING}
    rows: Node = {}
    for number, one in enumerate(methods):
        row: Node = {
            "kind": "notification" if one.result is None else "request",
            "from": "client",
            "section": "Public",
            "summary": f"`{one.name}`.",
        }
        if one.params:
            fields: Node = {"properties": one.params, "required": one.required}
            types[f"P{number}"] = {"description": "Params.", "type": "object", **fields}
            row["params"] = f"#/$defs/P{number}"
            row |= {"paramsBy": "position"} if one.by_position else {}
        if one.result is not None:
            types[f"R{number}"] = {"description": "A result.", **one.result}
            row["result"] = f"#/$defs/R{number}"
        rows[one.name] = row
    return protocol("public", types, methods=rows)


def described(methods: list[Public]) -> Node:
    """Return an OpenRPC description of the methods."""
    rows = []
    for one in methods:
        params: list[Node] = [
            {"name": name, "required": name in one.required, "schema": kind}
            for name, kind in one.params.items()
        ]
        row: Node = {"name": one.name, "params": params}
        row |= {"paramStructure": "by-position"} if one.by_position else {}
        row |= {} if one.result is None else {"result": {"name": "r", "schema": one.result}}
        rows.append(row)
    text = json.dumps({"methods": rows, "components": {"schemas": {"Thing": THING}}})
    found: Node = json.loads(text.replace("#/$defs/", "#/components/schemas/"))
    return found


def test_the_document_language_can_say_every_public_method() -> None:
    made = [written(methods) for methods in groups()]
    assert sum(len(one["methods"]) for one in made) == 216
    assert [finding for one in made for finding in findings(one)] == []


def test_every_public_method_is_imported_without_a_loss() -> None:
    for methods in groups():
        source = ImportSource((Path("rpc.json"),), frozenset(RESERVED), "public", "1")
        found = openrpc_document(described(methods), source)
        assert found.losses == 0, (found.left_out, found.widened)
        assert findings(found.content) == []
        rows = written(methods)["methods"]
        assert found.content["methods"].keys() == rows.keys()
        for name, row in found.content["methods"].items():
            assert row.keys() == rows[name].keys(), name


@pytest.mark.slow
def test_a_stub_is_generated_for_every_public_method(tmp_path: Path) -> None:
    for index, methods in enumerate(groups()):
        (tmp_path / str(index)).mkdir()
        found = documents(tmp_path / str(index), written(methods))
        with load_package(found, tmp_path / "out", f"public_{index}") as package:
            stub = importlib.import_module(f"{package.__name__}.public").ServerStub
            assert all(callable(getattr(stub, snake_name(one.name))) for one in methods)
