"""Pictures made of tables: everything that the table says is in the picture, and in words too."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from kinwire_codegen.site.machines import machine_svg
from kinwire_codegen.site.sequences import sequence_svg

MACHINE = {
    "name": "Life",
    "initial": "a",
    "final": ["d"],
    "transitions": [
        {"from": "a", "on": "go", "to": "b"},
        {"from": "a", "on": "leap", "to": "c"},
        {"from": "b", "on": "back", "to": "a"},
        {"from": "b", "on": "again", "to": "b"},
        {"from": "b", "on": "over", "to": "c"},
        {"from": "c", "on": "end", "to": "d"},
        {"from": "c", "on": "stop", "to": "d"},
        {"from": "d", "on": "rise", "to": "a"},
    ],
}


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter() if node.tag == "text"]


def test_a_machine_has_each_state_once_and_each_way_with_all_its_causes() -> None:
    found = texts(machine_svg(MACHINE))
    ways = ["go", "leap", "back", "again", "over", "end, stop", "rise"]
    assert sorted(found) == sorted(["a", "b", "c", "d", *ways])


def test_a_machine_marks_where_it_begins_and_ends() -> None:
    classes = [
        node.get("class")
        for node in ElementTree.fromstring(machine_svg(MACHINE))
        if node.tag == "g"
    ]
    assert classes.count("state first") == 1
    assert classes.count("state final") == 1


def test_states_of_one_step_stand_above_each_other_and_nothing_leaves_the_picture() -> None:
    svg = ElementTree.fromstring(machine_svg(MACHINE))
    width, height = (float(one) for one in str(svg.get("viewBox")).split()[2:])
    boxes = [node for node in svg.iter() if node.tag == "rect"]
    for box in boxes:
        x, y = float(str(box.get("x"))), float(str(box.get("y")))
        assert 0 <= x <= width - float(str(box.get("width")))
        assert 0 <= y <= height - float(str(box.get("height")))
    assert len({(box.get("x"), box.get("y")) for box in boxes}) == 4


FACTS: dict[str, Any] = {
    "roles": {"client": "host", "server": "server <1>"},
    "from": "client",
    "kind": "request",
    "name": "a/b",
    "result": "Result",
    "fails": True,
}
CASES = [
    pytest.param({}, ["a/b", "Result", "or an error"], id="request"),
    pytest.param({"kind": "notification", "result": None}, ["a/b"], id="notification"),
    pytest.param({"kind": "tool"}, ["tools/call a/b", "Result", "or an error"], id="tool"),
    pytest.param(
        {"kind": "either", "fails": False}, ["a/b", "Result (if it was a request)"], id="either"
    ),
    pytest.param(
        {"from": "both", "result": None, "fails": False},
        ["a/b", "a/b (the other way round)"],
        id="both ends",
    ),
]


@pytest.mark.parametrize(("changed", "labels"), CASES)
def test_a_sequence_shows_what_goes_and_what_comes(
    changed: dict[str, Any], labels: list[str]
) -> None:
    assert texts(sequence_svg(FACTS | changed)) == ["host", "server <1>", *labels]


@pytest.mark.parametrize(
    ("sender", "told"),
    [
        ("client", "host sends a/b to server <1>, which answers with Result"),
        ("server", "server <1> sends a/b to host, which answers with Result"),
        ("both", "either end sends a/b, which answers with Result"),
    ],
)
def test_a_sequence_is_told_in_words(sender: str, told: str) -> None:
    svg = ElementTree.fromstring(sequence_svg(FACTS | {"from": sender}))
    assert svg.findtext("title") == told
