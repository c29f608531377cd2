"""How the types of a large document are divided into modules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.emit.division import MAX_TOGETHER, MIN_OF_SUBJECT, divide
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


def chain(name: str, *end: str, length: int = MIN_OF_SUBJECT) -> dict[str, Any]:
    """Return types, of which one uses the next and the last one `end`."""
    names = [f"{name}{at}" for at in range(length)]
    return {one: thing(*(names[at : at + 1] or end)) for at, one in enumerate(names, 1)}


def large(methods: dict[str, str], **types: Any) -> dict[str, Any]:
    """Return a document with methods by the type of their params, and enough of another subject."""
    others = {name: thing() for name in OTHERS[1:]} | {"Other00": thing(*OTHERS[1:])}
    rows = methods | {"others/list": "Other00"}
    return protocol(
        types=types | others, methods={wire: row(params) for wire, params in rows.items()}
    )


OTHERS = tuple(f"Other{at:02}" for at in range(MAX_TOGETHER))
SUBJECTS = {"books/lend": "Lend0", "notifications/toy.shelves.moved": "Move0"}
LENDING = chain("Lend", "Shared")
MOVING = chain("Move", "Shared")


def test_what_one_subject_uses_is_together_and_the_rest_is_common() -> None:
    assert divide(Document(large(SUBJECTS, **LENDING, **MOVING, Shared=thing()))) == {
        "books": tuple(LENDING),
        "common": ("Shared",),
        "others": OTHERS,
        "shelves": tuple(MOVING),
    }


def test_what_the_handshake_uses_is_with_the_offers_whatever_else_uses_it() -> None:
    offering = chain("Offer", "Shared")
    content = large(SUBJECTS, **LENDING, **MOVING, **offering, Shared=thing("Inner"), Inner=thing())
    assert divide(Document(content | {"offers": {"client": "#/$defs/Offer0"}})) == {
        "books": tuple(LENDING),
        "offers": ("Inner", *offering, "Shared"),
        "others": OTHERS,
        "shelves": tuple(MOVING),
    }


@pytest.mark.parametrize("wire", ["$/import", "import", "toy/import", "_import", "./toy:import.a"])
def test_a_subject_is_the_first_word_that_says_something(wire: str) -> None:
    found = divide(Document(large({wire: "Lend0"}, **LENDING, Shared=thing())))
    assert found["import_"] == (*LENDING, "Shared")


@pytest.mark.parametrize("wire", ["$/", "toy", "notifications/toy"])
def test_a_name_that_says_nothing_is_no_subject(wire: str) -> None:
    found = divide(Document(large({wire: "Lend0"}, **LENDING, Shared=thing())))
    assert found["methods"] == (*LENDING, "Shared")


def test_a_subject_with_few_types_of_its_own_has_no_module() -> None:
    few = chain("Lend", "Shared", length=MIN_OF_SUBJECT - 1)
    found = divide(Document(large(SUBJECTS, **few, **MOVING, Shared=thing())))
    assert found.keys() == {"common", "others", "shelves"}
    assert found["common"] == (*few, "Shared")


@pytest.mark.parametrize("types", [OTHERS, (*OTHERS, "One")], ids=["small", "no subject"])
def test_what_is_small_or_has_no_subject_is_not_divided(types: tuple[str, ...]) -> None:
    assert divide(Document(protocol(types={name: thing() for name in types}))) == {}


@pytest.mark.parametrize(
    "types",
    [{"Idle": thing("Lend4", "Idle")}, {"Idle": thing("Back", "Lend4"), "Back": thing("Idle")}],
    ids=["itself", "each other"],
)
def test_what_no_row_uses_is_common_with_all_that_it_uses(types: dict[str, Any]) -> None:
    lending = chain("Lend", "Shared", length=5)
    found = divide(Document(large(SUBJECTS, **lending, **MOVING, Shared=thing(), **types)))
    assert found["common"] == tuple(sorted({*types, "Lend4", "Shared"}))
    assert found["books"] == ("Lend0", "Lend1", "Lend2", "Lend3")


def test_types_that_need_one_another_are_together() -> None:
    circle = {
        "Lend3": thing("Lend0", "Shared"),
        "Shared": thing("Shared", "Back"),
        "Back": thing("Shared"),
    }
    found = divide(Document(large(SUBJECTS, **LENDING | circle, **MOVING)))
    assert found["books"] == tuple(LENDING)
    assert {"Shared", "Back"} <= {*found["common"]}


OFFERING = large(SUBJECTS, **LENDING, **MOVING, **chain("Offer", "Shared"), Shared=thing())
CONTENTS = [
    (large(SUBJECTS, **LENDING, **MOVING, Shared=thing()), "books"),
    (OFFERING | {"offers": {"client": "#/$defs/Offer0"}}, "books"),
    (large({"models/list": "Lend0"}, **LENDING, Shared=thing()), "models"),
    (large(SUBJECTS, **LENDING, **MOVING, Shared=thing(), Idle=thing("Lend0", "Idle")), "common"),
]


@pytest.mark.parametrize(("content", "home"), CONTENTS, ids=["books", "offers", "models", "idle"])
def test_a_divided_package_has_all_names_in_one_place(
    content: dict[str, Any], home: str, tmp_path: Path
) -> None:
    schema = tmp_path / "schema"
    schema.mkdir()
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
            f"{toy.__name__}.models.{home}"
        }
