"""`k=v` words become members whose types the schema decides."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kinwire_cli.failure import UsageError
from kinwire_cli.members import members_from, missing_from
from tests.each import each

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "several": {"type": ["integer", "null"]},
        "level": {"enum": [1, 2]},
        "name": {"enum": ["1", "2"]},
        "fixed": {"const": 3},
        "point": {"$ref": "#/$defs/Point"},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "any": {},
        "loop": {"$ref": "#/properties/loop"},
        "lost": {"$ref": "#/$defs/Nowhere"},
        "trip": {
            "type": "object",
            "properties": {
                "stops": {"type": "array", "items": {"$ref": "#/$defs/Point"}},
                "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            },
        },
        "mixed": {"enum": ["1", "2", 3]},
        "same": {"enum": ["1", 1]},
        "color": {"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}]},
        "both": {"allOf": [{"type": "string"}, {"oneOf": [{"const": "a"}]}]},
        "either_or": {"anyOf": [{"enum": ["a"]}, {"type": "string"}]},
        "numbers": {"enum": list(range(1000))},
        "round": {"anyOf": [{"$ref": "#/properties/round"}, {"enum": ["a"]}]},
        "open": {"properties": {"x": {"type": "integer"}}, "additionalProperties": True},
    },
    "$defs": {
        "Point": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "Color": {"type": "string", "enum": ["red", "green"]},
    },
}


@each(
    ("words", "members"),
    [
        ([], {}),
        (["text=5"], {"text": "5"}),
        (["text="], {"text": ""}),
        (["text=a=b"], {"text": "a=b"}),
        (["count=5"], {"count": 5}),
        (["count=-5"], {"count": -5}),
        (["count=1180591620717411303424"], {"count": 2**70}),
        (["share=1"], {"share": 1}),
        (["share=1.5"], {"share": 1.5}),
        (["flag=true"], {"flag": True}),
        (['tags=["a"]'], {"tags": ["a"]}),
        (["either=5"], {"either": "5"}),
        (["maybe=5"], {"maybe": 5}),
        (["maybe=null"], {"maybe": None}),
        (["several=null"], {"several": None}),
        (["level=1"], {"level": 1}),
        (["name=1"], {"name": "1"}),
        (["fixed=3"], {"fixed": 3}),
        (["mixed=3"], {"mixed": 3}),
        (["mixed=1"], {"mixed": "1"}),
        (["same=1"], {"same": "1"}),
        (["mixed:=4"], {"mixed": 4}),
        (["color=red"], {"color": "red"}),
        (["color=null"], {"color": None}),
        (["both=a"], {"both": "a"}),
        (["either_or=b"], {"either_or": "b"}),
        (["numbers=999"], {"numbers": 999}),
        (["round=b"], {"round": "b"}),
        (
            ["trip.days=null", 'trip.stops:=[{"x": 1}]'],
            {"trip": {"days": None, "stops": [{"x": 1}]}},
        ),
        ([r'any:="\ud83d\ude00"'], {"any": "😀"}),
        (['any:={"a": {"b": 1}, "b": {"a": 2}}'], {"any": {"a": {"b": 1}, "b": {"a": 2}}}),
        ([f"any:={'9' * 4000}"], {"any": int("9" * 4000)}),
        (["point.x=1", "point.y:=1"], {"point": {"x": 1, "y": 1}}),
        (["open.x=1", "open.y=1"], {"open": {"x": 1, "y": "1"}}),
        (["map.a=1", "map.b=2"], {"map": {"a": 1, "b": 2}}),
        (["any=5"], {"any": "5"}),
        (["loop=5", "lost=5"], {"loop": "5", "lost": "5"}),
        (["unknown:=5"], {"unknown": 5}),
        (["text:=5"], {"text": 5}),
        (['any:={"a": [1]}'], {"any": {"a": [1]}}),
        (["point.x:=null"], {"point": {"x": None}}),
    ],
)
def test_words_become_members(words: list[str], members: dict[str, Any]) -> None:
    made = members_from(words, SCHEMA)
    assert made == members
    assert [type(value) for value in made.values()] == [type(value) for value in members.values()]


@each(
    ("words", "message"),
    [
        (["count"], r"^count: expected NAME=VALUE or NAME:=JSON\.$"),
        (["=5"], r"^=5: expected NAME=VALUE"),
        (["text=\udcff"], r": expected text, got bytes that are not text\.$"),
        (["\udcff=a"], r": expected text, got bytes that are not text\.$"),
        (["point.=5"], r"expected NAME=VALUE"),
        (["count=five"], r"^count=five: expected integer\.$"),
        (["count=5.5"], r"expected integer"),
        (["count=true"], r"expected integer"),
        (["flag=1"], r"^flag=1: expected true or false\.$"),
        (["flag=yes"], r"^flag=yes: expected true or false\.$"),
        (["tex=a"], r"^tex=a: unknown parameter 'tex'\.$"),
        (["point.y=1"], r"^point.y=1: unknown parameter 'y'\.$"),
        (["share=NaN"], r"expected number"),
        (["maybe=x"], r"expected integer or null"),
        (["any:=x"], r"^any:=x: expected JSON\.$"),
        (["text=a", "text=b"], r"'text' was given before"),
        (["any=a", "any.b=c"], r"'any' was given a value that has no fields"),
        (["text.b=c"], r"^text.b=c: 'text' has no fields: expected string\.$"),
        (["tags.0=c"], r"^tags.0=c: 'tags' has no fields: expected array\.$"),
        (["tags.0.b:=1"], r"'tags' has no fields"),
        (["trip.stops.0.city=Ulm"], r"'trip.stops' has no fields: expected array"),
        (["trip.days.x.y=1"], r"'trip.days' has no fields: expected integer or null"),
        (["level=3"], r"^level=3: expected 1 or 2\.$"),
        (["level=true"], r"expected 1 or 2"),
        (["mixed=4"], r'^mixed=4: expected "1", "2" or 3\.$'),
        (["fixed=6"], r"^fixed=6: expected 3\.$"),
        (["color=blue"], r'^color=blue: expected "red", "green" or null\.$'),
        (["both=5"], r"^both=5: expected \"a\"\.$"),
        (["numbers=x"], r"expected 0, 1, .*, 19 or 980 more\.$"),
        (['any:={"a": 1, "a": 2}'], r"^any:=.*: 'a' is given twice in one object\.$"),
        (['any:=[{"b": {"c": 1, "c": 1}}]'], r"'c' is given twice"),
        (['point={"x": 1, "x": 1}'], r"'x' is given twice"),
        (['any:="\\ud800"'], r"\\ud800 is half of a surrogate pair, which is not a character"),
        (['any:={"a": ["\\udc00b"]}'], r"\\udc00 is half of a surrogate pair"),
        ([r'any:="\ud800'], r"expected JSON\.$"),
        (["point.x=1", "point:={}"], r"'point' was given before"),
    ],
)
def test_words_that_make_no_member_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        members_from(words, SCHEMA)


@each(
    ("word", "hint"),
    [
        ("coun=5", "Did you mean 'count'?"),
        ("point.z=5", "It has: x."),
        ("point=here", "Write point.x=... for its fields, or point:=JSON."),
        ("map=here", "Write map:=JSON."),
        ("tags=a", "Write tags:=JSON."),
        ("count=five", ""),
        ("any:=x", "Text in JSON has quotes: 'k:=\"text\"'."),
        ("trip.stops.0.x=1", "Write trip.stops:=[...]"),
        ("text.x=1", "Write text=..."),
        (r'any:="\ud800"', r"Write both halves, as in \ud83d\ude00, or the character itself."),
    ],
)
def test_a_refused_word_comes_with_a_hint(word: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        members_from([word], SCHEMA)
    assert refused.value.hint == hint


def test_a_schema_without_members_takes_any() -> None:
    assert members_from(["a.b=1"], {}) == {"a": {"b": "1"}}


OPEN: dict[str, Any] = {
    "properties": {
        "cursor": {"type": "string"},
        "_meta": {"properties": {"token": {"type": "integer"}}, "additionalProperties": True},
    },
    "additionalProperties": True,
}


def test_where_later_versions_may_add_members_only_meta_takes_any() -> None:
    words = ["_meta.token=1", "_meta.vendor=1"]
    assert members_from(words, OPEN, closed=True) == {"_meta": {"token": 1, "vendor": "1"}}
    assert members_from(["cursr=a"], OPEN) == {"cursr": "a"}
    with pytest.raises(UsageError, match="unknown parameter 'cursr'"):
        members_from(["cursr=a"], OPEN, closed=True)


HOSTILE: list[dict[str, Any]] = [
    {"anyOf": [{"$ref": "#"}] * 50},
    {"anyOf": [True, None, {"type": 5}]},
    {"properties": ["x"], "enum": "x", "oneOf": {}},
    {"properties": {"x": True}},
    {"$ref": "#/x/y/z"},
    {"$ref": ["#"], "type": {}},
]


@each("schema", HOSTILE)
def test_an_invalid_schema_has_no_names(schema: dict[str, Any]) -> None:
    assert members_from(["x=5"], schema) == {"x": "5"}


@each(
    ("word", "message"),
    [
        ("share=1e999", "share=1e999: expected a number of at most 1.8e308."),
        ("any:=-1e999", "any:=-1e999: expected a number of at most 1.8e308."),
        ('any:={"a":[1,1e999]}', "expected a number of at most 1.8e308 at /a/1."),
    ],
)
def test_a_number_that_would_go_out_as_null_is_refused(word: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        members_from([word], SCHEMA)
    assert caught.value.hint == "Larger ones can be sent as text, in quotes."


LACKING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "stops": {"type": "array"},
        "bag": {"type": "object"},
        "trip": {"$ref": "#/$defs/Trip"},
        "maybe": {"anyOf": [{"$ref": "#/$defs/Trip"}, {"type": "null"}]},
        "either": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    },
    "required": ["city"],
    "allOf": [{"required": ["stops", "bag", "trip", 5]}],
    "$defs": {
        "Trip": {
            "type": "object",
            "properties": {"days": {"type": "integer"}, "to": {"type": "string"}},
            "required": ["to"],
        }
    },
}
WHOLE: dict[str, Any] = {"city": "Ulm", "stops": [], "bag": {}, "trip": {"to": "Bonn"}}


@each(
    ("members", "words", "missing"),
    [
        ({}, [], ["city=...", "stops:=[...]", "bag:={...}", "trip.to=..."]),
        (WHOLE, [], []),
        ({**WHOLE, "trip": {"days": 1}}, ["trip.days=1"], ["trip.to=..."]),
        ({**WHOLE, "trip": {"days": 1}}, ['trip:={"days": 1}'], []),
        ({**WHOLE, "maybe": {"days": 1}}, ["maybe.days=1"], ["maybe.to=..."]),
        ({**WHOLE, "either": {"c": "1"}}, ["either.c=1"], []),
    ],
)
def test_what_is_missing_is_said_as_it_is_written(
    members: dict[str, Any], words: list[str], missing: list[str]
) -> None:
    assert missing_from(members, words, LACKING) == missing


def test_every_wrong_word_is_in_the_error_with_its_hint() -> None:
    with pytest.raises(UsageError) as refused:
        members_from(["coun=5", "text=a", "tags=a"], SCHEMA)
    assert str(refused.value) == ("coun=5: unknown parameter 'coun'; tags=a: expected array.")
    assert refused.value.hint == "Did you mean 'count'? Write tags:=JSON."


@each(
    ("wrong", "missing"),
    [
        ("city:=1", ["stops:=[...]", "bag:={...}", "trip.to=..."]),
        ("trip=x", ["city=...", "stops:=[...]", "bag:={...}"]),
        ("trip.t=x", ["city=...", "stops:=[...]", "bag:={...}", "trip.to=..."]),
    ],
)
def test_what_a_wrong_word_was_to_bring_is_not_missing(wrong: str, missing: list[str]) -> None:
    assert missing_from({}, [], LACKING, [wrong]) == missing


@each("schema", [*HOSTILE, {"required": 5}, {"allOf": [{"$ref": "#"}] * 50}])
def test_an_invalid_schema_requires_nothing(schema: dict[str, Any]) -> None:
    assert missing_from({"x": {"y": 1}}, ["x.y=1"], schema) == []


def test_values_that_are_listed_over_and_over_are_soon_looked_through() -> None:
    pairs = {f"A{n}": {"anyOf": [{"$ref": f"#/$defs/A{n + 1}"}] * 2} for n in range(60)}
    schema = {"properties": {"x": {"$ref": "#/$defs/A0"}}, "$defs": {**pairs, "A60": {"const": 5}}}
    assert members_from(["x=5"], schema) == {"x": 5}
