"""Edits of an object, with what writers of the old and of the new form write."""

from __future__ import annotations

__all__ = ("CASES", "Case")

from typing import Any, NamedTuple

from tests.codegen.compare.pets import TAGGED, WHOLE, Node, of, union

TEXT = {"type": "string"}
ONCE = {"uniqueItems": True}


class Case(NamedTuple):
    """An edit of an object, and what writers of each side write: all that is new in it as well."""

    what: str
    old: Node
    new: Node
    old_values: list[Node]
    new_values: list[Node]


def value(old: Node, new: Node, *values: Any) -> tuple[Node, Node]:
    return of({"a": old}, "a"), of({"a": new}, "a")


def enum(*values: str) -> Node:
    return {"type": "string", "enum": list(values)}


A, B = {"$ref": "#/$defs/Apple"}, {"$ref": "#/$defs/Berry"}
CAT, DOG = {"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}
PETS = {"anyOf": [CAT, DOG], "discriminator": {"propertyName": "kind"}}
FRUIT = {"anyOf": [A, B], "discriminator": {"propertyName": "kind"}}

CASES = [
    Case("nothing", of({"a": TEXT}, "a"), of({"a": TEXT}, "a"), [{"a": ""}], [{"a": ""}]),
    Case(
        "an optional member is new",
        of({"a": TEXT}, "a"),
        of({"a": TEXT, "b": WHOLE}, "a"),
        [{"a": ""}],
        [{"a": "", "b": 1}, {"a": ""}],
    ),
    Case(
        "a required member is new",
        of({"a": TEXT}, "a"),
        of({"a": TEXT, "b": WHOLE}, "a", "b"),
        [{"a": ""}],
        [{"a": "", "b": 1}],
    ),
    Case(
        "an optional member is gone",
        of({"a": TEXT, "b": WHOLE}, "a"),
        of({"a": TEXT}, "a"),
        [{"a": "", "b": 1}],
        [{"a": ""}],
    ),
    Case(
        "a required member is gone",
        of({"a": TEXT, "b": WHOLE}, "a", "b"),
        of({"a": TEXT}, "a"),
        [{"a": "", "b": 1}],
        [{"a": ""}],
    ),
    Case("required now", of({"a": TEXT}), of({"a": TEXT}, "a"), [{}, {"a": ""}], [{"a": ""}]),
    Case("optional now", of({"a": TEXT}, "a"), of({"a": TEXT}), [{"a": ""}], [{}, {"a": ""}]),
    Case("another type", *value(TEXT, WHOLE), [{"a": "1"}], [{"a": 1}]),
    Case(
        "one type more",
        *value(TEXT, {"type": ["string", "integer"]}),
        [{"a": ""}],
        [{"a": ""}, {"a": 1}],
    ),
    Case(
        "one type less",
        *value({"type": ["string", "integer"]}, TEXT),
        [{"a": ""}, {"a": 1}],
        [{"a": ""}],
    ),
    Case("fractions too", *value(WHOLE, {"type": "number"}), [{"a": 1}], [{"a": 1.5}]),
    Case("one value more", *value(enum("x"), enum("x", "y")), [{"a": "x"}], [{"a": "y"}]),
    Case("one value less", *value(enum("x", "y"), enum("x")), [{"a": "y"}], [{"a": "x"}]),
    Case(
        "one value more in an open set",
        *value({"anyOf": [enum("x"), TEXT]}, {"anyOf": [enum("x", "y"), TEXT]}),
        [{"a": "x"}, {"a": "z"}],
        [{"a": "y"}],
    ),
    Case("any value", *value(TEXT, {}), [{"a": ""}], [{"a": None}, {"a": [1]}]),
    Case("a longer text", *value({**TEXT, "maxLength": 2}, TEXT), [{"a": "x"}], [{"a": "xyz"}]),
    Case("a shorter text", *value(TEXT, {**TEXT, "maxLength": 2}), [{"a": "xyz"}], [{"a": "x"}]),
    Case("a higher start", *value(WHOLE, {**WHOLE, "minimum": 1}), [{"a": 0}], [{"a": 1}]),
    Case(
        "a pattern",
        *value({**TEXT, "pattern": "^a"}, {**TEXT, "pattern": "^b"}),
        [{"a": "a"}],
        [{"a": "b"}],
    ),
    Case(
        "one kind more in a union",
        *value(A, FRUIT),
        [{"a": {"kind": "apple"}}],
        [{"a": {"kind": "berry", "count": 1}}],
    ),
    Case(
        "one kind less in a union",
        *value(FRUIT, A),
        [{"a": {"kind": "berry", "count": 1}}],
        [{"a": {"kind": "apple"}}],
    ),
    Case("another constant", *value({"const": "x"}, {"const": "y"}), [{"a": "x"}], [{"a": "y"}]),
    Case(
        "a required constant is new",
        of({"a": TEXT}, "a"),
        of({"a": TEXT, "b": {"const": "x"}}, "a", "b"),
        [{"a": ""}],
        [{"a": "", "b": "x"}],
    ),
    Case(
        "null in an optional member",
        of({"a": TEXT}),
        of({"a": {"type": ["string", "null"]}}),
        [{"a": ""}, {}],
        [{"a": None}],
    ),
    Case(
        "null in a required member",
        *value(TEXT, {"type": ["string", "null"]}),
        [{"a": ""}],
        [{"a": None}],
    ),
    Case(
        "null, or absent now",
        of({"a": {"type": ["string", "null"]}}, "a"),
        of({"a": TEXT}),
        [{"a": ""}, {"a": None}],
        [{"a": ""}, {}],
    ),
    Case(
        "null where it might be absent",
        of({"a": TEXT}),
        of({"a": {"type": ["string", "null"]}}, "a"),
        [{"a": ""}, {}],
        [{"a": ""}, {"a": None}],
    ),
    Case(
        "a text that becomes an optional constant",
        of({"a": TEXT}, "a"),
        of({"a": {"const": "x"}}),
        [{"a": "y"}],
        [{"a": "x"}, {}],
    ),
    Case(
        "a constant that may be absent",
        of({"a": {"const": "x"}}, "a"),
        of({"a": TEXT}),
        [{"a": "x"}],
        [{"a": "y"}, {}],
    ),
    Case(
        "values that become a short text",
        *value(enum("x", "long"), {**TEXT, "maxLength": 2}),
        [{"a": "long"}, {"a": "x"}],
        [{"a": "yz"}],
    ),
    Case(
        "fractions above a start",
        *value(WHOLE, {"type": "number", "minimum": 1}),
        [{"a": 0}],
        [{"a": 1.5}],
    ),
    Case("no shorter than nothing", *value(TEXT, {**TEXT, "minLength": 0}), [{"a": ""}], []),
    Case(
        "one of two texts is shorter",
        *value(
            {"anyOf": [{**TEXT, "maxLength": 4}, TEXT]}, {"anyOf": [{**TEXT, "maxLength": 2}, TEXT]}
        ),
        [{"a": "xyz"}],
        [{"a": "xyz"}],
    ),
    Case(
        "another member is the discriminator",
        *value(PETS, {**PETS, "discriminator": {"propertyName": "sort"}}),
        [{"a": {"kind": "cat"}}],
        [{"a": {"sort": "cat"}}],
    ),
    Case(
        "other items",
        *value({"type": "array", "items": TEXT}, {"type": "array", "items": WHOLE}),
        [{"a": ["x"]}],
        [{"a": [1]}],
    ),
    Case(
        "other values of a map",
        *value(
            {"type": "object", "additionalProperties": TEXT},
            {"type": "object", "additionalProperties": {"type": ["string", "integer"]}},
        ),
        [{"a": {"k": "x"}}],
        [{"a": {"k": 1}}],
    ),
    Case(
        "another name of a member",
        of({"file": TEXT}, "file"),
        of({"fileName": TEXT}, "fileName"),
        [{"file": "x"}],
        [{"fileName": "x"}],
    ),
    Case(
        "the discriminator may be absent",
        *value(union("Fox", "Owl", **TAGGED), union("Fox", "Owl")),
        [{"a": {"kind": "fox"}}],
        [{"a": {"kind": "owl", "legs": 2}}, {"a": {"legs": 2}}],
    ),
    Case(
        "the discriminator is gone",
        *value(union("Ant", "Bee", **TAGGED), union("Ant", "Bee")),
        [{"a": {"kind": "bee", "legs": 6}}],
        [{"a": {"legs": 6}}],
    ),
    Case(
        "what was optional is the discriminator",
        *value(union("Emu", "Gnu"), union("Emu", "Gnu", **TAGGED)),
        [{"a": {"kind": "emu"}}, {"a": {"legs": 2}}],
        [{"a": {"kind": "gnu", "legs": 4}}],
    ),
    Case(
        "one object becomes one of two with a discriminator",
        *value(union("Emu")["anyOf"][0], union("Emu", "Gnu", **TAGGED)),
        [{"a": {"legs": 2}}],
        [{"a": {"kind": "gnu"}}],
    ),
    Case(
        "the discriminator may be absent, and null is one of the values",
        *value(*[{"anyOf": [{"$ref": "#/$defs/Hunter"}, {"type": "null"}]}] * 2),
        [{"a": {"kind": "fox"}}, {"a": None}],
        [{"a": {"legs": 2}}],
    ),
    Case(
        "another default",
        of({"a": {**TEXT, "default": "x"}}),
        of({"a": {**TEXT, "default": "y"}}),
        [{}, {"a": "z"}],
        [{}, {"a": "z"}],
    ),
    Case("a format", *value(TEXT, {**TEXT, "format": "uri"}), [{"a": "x"}], [{"a": "urn:x"}]),
    Case(
        "each item once",
        *value({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT} | ONCE),
        [{"a": ["x", "x"]}],
        [{"a": ["x"]}],
    ),
    Case(
        "one of two members",
        of({"a": TEXT, "b": TEXT}),
        of({"a": TEXT, "b": TEXT}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        [{}],
        [{"a": ""}],
    ),
    Case(
        "a deprecated member",
        of({"a": TEXT}, "a"),
        of({"a": {**TEXT, "deprecated": True}}, "a"),
        [{"a": ""}],
        [{"a": ""}],
    ),
    Case(
        "a list that may not be empty",
        *value({"type": "array", "items": TEXT}, {"type": "array", "items": TEXT, "minItems": 1}),
        [{"a": []}],
        [{"a": ["x"]}],
    ),
]
