"""Imported types that no binding keeps are weakened, and what they lose is listed."""

from __future__ import annotations

from typing import Any

from kinwire_codegen.imports.weakening import weakened
from kinwire_codegen.load.document import Document, Documents, Reference
from kinwire_codegen.load.shape_reading import ShapeReader
from tests.each import each

TEXT = {"type": "string"}
BASE = {"type": "object", "properties": {"n": {"type": "integer"}}}
REF = {"$ref": "#/$defs/Base"}
HELPERS: dict[str, Any] = {"Base": BASE, "Word": TEXT}


def thing(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


CASES: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    (
        {"oneOf": [TEXT, {"enum": ["a"]}]},
        {"anyOf": [TEXT, {"enum": ["a"]}]},
        ["It/oneOf: that only one branch may fit"],
    ),
    (
        thing(a={"allOf": [REF]}),
        thing(a={"$ref": "#/$defs/ItPropertiesA"}),
        [],
    ),
    (
        TEXT | {"pattern": "(?=a)"},
        TEXT,
        [
            "It/pattern: the bindings cannot apply the pattern: look-around and flags are not"
            " supported"
        ],
    ),
    ({"properties": {"n": TEXT}}, thing(n=TEXT), []),
    (
        thing(n=TEXT) | {"anyOf": [REF, {"required": ["n"]}]},
        thing(n=TEXT),
        ["It/anyOf/0: a union next to properties cannot be kept: both would have to hold"],
    ),
    (
        {"allOf": [REF, {"$ref": "#/$defs/Word"}]},
        {"allOf": [REF]},
        ["It/allOf/1: 'Word' is not an object with properties, so it cannot be extended"],
    ),
    (
        thing(n={"$ref": "#/$defs/Base", "enum": ["a"]}),
        thing(n={"$ref": "#/$defs/Base"}),
        ["It/properties/n/enum: enum next to $ref cannot be kept: both would have to hold"],
    ),
    (thing(n=TEXT) | {"required": ["n"]}, thing(n=TEXT) | {"required": ["n"]}, []),
]


@each(("given", "expected", "lost"), CASES)
def test_what_bindings_keep_is_left(
    given: dict[str, Any], expected: dict[str, Any], lost: list[str]
) -> None:
    made = {name: dict(node) for name, node in HELPERS.items()} | {"It": given}
    assert weakened(made, str) == lost
    assert made["It"] == expected
    documents = Documents({"x": Document({"protocol": "x", "$defs": made})}, {})
    reader = ShapeReader(documents)
    assert [reader.faults(Reference("x", name)) for name in made] == [()] * len(made)
