"""A schema in a few words."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.cli.shapes import limits_of, shape_of


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    assert shape_of(listed, {"Kind": definition}) == shape
    assert shape_of(listed, {}) == shape_of(listed, "?") == "Kind[]"


def test_limits_are_worded_as_in_the_schema() -> None:
    schema = {"type": "string", "default": "a", "maxLength": 9, "pattern": "a|b", "minLength": 0}
    assert limits_of(schema) == ["minLength 0", "maxLength 9", 'pattern "a|b"', 'default "a"']
