"""The schema of a tool's arguments, as clients and models meet it."""

from __future__ import annotations

from typing import Any

from kinwire_cli.inspection.input_schemas import schema_problems
from tests.each import each


def said(schema: dict[str, Any]) -> list[str]:
    found = schema_problems(schema, "#")
    return [f"{one.severity} {one.where}: {one.text}" for one in found]


A_B: dict[str, Any] = {"properties": {"a": {}, "b": {}}}
EITHER = [{"required": ["a"]}, {"required": ["b"]}]
ID = "https://x.test/y"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def property_of(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a/b": schema}}


@each(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"a": True, "b": {"type": ["string", "null"]}}},
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
        {"type": "object", "required": ["a"], "$ref": "#/$defs/A", "$defs": {"A": {}}},
        property_of({"$ref": "#/$defs/A/anyOf/1"}) | {"$defs": {"A": {"anyOf": [{}, {}]}}},
        property_of({"$ref": "#"}),
        property_of({"$ref": "#anchor"}),
        property_of({"type": "string", "pattern": "^(?=a)", "x-vendor": 5, "format": "date"}),
        property_of({"items": {"enum": [1, "a"]}, "minItems": 0}),
        property_of({**A_B, "anyOf": EITHER}),
        property_of({**A_B, "oneOf": [{"not": {"required": ["a"]}}, {"allOf": EITHER}]}),
        property_of({"allOf": [A_B, {"required": ["a"]}], "required": ["b"]}),
        {**A_B, "if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": EITHER[0]},
        {**A_B, "if": {}, "then": {"properties": {"c": {}}, "required": ["a", "c"]}},
        {**A_B, "dependentSchemas": {"a": {"required": ["b"]}}},
        property_of({"items": [{}, {"type": "string"}]}) | {"$schema": DRAFT_7},
        property_of({"$ref": f"{ID}#/$defs/A"}) | {"$id": ID, "$defs": {"A": {}}},
        property_of({"$ref": "y#/$defs/A"}) | {"$id": f"{ID}#", "$defs": {"A": {}}},
        property_of({"$ref": ID}) | {"$id": ID},
        property_of({"$ref": "urn:x:y#/$defs/A"}) | {"$id": "urn:x:y", "$defs": {"A": {}}},
    ],
)
def test_a_good_schema_earns_no_word(schema: dict[str, Any]) -> None:
    assert said(schema) == []


@each(
    ("schema", "problem"),
    [
        (
            property_of({"type": "strin"}),
            "error #/properties/a~1b/type: expected one or more of object, array, string, boolean, "
            'null, number, integer, got "strin".',
        ),
        (property_of(5), "error #/properties/a~1b: expected a schema, got 5."),
        ({"properties": 5}, "error #/properties: expected schemas, got 5."),
        (property_of({"items": [{}]}), "error #/properties/a~1b/items: expected a schema, got an"),
        (
            property_of({"minimum": "1"}),
            "error #/properties/a~1b/minimum: expected a number, got ",
        ),
        ({"required": "a"}, 'error #/required: expected a list of names, got "a".'),
        ({"required": ["a"]}, 'warning #/required: asks for "a", which is not in properties.'),
        ({"anyOf": [{"type": 5}]}, "error #/anyOf/0/type: expected one or more of"),
        ({"oneOf": []}, "warning #/oneOf: stands at the top, where some model providers refuse it"),
        (property_of({"$ref": "#/$defs/A"}), 'error #/properties/a~1b/$ref: refers to "#/$defs/A"'),
        (property_of({"$ref": "#/anyOf/7"}) | {"anyOf": [{}]}, "error #/properties/a~1b/$ref"),
        (property_of({"$ref": 5}), "error #/properties/a~1b/$ref: expected a reference, got 5."),
        (property_of({"$ref": "https://x.test/a"}), "warning #/properties/a~1b/$ref: refers to"),
        (
            property_of({"$ref": f"{ID}#/$defs/B"}) | {"$id": ID, "$defs": {"A": {}}},
            f'error #/properties/a~1b/$ref: refers to "{ID}#/$defs/B", which is not there.',
        ),
        (
            property_of({"$ref": f"{ID}/z#/$defs/A"}) | {"$id": ID, "$defs": {"A": {}}},
            f'warning #/properties/a~1b/$ref: refers to "{ID}/z#/$defs/A", which clients do not',
        ),
        (property_of({"$ref": "http://["}), "warning #/properties/a~1b/$ref: refers to"),
        (
            {**A_B, "anyOf": [{"required": ["c"]}]},
            'warning #/anyOf/0/required: asks for "c", which is not in properties.',
        ),
        (
            {**A_B, "properties": {"a": {"required": ["b"]}}},
            'warning #/properties/a/required: asks for "b", which is not in properties.',
        ),
        (
            property_of({"items": [{"type": 5}]}) | {"$schema": DRAFT_7},
            "error #/properties/a~1b/items/0/type: expected one or more of",
        ),
        (
            property_of({"pattern": "["}),
            'warning #/properties/a~1b/pattern: "[" may not be a valid pattern',
        ),
    ],
)
def test_a_problem_is_reported_with_its_place(schema: dict[str, Any], problem: str) -> None:
    assert any(line.startswith(problem) for line in said(schema)), said(schema)


def test_a_schema_without_end_is_read_to_a_depth() -> None:
    schema: dict[str, Any] = {"type": 5}
    for _ in range(2000):
        schema = {"not": schema}
    assert said(schema) == []
