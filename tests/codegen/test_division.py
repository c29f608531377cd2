"""How the types of a large document are divided into modules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.emit.division import MOST, divided
from kinwire_codegen.load.document import Document
from tests.codegen.documents import documents, load_package, protocol

NOTE = {"description": "A type."}


def thing(*uses: str) -> dict[str, Any]:
    """Return an object that has a member of each of these types."""
    members = {f"m{at}": {"$ref": f"#/$defs/{name}"} | NOTE for at, name in enumerate(uses)}
    return {"type": "object", "properties": members} | NOTE


def row(params: str) -> dict[str, Any]:
    """Return a notification with params of that type."""
    return {
        "kind": "notification",
        "from": "client",
        "params": f"#/$defs/{params}",
        "summary": "Say it.",
        "section": "1",
    }


def chain(name: str, *end: str) -> dict[str, Any]:
    """Return four types, of which one uses the next and the last one `end`."""
    names = [f"{name}{at}" for at in range(4)]
    return {one: thing(*(names[at : at + 1] or end)) for at, one in enumerate(names, 1)}


def large(methods: dict[str, str], **types: Any) -> dict[str, Any]:
    """Return a document with methods by the type of their params, and enough of another subject."""
    others = {name: thing() for name in OTHERS[1:]} | {"Other00": thing(*OTHERS[1:])}
    rows = methods | {"others/list": "Other00"}
    return protocol(
        types=types | others, methods={wire: row(params) for wire, params in rows.items()}
    )


OTHERS = tuple(f"Other{at:02}" for at in range(MOST))
SUBJECTS = {"books/lend": "Lend0", "notifications/toy.shelves.moved": "Move0"}
LENDING = chain("Lend", "Shared")
MOVING = chain("Move", "Shared")


def test_what_one_subject_uses_is_together_and_the_rest_is_common() -> None:
    assert divided(Document(large(SUBJECTS, **LENDING, **MOVING, Shared=thing()))) == {
        "books": tuple(LENDING),
        "common": ("Shared",),
        "others": OTHERS,
        "shelves": tuple(MOVING),
    }


@pytest.mark.parametrize("wire", ["$/import", "import", "toy/import", "_import", "./toy:import.a"])
def test_a_subject_is_the_first_word_that_says_something(wire: str) -> None:
    found = divided(Document(large({wire: "Lend0"}, **LENDING, Shared=thing())))
    assert found["import_"] == (*LENDING, "Shared")


@pytest.mark.parametrize("wire", ["$/", "toy", "notifications/toy"])
def test_a_name_that_says_nothing_is_no_subject(wire: str) -> None:
    found = divided(Document(large({wire: "Lend0"}, **LENDING, Shared=thing())))
    assert found["methods"] == (*LENDING, "Shared")


@pytest.mark.parametrize(
    "content",
    [
        protocol(types={name: thing() for name in OTHERS}),
        protocol(types={name: thing() for name in (*OTHERS, "One")}),  # nobody uses them
        protocol(
            types=chain("Lend") | chain("Move"), methods={"a/a": row("Lend0"), "b/b": row("Move0")}
        ),
        large(SUBJECTS, **LENDING, **MOVING, Shared=thing(), books=thing()),
        large(SUBJECTS, **LENDING, **MOVING, Shared=thing(), common=thing()),
    ],
    ids=["small", "no subject", "two small subjects", "a type of that name", "a type named common"],
)
def test_a_document_is_divided_only_where_that_makes_sense(content: dict[str, Any]) -> None:
    assert divided(Document(content)) == {}


def test_types_that_need_one_another_are_together() -> None:
    circle = {
        "Lend3": thing("Lend0", "Shared"),
        "Shared": thing("Shared", "Back"),
        "Back": thing("Shared"),
    }
    found = divided(Document(large(SUBJECTS, **LENDING | circle, **MOVING)))
    assert found["books"] == tuple(LENDING)
    assert {"Shared", "Back"} <= {*found["common"]}


def test_a_divided_package_has_all_names_in_one_place(tmp_path: Path) -> None:
    schema = tmp_path / "schema"
    schema.mkdir()
    content = large(SUBJECTS, **LENDING, **MOVING, Shared=thing())
    assert len(divided(Document(content))) == 4
    with load_package(documents(schema, content), tmp_path / "out", "divided_bindings") as package:
        toy = importlib.import_module(f"{package.__name__}.toy")
        assert {*content["$defs"]} <= {*dir(toy)}
        loaded = [name for name in sys.modules if name.startswith(f"{toy.__name__}.models.")]
        assert loaded == []
        assert toy.Lend0(m0={"m0": {"m0": {"m0": None}}}).m0.m0.m0 is not None
        namespace: dict[str, Any] = {}
        exec(f"from {toy.__name__}.models import *", namespace)
        assert content["$defs"].keys() == namespace.keys() - {"__builtins__"}
        assert {kind.__module__ for kind in map(namespace.get, LENDING)} == {
            f"{toy.__name__}.models.books"
        }
