"""The sampler keeps its word: what it calls valid is, what it calls broken is not."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.each import each
from tests.parity.sampler import Sampler
from tests.parity.targets import MAP

EVERY_RULE = {
    "definitions": {
        "All": {
            "type": "object",
            "properties": {
                "tag": {"type": "string", "const": "a"},
                "level": {"type": "string", "enum": ["low", "high"]},
                "share": {"type": "number", "minimum": 0, "maximum": 1},
                "wait": {"type": "number", "exclusiveMinimum": 0},
                "title": {"type": "string", "minLength": 2},
                "names": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                "one": {"type": "array", "items": {"type": "null"}, "maxItems": 1},
                "more": {"type": "object", "additionalProperties": {"type": "integer"}},
                "part": {"anyOf": [{"$ref": "#/definitions/A"}, {"$ref": "#/definitions/B"}]},
            },
            "required": ["tag", "level"],
        },
        "A": {
            "type": "object",
            "properties": {"kind": {"type": "string", "const": "a"}},
            "required": ["kind"],
        },
        "B": {
            "type": "object",
            "properties": {"kind": {"type": "string", "const": "b"}},
            "required": ["kind"],
        },
    }
}


@each("name", MAP)
def test_what_it_calls_valid_the_schema_takes(name: str, sampler: Sampler) -> None:
    refused = [value for value in sampler.valid(name, count=5) if not sampler.is_valid(name, value)]
    assert refused == []


def test_the_same_instances_come_every_time(official: dict[str, Any]) -> None:
    first, second = Sampler(official), Sampler(official)
    for name in MAP:
        assert json.dumps(first.valid(name, count=5)) == json.dumps(second.valid(name, count=5))


@each(
    ("rule", "path"),
    [
        ("type", ()),
        ("type", ("names", 0)),
        ("type", ("more", "a/b~c")),
        ("required", ("level",)),
        ("const", ("tag",)),
        ("const missing", ("tag",)),
        ("tag", ("part", "kind")),
        ("enum", ("level",)),
        ("minimum", ("share",)),
        ("maximum", ("share",)),
        ("exclusiveMinimum", ("wait",)),
        ("minLength", ("title",)),
        ("maxItems", ("names",)),
        ("maxItems", ("one",)),
        ("null", ("share",)),
        ("type", ("level",)),
    ],
)
def test_each_rule_is_broken_in_its_place(rule: str, path: tuple[str | int, ...]) -> None:
    broken = Counter((one.rule, one.path) for one in Sampler(EVERY_RULE).broken("All"))
    assert broken[rule, path]


def test_what_it_calls_valid_keeps_every_rule() -> None:
    sampler = Sampler(EVERY_RULE)
    instances = sampler.valid("All", count=20)
    assert [value for value in instances if not sampler.is_valid("All", value)] == []


def test_an_unknown_keyword_is_reported() -> None:
    schema = {"definitions": {"Odd": {"type": "array", "uniqueItems": True}}}
    with pytest.raises(NotImplementedError, match="uniqueItems"):
        Sampler(schema).valid("Odd", count=1)
