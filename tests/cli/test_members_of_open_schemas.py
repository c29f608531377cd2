"""Words that a schema may allow are not errors: they are sent, and the server decides."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire_cli.failure import UsageError
from kinwire_cli.members import members_from, missing_from
from tests.each import each

NAMED: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}


@each(
    "more",
    [
        {"additionalProperties": {}},
        {"additionalProperties": True},
        {"additionalProperties": {"type": "string"}},
        {"patternProperties": {"^x-": {}}},
        {"if": {"required": ["city"]}},
        {"then": {"properties": {"ctiy": {}}}},
        {"else": {"properties": {"ctiy": {}}}},
        {"dependentSchemas": {"city": {"properties": {"ctiy": {}}}}},
        {"dependencies": {"city": {"properties": {"ctiy": {}}}}},
        {"unevaluatedProperties": {}},
        {"required": ["ctiy"]},
        {"allOf": [{"required": ["ctiy"]}]},
        {"allOf": [{"$ref": "https://example.com/more"}]},
        {"$ref": "#more"},
        {"anyOf": [{"required": ["city"]}, {}]},
        {"additionalProperties": False, "patternProperties": {"^ct": {}}},
        {"additionalProperties": False, "patternProperties": {"^(?=ct)": {}}},
    ],
)
def test_a_possible_member_is_not_an_error(more: dict[str, Any]) -> None:
    assert members_from(["ctiy=Ulm"], {**NAMED, **more}) == {"ctiy": "Ulm"}


@each(
    "more",
    [
        {},
        {"additionalProperties": False},
        {"additionalProperties": False, "patternProperties": {"^x-": {}}},
        {"additionalProperties": False, "if": {"required": ["city"]}},
        {"required": ["city"]},
    ],
)
def test_an_impossible_member_is_reported(more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="unknown parameter 'ctiy'") as refused:
        members_from(["ctiy=Ulm"], {**NAMED, **more})
    assert refused.value.hint == "Did you mean 'city'?"


ANCHORED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"$ref": "#anchor"},
        "either": {"anyOf": [{"type": "integer"}, {"$ref": "#anchor"}]},
        "count": {"type": "integer", "$ref": "#anchor"},
        "b": {"type": "integer"},
    },
    "required": ["b"],
    "$defs": {"A": {"$anchor": "anchor", "type": "string"}},
}


@each(
    ("word", "members"),
    [
        ("a=5", {"a": "5"}),
        ("a.x=5", {"a": {"x": "5"}}),
        ("either=x", {"either": "x"}),
        ("either.x=5", {"either": {"x": "5"}}),
        ("count=5", {"count": 5}),
    ],
)
def test_where_a_reference_cannot_be_followed_any_value_may_stand(
    word: str, members: dict[str, Any]
) -> None:
    assert members_from([word, "b=1"], ANCHORED) == {**members, "b": 1}
    assert missing_from({**members, "b": 1}, [word], ANCHORED) == []


TYPED: dict[str, Any] = {
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": "integer", "nullable": True},
        "c": {"type": "string", "enum": ["x", "y"], "nullable": True},
        "d": {"$ref": "#/$defs/Color", "nullable": True},
        "e": {"nullable": True},
        "f": {"type": "number"},
        "g": {"anyOf": [{"type": "integer"}, {}]},
        "h": {"oneOf": [{"type": "integer"}, True]},
    },
    "$defs": {"Color": {"enum": ["red", "green"]}},
}


@each(
    ("word", "value"),
    [
        ("a=3.0", 3),
        ("a=1e3", 1000),
        ("a=-2.50e1", -25),
        ("a=9007199254740993.0", 2**53 + 1),
        ("a=1e30", 10**30),
        ("b=3.0", 3),
        ("b=null", None),
        ("c=null", None),
        ("c=x", "x"),
        ("d=null", None),
        ("d=red", "red"),
        ("e=5", "5"),
        ("f=3.0", 3.0),
        ("g=x", "x"),
        ("h=x", "x"),
    ],
)
def test_a_value_is_read_as_json_schema_and_openapi_have_it(word: str, value: object) -> None:
    (read,) = members_from([word], TYPED).values()
    assert (read, type(read)) == (value, type(value))


@each(
    ("word", "message"),
    [
        ("a=3.5", "expected integer"),
        ("a=3.00000000000000000001", "expected integer"),
        ("a=null", "expected integer"),
        ("b=x", "expected integer or null"),
        ("c=z", 'expected "x", "y" or null'),
    ],
)
def test_a_value_that_cannot_fit_is_reported(word: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        members_from([word], TYPED)


PATTERNS: dict[str, Any] = {
    "properties": {"x-name": {"type": "string"}},
    "patternProperties": {
        "^x-": {"type": "integer"},
        "-flag$": {"type": "boolean"},
    },
    "additionalProperties": {"type": "number"},
}


@each(
    ("word", "value"),
    [
        ("x-1=3", 3),
        ("x-name=3", "3"),
        ("a-flag=true", True),
        ("x-flag=true", "true"),
        ("other=1.5", 1.5),
    ],
)
def test_a_member_has_the_schema_of_the_one_pattern_that_it_fits(word: str, value: object) -> None:
    assert list(members_from([word], PATTERNS).values()) == [value]


@pytest.mark.parametrize("pattern", ["^(?=x)", "("])
def test_a_pattern_that_cannot_be_read_may_mean_any_member(pattern: str) -> None:
    schema = {
        "patternProperties": {pattern: {"type": "integer"}},
        "additionalProperties": {"type": "boolean"},
    }
    assert members_from(["x=Ulm"], schema) == {"x": "Ulm"}


DOTTED: dict[str, Any] = {
    "properties": {
        "a.b": {"type": "integer"},
        "a": {"properties": {"b": {"type": "string"}, "c": {"type": "string"}}},
        "trip": {"properties": {"to.city": {"type": "string"}}, "required": ["to.city"]},
        "deep.er": {"properties": {"x": {"type": "integer"}}},
    },
    "required": ["a.b", "no.type"],
}


@each(
    ("word", "members"),
    [
        ("a.b=1", {"a.b": 1}),
        ("a.b:=1", {"a.b": 1}),
        ("a.c=1", {"a": {"c": "1"}}),
        ("trip.to.city=Ulm", {"trip": {"to.city": "Ulm"}}),
        ("deep.er.x=1", {"deep.er": {"x": 1}}),
        ("no.type=1", {"no.type": "1"}),
    ],
)
def test_a_name_with_dots_goes_before_the_way_through_them(
    word: str, members: dict[str, Any]
) -> None:
    assert members_from([word], DOTTED) == members


def test_a_name_with_dots_is_not_missing_once_it_is_given() -> None:
    words = ["a.b=1", "no.type=1", "trip.to.city=Ulm"]
    members = members_from(words, DOTTED)
    assert missing_from(members, words, DOTTED) == []
    assert missing_from({}, [], DOTTED) == ["a.b=...", "no.type=..."]
