"""What an import does not report is kept: a type takes the values that its source takes."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

from kinwire_codegen.imports.imported import Imported
from tests.codegen.imports.descriptions import findings, rpc
from tests.codegen.imports.test_openrpc import imported
from tests.each import each

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
VALUES: list[Any] = [
    *(None, True, 0, 1, 2.5, "", "a", "b", [], ["a"], [1], ["a", 1], ["a", 1, None]),
    *({}, {"a": 1}, {"a": "a"}, {"a": "a", "b": 1}, {"b": None}, {"c": {"a": "a"}}),
]
TYPES: dict[str, Any] = {
    "Base": {"type": "object", "properties": {"a": TEXT}},
    "Word": TEXT,
    "Tree": {
        "type": "object",
        "properties": {"c": {"oneOf": [TEXT, {"$ref": "#/components/schemas/Tree"}]}},
        "required": ["c"],
    },
}
BASE, WORD, TREE = ({"$ref": f"#/components/schemas/{name}"} for name in TYPES)

SAME: list[Any] = [
    True,
    {"anyOf": [True, TEXT]},
    {"anyOf": [False, TEXT]},
    {"oneOf": [TEXT, False, {"type": "null"}]},
    {"allOf": [True, NUMBER]},
    {"allOf": [WORD]},
    {"allOf": [WORD], "description": "A word."},
    {"allOf": [{"type": ["object", "boolean"]}]},
    {"type": "object", "required": ["a"]},
    {"type": "object", "properties": {"b": NUMBER}, "required": ["a"]},
    {"type": ["object", "null"], "required": ["a"]},
    {"allOf": [BASE, {"type": "object", "properties": {"b": NUMBER}, "required": ["a"]}]},
    {"allOf": [BASE, {"required": ["a", "b"]}]},
    {"allOf": [BASE], "required": ["a"]},
    {"type": "array", "items": [TEXT], "additionalItems": TEXT},
    {"type": "array", "prefixItems": [TEXT, TEXT], "items": False},
    TREE,
    {"type": "string", "deprecated": "Not any more."},
]
WIDER: list[tuple[Any, str]] = [
    (False, "P not"),
    ({"anyOf": [False, False]}, "P not"),
    ({"allOf": [TEXT, False]}, "P not"),
    ({"type": "array", "items": [TEXT, NUMBER]}, "P prefixItems"),
    ({"type": "array", "items": [TEXT, NUMBER], "additionalItems": False}, "P prefixItems"),
    ({"type": "array", "items": [TEXT], "additionalItems": NUMBER}, "P prefixItems"),
    ({"minimum": 1}, "P minimum"),
    ({"minimum": 1, "anyOf": [NUMBER, TEXT]}, "P minimum"),
    ({"required": ["a"], "minItems": 1}, "P required"),
    ({"allOf": [WORD, NUMBER]}, "AskParamsPropertiesP"),
]


def found(schema: Any) -> Imported:
    params = [{"name": "p", "required": True, "schema": schema}]
    return imported({**rpc({}, params=params), "components": {"schemas": TYPES}})


def taken(schema: Any, definitions: dict[str, Any]) -> list[Any]:
    validator = Draft202012Validator({"allOf": [schema], **definitions})
    return [value for value in VALUES if validator.is_valid(value)]


def by_source(schema: Any) -> list[Any]:
    if isinstance(schema, dict) and isinstance(schema.get("items"), list):
        rest = {key: one for key, one in schema.items() if key != "additionalItems"}
        others = schema.get("additionalItems", True)
        schema = {**rest, "prefixItems": schema["items"], "items": others}
    return taken(schema, {"components": {"schemas": TYPES}})


def by_document(content: dict[str, Any]) -> list[Any]:
    assert findings(content) == []
    field = content["$defs"]["AskParams"]["properties"]["p"]
    return taken(field, {"$defs": content["$defs"]})


@each("schema", SAME)
def test_a_type_takes_the_same_values_as_its_source(schema: Any) -> None:
    made = found(schema)
    assert (made.left_out, made.widened) == ((), ())
    assert by_document(made.content) == by_source(schema)


@each(("schema", "place"), WIDER)
def test_a_type_that_takes_more_is_reported(schema: Any, place: str) -> None:
    made = found(schema)
    assert any(place in line for line in made.widened)
    expected = by_source(schema)
    assert [value for value in by_document(made.content) if value in expected] == expected


def test_a_method_that_is_left_out_leaves_nothing_behind() -> None:
    content = rpc(TEXT)
    error = {"code": 1, "message": "Gone", "data": BASE}
    bad = {"name": "bad", "params": [{"name": "b", "schema": BASE}], "errors": [error]}
    content["methods"].append({**bad, "result": {"schema": {"type": 5}}})
    content["methods"].append({**bad, "name": "worse", "result": {}, "examples": [{"params": 5}]})
    made = imported(content)
    assert findings(made.content) == []
    assert list(made.content["methods"]) == ["ask"]
    assert made.content["errors"] == {}
    assert made.left_out == (
        "bad: BadResult type: 5 is not one of null, boolean, integer, number, string, array, "
        "object, or a list of them",
        "worse: it is not a well-formed method",
    )
