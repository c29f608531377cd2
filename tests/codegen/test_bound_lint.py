"""Bounds that say nothing of the values they stand with, and what would come of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.lint import lint
from kinwire_codegen.load.bounds import BOUNDS
from tests.codegen.documents import build_types, documents, protocol

Node = dict[str, Any]

TEXT: Node = {"type": "string"}
WHOLE: Node = {"type": "integer"}
TEXTS: Node = {"type": "array", "items": TEXT}
VALUES: Node = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), 1),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), 1),
    "pattern": "a",
    "uniqueItems": True,
}
KINDS: dict[str, Node] = {
    "string": TEXT,
    "array": TEXTS,
    "integer": WHOLE,
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "object": {"type": "object", "additionalProperties": True},
}


def findings(folder: Path, member: Node) -> list[str]:
    types: Node = {
        "Thing": {"type": "object", "properties": {"a": member}},
        "Word": {"$ref": "#/$defs/Text"},
        "Text": TEXT,
    }
    described = {name: {"description": "A type."} | node for name, node in types.items()}
    return [str(finding) for finding in lint(documents(folder, protocol(types=described)))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", VALUES)
def test_a_bound_stands_with_its_own_kinds_alone(key: str, kind: str, tmp_path: Path) -> None:
    assert VALUES.keys() == BOUNDS.keys()
    found = findings(tmp_path, KINDS[kind] | {key: VALUES[key]})
    assert [one for one in found if key in one] == found
    assert bool(found) == (kind not in BOUNDS[key])


@pytest.mark.parametrize(
    ("member", "said"),
    [
        pytest.param(
            TEXT | {"maxItems": 2},
            "maxItems does not apply to the type string."
            " Remove it, or write it where the type is array.",
            id="a text",
        ),
        pytest.param(
            {"minimum": 2},
            "minimum does not apply to a type that names no kind of values."
            " Remove it, or write it where the type is integer or number.",
            id="any value",
        ),
        pytest.param(
            {"anyOf": [TEXT, TEXTS], "maxLength": 3},
            "maxLength does not apply to a type that names no kind of values."
            " Remove it, or write it where the type is string.",
            id="next to a union",
        ),
        pytest.param(
            {"$ref": "#/$defs/Word", "minItems": 1},
            "minItems does not apply to the type string."
            " Remove it, or write it where the type is array.",
            id="another name of a text",
        ),
        pytest.param(
            {"enum": [1, 2], "maxLength": 1},
            "maxLength does not apply to the type integer."
            " Remove it, or write it where the type is string.",
            id="single values",
        ),
    ],
)
def test_a_bound_that_says_nothing_is_refused(member: Node, said: str, tmp_path: Path) -> None:
    (key,) = member.keys() & BOUNDS.keys()
    assert findings(tmp_path, member) == [f"toy.json#/$defs/Thing/properties/a/{key}: {said}"]


@pytest.mark.parametrize(
    "member",
    [
        pytest.param({"type": ["string", "null"], "maxLength": 3}, id="a text or null"),
        pytest.param({"type": ["string", "integer"], "maxLength": 3}, id="a text or a number"),
        pytest.param({"$ref": "#/$defs/Word", "maxLength": 3}, id="another name of a text"),
        pytest.param({"enum": ["a", "b"], "maxLength": 1}, id="single texts"),
        pytest.param({"anyOf": [TEXT | {"maxLength": 3}, WHOLE]}, id="in its branch"),
    ],
)
def test_a_bound_that_says_something_of_one_kind_is_let_through(
    member: Node, tmp_path: Path
) -> None:
    assert findings(tmp_path, member) == []


def test_the_bindings_heed_what_is_let_through_as_validators_do(tmp_path: Path) -> None:
    members = {
        "a": {"type": ["string", "integer", "null"], "maxLength": 2},
        "b": {"$ref": "#/$defs/Text", "maxLength": 2},
        "c": {"type": ["array", "string"], "items": TEXT, "maxLength": 2},
        "d": {"$ref": "#/$defs/Other", "maxLength": 2},
    }
    thing = {"type": "object", "properties": members}
    with build_types(tmp_path, Thing=thing, Text=TEXT, Other={"$ref": "#/$defs/Text"}) as models:
        for taken in ({"a": 123}, {"a": None}, {"b": "ab"}, {"c": ["x", "y", "z"]}, {"c": "ab"}):
            assert models.Thing.model_validate(taken)
        for refused in ({"a": "abc"}, {"b": "abc"}, {"c": "abc"}, {"d": "abc"}):
            with pytest.raises(ValueError, match="at most 2"):
                models.Thing.model_validate(refused)
