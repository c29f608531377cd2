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


def test_limits_are_worded_as_in_the_schema() -> None:
    schema = {"type": "string", "default": "a", "maxLength": 9, "pattern": "a|b", "minLength": 0}
    assert limits_of(schema) == ["minLength 0", "maxLength 9", 'pattern "a|b"', 'default "a"']
