"""Pictures made of tables: everything that the table says is in the picture, and in words too."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.sequences import row_drawing, sequence_drawing
from kinwire_codegen.docs.site.machines import machine_svg
from kinwire_codegen.docs.site.sequences import sequence_svg
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.sequences import Named
from tests.each import each

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


def test_a_machine_has_each_state_once_and_each_event() -> None:
    found = texts(machine_svg(MACHINE))
    ways = ["go", "leap", "back", "again", "over", "end, stop", "rise"]
    assert sorted(found) == sorted(["a", "b", "c", "d", *ways])


def test_a_machine_marks_first_and_final_states() -> None:
    classes = [
        node.get("class")
        for node in ElementTree.fromstring(machine_svg(MACHINE))
        if node.tag == "g"
    ]
    assert classes.count("state first") == 1
    assert classes.count("state final") == 1


def test_states_do_not_overlap_or_leave_the_picture() -> None:
    svg = ElementTree.fromstring(machine_svg(MACHINE))
    width, height = (float(one) for one in str(svg.get("viewBox")).split()[2:])
    boxes = [node for node in svg.iter() if node.tag == "rect"]
    for box in boxes:
        x, y = float(str(box.get("x"))), float(str(box.get("y")))
        assert 0 <= x <= width - float(str(box.get("width")))
        assert 0 <= y <= height - float(str(box.get("height")))
    assert len({(box.get("x"), box.get("y")) for box in boxes}) == 4


HOME = {"protocol": "toy", "roles": {"client": "host", "server": "server <1>"}}
NOTE = {"kind": "notification", "from": "client"}
ASKED = {"kind": "request", "from": "client", "result": "#/$defs/Result", "errors": ["No"]}
CASES = [
    pytest.param(ASKED, ["a/b", "Result", "or an error"], id="request"),
    pytest.param(NOTE, ["a/b"], id="notification"),
    pytest.param(
        {"result": "#/$defs/Result", "errors": ["No"]},
        ["tools/call a/b", "Result", "or an error"],
        id="tool",
    ),
    pytest.param(
        ASKED | {"kind": "either", "errors": []},
        ["a/b", "Result (if it was a request)"],
        id="either",
    ),
    pytest.param(NOTE | {"from": "both"}, ["a/b", "a/b (the other way round)"], id="both ends"),
]


def drawn(row: dict[str, Any]) -> str:
    table = "methods" if "kind" in row else "tools"
    home = Document({**HOME, table: {"a/b": row}})
    return sequence_svg(row_drawing(Named(home, table, "a/b")).facts)


@each(("row", "labels"), CASES)
def test_a_message_shows_request_and_response(row: dict[str, Any], labels: list[str]) -> None:
    assert texts(drawn(row)) == ["host", "server <1>", *labels]


@each(
    ("sender", "words"),
    [
        ("client", "host sends a/b to server <1>, which answers with Result"),
        ("server", "server <1> sends a/b to host, which answers with Result"),
        ("both", "either end sends a/b, which answers with Result"),
    ],
)
def test_a_message_is_described_in_words(sender: str, words: str) -> None:
    svg = ElementTree.fromstring(drawn(ASKED | {"from": sender}))
    assert svg.findtext("title") == words


def test_a_sequence_shows_each_step_and_what_repeats(tiny: Documents) -> None:
    links = Links(tiny, [tiny["tiny"], tiny["tiny-base"]])
    svg = sequence_svg(sequence_drawing(links, tiny["tiny"], "Search").facts)
    labels = ["books/find", "FindResult", "0 … n", "books/lent"]
    labels += ["shelf/open", "books/announce", "tools/call dust"]
    assert texts(svg) == ["reader", "shelf", *labels]
    lines = [node for node in ElementTree.fromstring(svg).iter() if node.tag == "line"][2:]
    to_shelf = [float(str(one.get("x2"))) > float(str(one.get("x1"))) for one in lines]
    assert to_shelf == [True, False, False, True, False, True]
    words = ElementTree.fromstring(svg).findtext("title") or ""
    assert (
        "shelf: answer to books/find, FindResult; shelf: books/lent, any number of times" in words
    )
