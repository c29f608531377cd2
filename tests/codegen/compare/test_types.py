"""What each edit of a type does, to whom, and how badly."""

from __future__ import annotations

from typing import Any

from kinwire_codegen.compare.verdict import Category, Level
from tests.codegen.compare.documents import (
    WITHOUT_WARNING,
    Node,
    against,
    changing,
    compared,
    edited,
    on_the_wire,
    toy,
    verdicts,
)
from tests.each import each

PARAMS, RESULT, NOTIFIED = "$defs/AskParams", "$defs/AskResult", "$defs/NotifiedParams"
TEXT = {"type": "string"}


OF_MEMBERS: list[tuple[str, str, Any, str, dict[str, tuple[str, list[str]]]]] = [
    (
        "properties", "d", TEXT, "B302",
        {PARAMS: ("SAFE", []), RESULT: ("SAFE", []), NOTIFIED: ("SAFE", [])},
    ),
    (
        "properties", "b", None, "B304",
        {PARAMS: ("WARNING", []), RESULT: ("WARNING", []), NOTIFIED: ("WARNING", [])},
    ),
    (
        "", "required", ["a", "b"], "B305",
        {
            PARAMS: ("BREAKING", ["old senders (guest)"]),
            RESULT: ("BREAKING", ["old receivers (host)"]),
            NOTIFIED: ("BREAKING", ["old senders (host)"]),
        },
    ),
    (
        "", "required", [], "B306",
        {
            PARAMS: ("WARNING", ["old receivers (host)"]),
            RESULT: ("BREAKING", ["old senders (guest)"]),
            NOTIFIED: ("BREAKING", ["old receivers (guest)"]),
        },
    ),
    (
        "properties", "a", {"type": "integer"}, "B310",
        {
            PARAMS: ("BREAKING", ["old receivers (host)", "old senders (guest)"]),
            RESULT: ("BREAKING", ["old receivers (host)", "old senders (guest)"]),
            NOTIFIED: ("BREAKING", ["old receivers (guest)", "old senders (host)"]),
        },
    ),
    (
        "properties", "a", {"type": ["string", "integer"]}, "B309",
        {
            PARAMS: ("WARNING", ["old receivers (host)"]),
            RESULT: ("BREAKING", ["exhaustive readers (guest)"]),
            NOTIFIED: ("BREAKING", ["exhaustive readers (guest)"]),
        },
    ),
    (
        "properties", "a", {"type": "string", "enum": ["x", "y"]}, "B308",
        {
            PARAMS: ("BREAKING", ["old senders (guest)"]),
            RESULT: ("BREAKING", ["old receivers (host)"]),
            NOTIFIED: ("BREAKING", ["old senders (host)"]),
        },
    ),
    (
        "properties", "a", {"type": "string", "maxLength": 3}, "B316",
        {
            PARAMS: ("BREAKING", ["old senders (guest)"]),
            RESULT: ("BREAKING", ["old receivers (host)"]),
            NOTIFIED: ("BREAKING", ["old senders (host)"]),
        },
    ),
    (
        "properties", "b", {"type": "integer", "default": 7}, "B318",
        {PARAMS: ("WARNING", []), RESULT: ("WARNING", []), NOTIFIED: ("WARNING", [])},
    ),
    (
        "properties", "b", {"type": ["integer", "null"]}, "B320",
        {
            PARAMS: ("WARNING", ["old receivers (host)"]),
            RESULT: ("BREAKING", ["exhaustive readers (guest)"]),
            NOTIFIED: ("BREAKING", ["exhaustive readers (guest)"]),
        },
    ),
    (
        "properties", "a", {"type": "string", "format": "uri"}, "B323",
        {PARAMS: ("WARNING", []), RESULT: ("WARNING", []), NOTIFIED: ("WARNING", [])},
    ),
    (
        "", "additionalProperties", False, "B334",
        {
            PARAMS: ("BREAKING", ["old senders (guest)"]),
            RESULT: ("BREAKING", ["old receivers (host)"]),
            NOTIFIED: ("BREAKING", ["old senders (host)"]),
        },
    ),
    (
        "properties", "b", {"type": "integer", "deprecated": True}, "B324",
        {PARAMS: ("SAFE", []), RESULT: ("SAFE", []), NOTIFIED: ("SAFE", [])},
    ),
]  # fmt: skip


@each("place", [PARAMS, RESULT, NOTIFIED])
@each(("below", "key", "value", "rule", "expected"), OF_MEMBERS)
def test_who_breaks_depends_on_which_way_the_member_goes(
    below: str,
    key: str,
    value: Any,
    rule: str,
    expected: dict[str, tuple[str, list[str]]],
    place: str,
) -> None:
    path = f"{place}/{below}" if below else place
    level, victims = expected[place]
    assert verdicts(path, key, value) == [(rule, level, victims)]


def test_a_type_sent_in_several_ways_is_reported_once_with_all_victims() -> None:
    (change,) = compared(changing("$defs/Part", "required", []))
    assert (change.rule.id, change.level) == ("B306", Level.BREAKING)
    assert list(map(str, change.breaks)) == [
        "old receivers (guest, host)",
        "old senders (guest)",
    ]
    assert change.flows == ("ask params", "ask result", "notified params")


def test_a_renamed_member_is_reported_once() -> None:
    old = toy()
    members = old["$defs"]["AskParams"]["properties"]
    members["fileName"] = members.pop("b")

    def edit(content: Node) -> None:
        members = content["$defs"]["AskParams"]["properties"]
        members["file"] = members.pop("fileName")

    (change,) = on_the_wire(edit, old)
    assert change.rule.name == "member-renamed"
    assert change.what.startswith("AskParams.fileName is file now? (")


def test_two_members_of_one_type_with_other_names_are_not_renamed() -> None:
    def edit(content: Node) -> None:
        members = content["$defs"]["AskParams"]["properties"]
        members["ttl"] = members.pop("b")

    names = {change.rule.name for change in on_the_wire(edit)}
    assert names == {"optional-member-removed", "optional-member-added"}


def test_the_most_similar_of_the_removed_members_is_renamed() -> None:
    def having(*names: str) -> Node:
        members = {name: {"type": "integer"} for name in names}
        return edited(toy(), changing(PARAMS, "properties", {"a": TEXT, **members}))

    old, new = having("fileNam", "fileName", "fileNames"), having("filename", "filesNames")
    found: dict[str, list[str]] = {}
    for change in against(old, new).of(Category.WIRE):
        if change.rule.name != WITHOUT_WARNING:
            found.setdefault(change.rule.name, []).append(change.what)
    assert found == {
        "member-renamed": [
            "AskParams.fileName is filename now? (100 % same shape)",
            "AskParams.fileNames is filesNames now? (97 % same shape)",
        ],
        "optional-member-removed": ["AskParams.fileNam is gone"],
    }


def test_bounds_that_say_nothing_of_a_kind_are_not_compared() -> None:
    counted = changing("$defs/AskParams/properties", "a", {"type": "string", "minItems": 1})
    assert compared(counted) == []


def test_a_deprecated_type_is_reported() -> None:
    (change,) = compared(changing("$defs/Part", "deprecated", True))
    assert (change.rule.name, change.what) == ("member-deprecated", "Part is deprecated")


def test_null_is_refused_where_the_field_may_be_absent() -> None:
    nullable = changing("$defs/AskParams/properties", "b", {"type": ["integer", "null"]})
    back = changing("$defs/AskParams/properties", "b", {"type": "integer"})
    (change,) = compared(back, edited(toy(), nullable))
    assert (change.rule.name, change.level) == ("null-refused", Level.BREAKING)


def test_a_renamed_type_is_reported_once_and_is_safe_on_the_wire() -> None:
    def edit(content: Node) -> None:
        content["$defs"]["Piece"] = content["$defs"].pop("Part")
        for name in ("AskParams", "AskResult", "NotifiedParams"):
            content["$defs"][name]["properties"]["c"] = {"$ref": "#/$defs/Piece"}

    (change,) = compared(edit)
    assert (change.rule.name, change.what) == ("class-renamed", "Part is Piece now")
    assert (change.level, change.flows) == (Level.BREAKING, ())
    assert list(map(str, change.breaks)) == ["old programs"]


def test_two_bounds_of_one_member_are_both_reported() -> None:
    before = edited(toy(), changing(f"{PARAMS}/properties", "b", {"type": "integer"}))
    bounded = {"type": "integer", "minimum": 1, "maximum": 5}
    found = compared(changing(f"{PARAMS}/properties", "b", bounded), before)
    assert sorted(change.what for change in found) == [
        "AskParams.b: maximum was unset and is 5",
        "AskParams.b: minimum was unset and is 1",
    ]


def test_a_map_that_becomes_an_object_may_have_had_other_values() -> None:
    a_map = {"type": "object", "additionalProperties": {"type": "string"}}
    tagged = {"type": "object", "properties": {"x": {"const": "on"}}, "required": ["x"]}
    old = edited(toy(), changing("$defs", "Part", {"description": "A type."} | a_map))
    new = edited(toy(), changing("$defs", "Part", {"description": "A type."} | tagged))
    there = {one.rule.name: one.level for one in against(old, new).of(Category.WIRE)}
    assert there["type-narrowed"] is Level.BREAKING
    back = {one.rule.name: one.level for one in against(new, old).of(Category.WIRE)}
    assert back["type-widened"] is Level.BREAKING


def test_whole_numbers_are_numbers() -> None:
    (change,) = compared(changing(f"{PARAMS}/properties", "b", {"type": "number"}))
    assert change.rule.name == "type-widened"


def test_a_set_of_values_given_a_name_is_the_same_on_the_wire() -> None:
    def edit(content: Node) -> None:
        content["$defs"]["Text"] = {"description": "A type.", "type": "string"}
        content["$defs"]["AskParams"]["properties"]["a"] = {"$ref": "#/$defs/Text"}

    assert [change.rule.name for change in compared(edit)] == ["class-added"]


def test_a_base_is_found_by_another_name_of_it_too() -> None:
    before = toy()
    before["$defs"] |= {"Other": {"$ref": "#/$defs/Part"}, "Third": {"$ref": "#/$defs/Other"}}
    before["$defs"]["AskParams"] |= {"properties": {}, "allOf": [{"$ref": "#/$defs/Third"}]}
    assert compared(changing("$defs/AskParams/allOf/0", "$ref", "#/$defs/Part"), before) == []
    (found,) = on_the_wire(changing("$defs/Part/properties/x", "type", "null"), before)
    assert (found.what, "ask params" in found.flows) == ("Part.x was string and is null", True)


def test_what_a_field_may_be_now_is_said_in_a_sentence() -> None:
    either = {"type": ["string", "integer"]}
    (wider,) = compared(changing(f"{PARAMS}/properties", "a", either))
    assert wider.what == "AskParams.a may be integer now"
    before = edited(toy(), changing(f"{PARAMS}/properties", "a", either))
    (narrower,) = compared(changing(f"{PARAMS}/properties", "a", TEXT), before)
    assert narrower.what == "AskParams.a may not be integer now"
