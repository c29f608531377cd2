"""`map.json` is complete and true: every definition, every target, every difference in members."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kinwire_protocols import mcp
from tests.each import each
from tests.parity.places import differences, exists, reference
from tests.parity.targets import ADDITIONS, LENIENCIES, MAP
from tests.specified import specified

WITHOUT_TARGET = {"union", "abstract"}


def test_every_official_definition_is_listed(official: dict[str, Any]) -> None:
    assert set(MAP) == set(official["definitions"])
    assert len(MAP) == 79


def test_no_definition_is_listed_twice() -> None:
    text = Path(__file__).with_name("map.json").read_text(encoding="utf-8")
    pairs: list[list[str]] = []
    json.loads(text, object_pairs_hook=lambda found: pairs.append([key for key, _ in found]))
    assert [keys for keys in pairs if len(keys) != len(set(keys))] == []


@each("name", [name for name, to in MAP.items() if to not in WITHOUT_TARGET])
def test_the_target_exists(name: str) -> None:
    target = MAP[name]
    if target.startswith("row:"):
        assert target.removeprefix("row:") in mcp.PROTOCOL.methods
    else:
        assert exists(target)


def test_every_row_of_the_protocol_is_a_target() -> None:
    rows = [to.removeprefix("row:") for to in MAP.values() if to.startswith("row:")]
    assert sorted(rows) == sorted(specified(mcp.PROTOCOL))


@each("place", [*ADDITIONS, *(at for found in LENIENCIES.values() for at in found)])
def test_the_place_of_a_difference_exists(place: str) -> None:
    assert exists(place)


@each("name", [name for name, to in MAP.items() if to == "abstract"])
def test_an_abstract_definition_is_used_by_no_other(name: str, official: dict[str, Any]) -> None:
    assert f'"#/definitions/{name}"' not in json.dumps(official)


@each("name", [name for name, to in MAP.items() if to == "union"])
def test_a_union_has_branches_with_targets(name: str, official: dict[str, Any]) -> None:
    branches = [branch["$ref"] for branch in official["definitions"][name]["anyOf"]]
    assert not {MAP[branch.rpartition("/")[2]] for branch in branches} & WITHOUT_TARGET


def all_differences(official: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, target in MAP.items():
        node = official["definitions"][name]
        if target.startswith("row:"):
            node = node["properties"]["params"]
        if target not in WITHOUT_TARGET and "properties" in node:
            yield from differences(node, reference(target))


def test_members_are_the_official_ones_and_the_additions(official: dict[str, Any]) -> None:
    found = set(all_differences(official))
    opened = {
        ("open", place) for place in LENIENCIES["envelopes leave params and results to the row"]
    }
    assert found <= {("added", place) for place in ADDITIONS} | opened
    assert {place for what, place in found if what == "added"} == set(ADDITIONS)
