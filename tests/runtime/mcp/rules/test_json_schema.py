"""JSON Schema for tools whose schema is given: what it refuses, and that others agree."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcp.rules.json_schema import JsonSchema
from tests.each import each

NUMBERS: list[Any] = [0, 1, 1.0, 1.5, -3, 7, True, "1", None]
TEXTS: list[Any] = ["", "a", "ab", "abc", "äöü", 1, None]
LISTS: list[Any] = [
    [],
    [1],
    [1, 1.0],
    [1, True],
    [1, "a", 2],
    [[1], [1]],
    [{"a": 1}, {"a": 1.0}],
    {},
]
OBJECTS: list[Any] = [{}, {"a": 1}, {"a": "x"}, {"a": 1, "b": 2}, {"b": None}, {"x": 1}, [], ""]
TREES: list[Any] = [{"v": 1}, {"v": 1, "next": {"v": 2}}, {"v": 1, "next": {"v": ""}}, {"next": 1}]

CASES: list[tuple[Any, list[Any]]] = [
    (True, NUMBERS),
    (False, NUMBERS),
    ({}, NUMBERS),
    *[({"type": name}, [*NUMBERS, [], {}]) for name in ("integer", "number", "string", "null")],
    ({"type": ["integer", "null"]}, NUMBERS),
    ({"type": "boolean"}, NUMBERS),
    ({"enum": [1, "1", None, [1], {"a": 1}]}, [*NUMBERS, [1.0], [True], {"a": 1.0}, {"a": 2}]),
    ({"const": 1}, NUMBERS),
    ({"const": {"a": [0]}}, [{"a": [0]}, {"a": [0.0]}, {"a": [False]}, {}]),
    ({"minimum": 1, "maximum": 7}, NUMBERS),
    ({"exclusiveMinimum": 1, "exclusiveMaximum": 7}, NUMBERS),
    ({"multipleOf": 0.5}, NUMBERS),
    ({"multipleOf": 7}, NUMBERS),
    ({"multipleOf": 7}, [7 * 10**400, 7 * 10**400 + 1]),
    ({"minLength": 1, "maxLength": 2}, TEXTS),
    ({"pattern": "b"}, TEXTS),
    ({"pattern": "^a+$"}, TEXTS),
    ({"minItems": 1, "maxItems": 2}, LISTS),
    ({"uniqueItems": True}, LISTS),
    ({"items": {"type": "integer"}}, LISTS),
    ({"prefixItems": [{"const": 1}, {"type": "string"}]}, LISTS),
    ({"prefixItems": [{"const": 1}], "items": False}, LISTS),
    ({"contains": {"type": "string"}}, LISTS),
    ({"contains": {"const": 1}, "minContains": 2}, LISTS),
    ({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}, LISTS),
    ({"minProperties": 1, "maxProperties": 1}, OBJECTS),
    ({"required": ["a"]}, OBJECTS),
    ({"properties": {"a": {"type": "integer"}}}, OBJECTS),
    ({"properties": {"a": True}, "additionalProperties": False}, OBJECTS),
    ({"properties": {"a": True}, "additionalProperties": {"type": "integer"}}, OBJECTS),
    ({"patternProperties": {"^x": {"type": "string"}}}, OBJECTS),
    ({"patternProperties": {"^x": True}, "additionalProperties": False}, OBJECTS),
    ({"propertyNames": {"maxLength": 1}}, OBJECTS),
    ({"dependentRequired": {"a": ["b"]}}, OBJECTS),
    ({"dependentSchemas": {"a": {"maxProperties": 1}}}, OBJECTS),
    ({"allOf": [{"minimum": 1}, {"type": "integer"}]}, NUMBERS),
    ({"anyOf": [{"minimum": 7}, {"type": "string"}]}, NUMBERS),
    ({"oneOf": [{"minimum": 1}, {"type": "integer"}]}, NUMBERS),
    ({"not": {"type": "integer"}}, NUMBERS),
    ({"if": {"type": "integer"}, "then": {"minimum": 1}, "else": {"type": "string"}}, NUMBERS),
    ({"if": {"type": "integer"}, "then": {"minimum": 1}}, NUMBERS),
    (
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
                    "required": ["v"],
                }
            },
        },
        TREES,
    ),
    ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "integer"}}}, NUMBERS),
    ({"properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}}, TREES),
]


@pytest.mark.parametrize(("schema", "values"), CASES, ids=str)
def test_a_value_is_refused_just_where_another_validator_refuses_it(
    schema: Any, values: list[Any]
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    other = jsonschema.Draft202012Validator(schema)
    for value in values:
        found = JsonSchema(schema).problems(value)
        assert (not found) == other.is_valid(value), (value, found)


@each(
    ("schema", "value", "problem"),
    [
        ({"type": "integer"}, "5", '/arguments: expected integer, got "5"'),
        ({"required": ["a/b"]}, {}, "/arguments/a~1b: expected a value, got nothing"),
        (
            {"properties": {"a": {"items": {"type": "string"}}}},
            {"a": ["x", 1]},
            "/arguments/a/1: expected string, got 1",
        ),
        (
            {"properties": {"a": True}, "additionalProperties": False},
            {"b": {}},
            "/arguments/b: expected no property of this name (known: a), got an object",
        ),
        ({"minimum": 3}, 1, "/arguments: expected at least 3, got 1"),
    ],
)
def test_a_problem_has_its_place_and_what_was_expected(
    schema: Any, value: Any, problem: str
) -> None:
    (found,) = JsonSchema(schema).problems(value, "/arguments")
    assert str(found) == problem


@each(
    ("schema", "message"),
    [
        ({"unevaluatedProperties": False}, "inputSchema#/unevaluatedProperties: .*cannot be check"),
        ({"properties": {"a": {"typ": "x"}}}, "inputSchema#/properties/a/typ: .*cannot be checked"),
        ({"type": "int"}, "inputSchema#/type: expected one or more of object, array"),
        ({"required": "a"}, "expected a list of names, got 'a'"),
        ({"minimum": "1"}, "expected a number, got '1'"),
        ({"minLength": -1}, "expected a number of things, got -1"),
        ({"multipleOf": 0}, "expected a number above 0, got 0"),
        ({"items": [{}]}, r"expected a schema, got \[{}\]"),
        ({"properties": 1}, "expected schemas, got 1"),
        ({"$ref": "http://example.com/"}, "expected a reference to a part of this schema"),
        ({"$ref": "#/$defs/none"}, r"inputSchema#/\$ref: expected a reference to a part"),
        ({"pattern": "(?=a)"}, "expected a pattern without look-around"),
        ({"pattern": "("}, "expected a pattern without look-around"),
        ({"patternProperties": {"(a)\\1": True}}, "expected a pattern without look-around"),
    ],
)
def test_a_schema_that_cannot_be_checked_is_refused_with_its_place(
    schema: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        JsonSchema(schema)


def test_multiples_are_those_of_the_digits_that_are_written() -> None:
    schema = JsonSchema({"multipleOf": 0.1})
    assert [bool(schema.problems(value)) for value in (0.3, 0.35, 1e300, float("inf"))] == [
        False,
        True,
        False,
        True,
    ]


def test_a_reference_in_a_circle_refuses_and_ends() -> None:
    (found,) = JsonSchema({"$ref": "#"}).problems(1)
    assert found.got == "a reference in a circle"


def test_of_very_many_problems_twenty_are_reported() -> None:
    assert len(JsonSchema({"items": {"type": "string"}}).problems(list(range(100_000)))) == 20


def test_a_pattern_does_not_hang_on_a_value_made_for_it() -> None:
    assert JsonSchema({"pattern": "^(a+)+$"}).problems("a" * 5000 + "!")


@each(
    ("keyword", "leaf", "fits"),
    [
        ("allOf", 1, True),
        ("anyOf", "wrong", False),
        ("oneOf", 1, False),  # both do
        ("oneOf", "wrong", False),
        ("not", 1, True),
    ],
)
def test_branches_that_each_look_at_all_the_rest_do_not_multiply(
    keyword: str, leaf: Any, fits: bool
) -> None:
    rest = {"properties": {"rest": {"$ref": "#"}, "leaf": {"type": "integer"}}}
    branches = [rest, dict(rest)]
    value: dict[str, Any] = {"leaf": leaf}
    for _ in range(50):
        value = {"rest": value}
    schema = {"not": {"not": {"allOf": branches}}} if keyword == "not" else {keyword: branches}
    assert (JsonSchema(schema).problems(value) == []) == fits
