"""`k=v` words become members whose types the schema decides."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kinwire.cli.failure import UsageError
from kinwire.cli.members import members_from

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
        "open": {"properties": {"x": {"type": "integer"}}, "additionalProperties": True},
    },
    "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}}},
}


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["count"], r"^count: expected NAME=VALUE or NAME:=JSON\.$"),
        (["=5"], r"^=5: expected NAME=VALUE"),
        (["text=\udcff"], r": expected text, got bytes that are none\.$"),
        (["point.=5"], r"expected NAME=VALUE"),
        (["count=five"], r"^count=five: expected integer\.$"),
        (["count=5.5"], r"expected integer"),
        (["count=true"], r"expected integer"),
        (["flag=1"], r"^flag=1: expected true or false\.$"),
        (["flag=yes"], r"^flag=yes: expected true or false\.$"),
        (["tex=a"], r"^tex=a: there is no member 'tex'\.$"),
        (["point.y=1"], r"^point.y=1: there is no member 'y'\.$"),
        (["share=NaN"], r"expected number"),
        (["maybe=x"], r"expected integer or null"),
        (["any:=x"], r"^any:=x: expected JSON\.$"),
        (["text=a", "text=b"], r"'text' was given before"),
        (["text=a", "text.b=c"], r"'text' was given a value that has no members"),
        (["point.x=1", "point:={}"], r"'point' was given before"),
    ],
)
def test_words_that_make_no_member_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        members_from(words, SCHEMA)


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("coun=5", "Did you mean 'count'?"),
        ("point.z=5", "It has: x."),
        ("point=here", "Write point.x=... for its members, or point:=JSON."),
        ("map=here", "Write map:=JSON."),
        ("tags=a", "Write tags:=JSON."),
        ("count=five", ""),
        ("any:=x", "Text in JSON has quotes: 'k:=\"text\"'."),
    ],
)
def test_a_refused_word_comes_with_the_mend(word: str, hint: str) -> None:
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
    with pytest.raises(UsageError, match="there is no member 'cursr'"):
        members_from(["cursr=a"], OPEN, closed=True)


HOSTILE: list[dict[str, Any]] = [
    {"anyOf": [{"$ref": "#"}] * 50},
    {"anyOf": [True, None, {"type": 5}]},
    {"properties": ["x"], "enum": "x", "oneOf": {}},
    {"properties": {"x": True}},
    {"$ref": "#/x/y/z"},
    {"$ref": ["#"], "type": {}},
]


@pytest.mark.parametrize("schema", HOSTILE)
def test_a_schema_that_is_none_says_nothing(schema: dict[str, Any]) -> None:
    assert members_from(["x=5"], schema) == {"x": "5"}


@pytest.mark.parametrize(
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
