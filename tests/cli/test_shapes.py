"""A schema in a few words."""

from __future__ import annotations

from typing import Any

from kinwire_cli.shapes import limits_of, shape_of, whole_shape
from tests.each import each


@each(
    ("schema", "shape"),
    [
        ({"type": "integer"}, "integer"),
        ({"type": ["integer", "null"]}, "integer | null"),
        ({"$ref": "#/$defs/Tool"}, "Tool"),
        ({"type": "array", "items": {"$ref": "#/$defs/Tool"}}, "Tool[]"),
        ({"type": "array", "items": {"enum": ["a", 1]}}, '("a" | 1)[]'),
        ({"type": "array"}, "array"),
        ({"type": "array", "items": True}, "array"),
        ({"const": "é"}, '"é"'),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"oneOf": [True, {"anyOf": 5}]}, "any | any"),
        ({}, "any"),
    ],
)
def test_the_type_of_a_schema(schema: dict[str, Any], shape: str) -> None:
    assert shape_of(schema) == shape


@each(
    ("definition", "shape"),
    [
        ({"type": "string", "enum": ["a", "b"]}, '("a" | "b")[]'),
        ({"const": 1}, "1[]"),
        ({"type": "object"}, "Kind[]"),
        (5, "Kind[]"),
    ],
)
def test_a_type_with_certain_values_only_is_those_values(definition: Any, shape: str) -> None:
    listed = {"type": "array", "items": {"$ref": "#/$defs/Kind"}}
    assert whole_shape(listed, {"$defs": {"Kind": definition}}) == shape
    assert whole_shape(listed, {}) == whole_shape(listed, "?") == shape_of(listed) == "Kind[]"


TRIP: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
STOP = {"properties": {"trip": {"$ref": "#/$defs/Trip"}, "again": {"$ref": "#/$defs/Stop"}}}
DEEP = {"properties": {"stop": {"$ref": "#/$defs/Stop"}}}
MANY = {"properties": {f"a{number}": {"type": "string"} for number in range(1000)}}
VALUES = {"properties": {"a": {"enum": list(range(1000))}}}


@each(
    ("schema", "shape"),
    [
        (TRIP, "{city: string, days?: integer}"),
        ({"$ref": "#/$defs/Trip"}, "{city: string, days?: integer}"),
        ({"type": "array", "items": TRIP}, "{city: string, days?: integer}[]"),
        ({"anyOf": [TRIP, {"type": "null"}]}, "{city: string, days?: integer} | null"),
        ({"allOf": [TRIP]}, "{city: string, days?: integer}"),
        ({**TRIP, "type": ["object", "null"]}, "{city: string, days?: integer} | null"),
        ({**TRIP, "required": 5}, "{city?: string, days?: integer}"),
        ({"$ref": "#/$defs/Stop"}, "{trip?: {city: string, days?: integer}, again?: Stop}"),
        ({"$ref": "#/$defs/Deep"}, "{stop?: {trip?: Trip, again?: Stop}}"),
        ({"$ref": "#"}, "{self?: object}"),
        ({"type": "object", "properties": {}}, "object"),
        ({"type": "object", "properties": 5}, "object"),
    ],
)
def test_objects_show_their_members_and_end_somewhere(schema: dict[str, Any], shape: str) -> None:
    kinds = {"Trip": TRIP, "Stop": STOP, "Deep": DEEP}
    root = {"properties": {"self": {"$ref": "#"}}, "$defs": kinds}
    assert whole_shape(schema, root) == shape


def test_what_is_wide_is_cut_short() -> None:
    shape = whole_shape(MANY, MANY)
    assert shape.startswith("{a0?: string, a1?: string, ")
    assert shape.endswith(", ...}")
    assert len(shape) < 130
    few = " | ".join(map(str, range(20)))
    assert whole_shape(VALUES, VALUES) == f"{{a?: {few} | ...}}"
    names = {"properties": {"a" * 200: TRIP, "b": TRIP}}
    assert whole_shape(names, names) == f"{{{'a' * 200}?: ..., ...}}"


def test_limits_are_worded_as_in_the_schema() -> None:
    schema = {"type": "string", "default": "a", "maxLength": 9, "pattern": "a|b", "minLength": 0}
    assert limits_of(schema) == ["minLength 0", "maxLength 9", 'pattern "a|b"', 'default "a"']
