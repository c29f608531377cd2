"""What each edit of a closed set, an open set or a union of objects does, and to whom."""

from __future__ import annotations

import pytest

from kinwire_codegen.compare.verdict import Category, Level
from tests.codegen.compare.documents import Node, against, changing, compared, edited, toy
from tests.each import each

PARAMS, RESULT = "$defs/AskParams", "$defs/AskResult"
TEXT = {"type": "string"}


@each(
    ("old", "new", "rules"),
    [
        pytest.param(["x"], ["x", "y"], ["values-added"], id="one more"),
        pytest.param(["x", "y"], ["x"], ["values-removed"], id="one less"),
        pytest.param(["x", "y"], ["x", "z"], ["values-added", "values-removed"], id="another"),
    ],
)
def test_closed_sets_are_compared_by_value(
    old: list[str], new: list[str], rules: list[str]
) -> None:
    path = f"{RESULT}/properties"
    before = edited(toy(), changing(path, "a", {"type": "string", "enum": old}))
    found = compared(changing(path, "a", {"type": "string", "enum": new}), before)
    assert sorted(change.rule.name for change in found) == rules


def test_a_string_that_becomes_a_closed_set_is_reported_with_its_values() -> None:
    closed = {"type": "string", "enum": ["x", "y"]}
    (change,) = compared(changing(f"{PARAMS}/properties", "a", closed))
    assert change.what == 'AskParams.a may only be "x" or "y" now'


def test_a_value_more_in_an_open_set_is_nothing_new() -> None:
    def open_set(*values: str) -> Node:
        return {"anyOf": [{"type": "string", "enum": list(values)}, TEXT]}

    before = edited(toy(), changing(f"{RESULT}/properties", "a", open_set("x")))
    assert compared(changing(f"{RESULT}/properties", "a", open_set("x", "y")), before) == []


@each("listed", [["x", "y"], ["x"]])
@each("named", [True, False])
def test_values_that_an_open_set_lists_no_more_are_for_programs_to_notice(
    listed: list[str], *, named: bool
) -> None:
    values = {"description": "A type.", "type": "string", "enum": ["x", "y", "z"]}
    role = {"$ref": "#/$defs/Role"} if named else values

    def edit(content: Node) -> None:
        content["$defs"]["Role"] = values
        content["$defs"]["AskResult"]["properties"]["a"] = {"anyOf": [role, TEXT]}

    path, old = f"{RESULT}/properties", edited(toy(), edit)
    fewer = {"anyOf": [{"type": "string", "enum": listed}, TEXT]}
    for new, gone in (
        (TEXT, '"x" or "y" or "z"'),
        (fewer, '"z"' if "y" in listed else '"y" or "z"'),
    ):
        (change,) = compared(changing(path, "a", new), old)
        assert (change.rule.id, change.level) == ("P108", Level.WARNING)
        assert change.what == f"AskResult.a does not list {gone} any more"
    assert compared(changing(path, "a", values), old) != []


def pets(*required: str, tag: bool = True) -> Node:
    """Return the toy with a result that is one of two objects."""

    def edit(content: Node) -> None:
        for name in ("Cat", "Dog"):
            members = {"kind": {"const": name.lower()}} if tag else {}
            members["legs"] = {"type": "integer"}
            made = {"type": "object", "properties": members, "required": list(required)}
            content["$defs"][name] = {"description": "A type."} | made
        pet: Node = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in ("Cat", "Dog")]}
        if required:
            pet["discriminator"] = {"propertyName": "kind"}
        for name in ("AskParams", "AskResult", "NotifiedParams"):
            content["$defs"][name]["properties"]["c"] = pet
        del content["$defs"]["Part"]

    return edited(toy(), edit)


@each(
    ("old", "new", "rule", "levels"),
    [
        (pets("kind"), pets(), "B327", ["WARNING", "BREAKING", "BREAKING"]),
        (pets("kind"), pets(tag=False), "B328", ["BREAKING"] * 3),
        (pets(), pets("kind"), "B326", ["BREAKING"] * 3),
        (pets(tag=False), pets("kind"), "B326", ["BREAKING"] * 3),
    ],
)
def test_a_removed_discriminator_breaks_readers_that_look_for_it(
    old: Node, new: Node, rule: str, levels: list[str]
) -> None:
    found = [one for one in against(old, new).of(Category.WIRE) if one.rule.id == rule]
    assert {change.place[1]: change.level.name for change in found} == dict(
        zip(("AskParams", "AskResult", "NotifiedParams"), levels, strict=True)
    )


def test_an_object_that_comes_twice_in_a_union_and_then_once_is_the_same() -> None:
    part = {"$ref": "#/$defs/Part"}

    def edit(content: Node) -> None:
        content["$defs"]["More"] = {"description": "A type.", "anyOf": [part, TEXT]}
        content["$defs"]["AskResult"]["properties"]["c"] = {
            "anyOf": [part, {"$ref": "#/$defs/More"}]
        }

    once = changing(f"{RESULT}/properties", "c", {"anyOf": [part, TEXT]})
    assert [one.rule.name for one in compared(once, edited(toy(), edit))] == []
