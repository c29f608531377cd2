"""What each edit outside types does, to whom, and how badly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinwire_codegen.compare.verdict import Category, Level
from tests.codegen.compare.documents import (
    Node,
    against,
    at,
    changing,
    compared,
    edited,
    golden,
    loaded,
    on_the_wire,
    toy,
    verdicts,
)
from tests.each import each

GUEST_SENDS, HOST_ANSWERS = "old senders (guest)", "old receivers (host)"


OF_ROWS = [
    pytest.param("methods", "ask", None, "B101", "BREAKING", [GUEST_SENDS], id="a request is gone"),
    pytest.param(
        "methods", "notified", None, "B101", "BREAKING", ["old receivers (guest)"], id="it is gone"
    ),
    pytest.param(
        "methods/ask", "from", "server", "B107", "BREAKING",
        ["old receivers (guest)", "old senders (guest)"], id="the other end sends",
    ),
    pytest.param(
        "methods/ask", "from", "both", "B108", "WARNING",
        ["old receivers (guest or host)"], id="both ends send",
    ),
    pytest.param(
        "methods/ask", "gate", "server:x", "B109", "BREAKING",
        [HOST_ANSWERS, GUEST_SENDS], id="a gate",
    ),
    pytest.param("methods/ask", "aliases", ["beg"], "B111", "SAFE", [], id="another name"),
    pytest.param(
        "methods/ask", "status", "considered", "B112", "BREAKING", [GUEST_SENDS], id="withdrawn"
    ),
    pytest.param("methods/ask", "status", "deprecated", "B114", "SAFE", [], id="deprecated"),
    pytest.param("methods/ask", "order", "serial", "B115", "WARNING", [], id="in order"),
    pytest.param("methods/ask", "errors", ["Full"], "B117", "SAFE", [], id="another error"),
    pytest.param(
        "errors/Full", "code", 2, "B203", "BREAKING", [HOST_ANSWERS, GUEST_SENDS], id="a code"
    ),
    pytest.param(
        "", "capability", "x", "B801", "BREAKING", [HOST_ANSWERS, GUEST_SENDS], id="an offer"
    ),
    pytest.param("", "capabilityAliases", ["y"], "B803", "SAFE", [], id="also read there"),
]  # fmt: skip


@each(("path", "key", "value", "rule", "level", "victims"), OF_ROWS)
def test_rows_are_judged_by_who_sends_them(
    path: str, key: str, value: Any, rule: str, level: str, victims: list[str]
) -> None:
    assert verdicts(path, key, value) == [(rule, level, victims)]


def test_a_request_that_becomes_a_notification_always_breaks() -> None:
    def edit(content: Node) -> None:
        row = at(content, "methods/ask")
        row["kind"] = "notification"
        del row["result"]

    assert [change.rule.name for change in compared(edit)] == ["kind-changed"]


def test_a_code_that_stands_for_something_else_always_breaks() -> None:
    def edit(content: Node) -> None:
        content["errors"] = {"Empty": {"code": 1, "message": "Empty", "description": "No more."}}

    found = {change.rule.name: change.level for change in compared(edit)}
    assert found["error-code-reused"] is Level.BREAKING


def test_a_renamed_method_is_reported_once() -> None:
    def edit(content: Node) -> None:
        content["methods"]["asks"] = content["methods"].pop("ask")

    (change,) = on_the_wire(edit)
    assert change.rule.name == "method-renamed"
    assert change.what == "ask is asks now: renamed? (100 % same shape)"


def test_a_renamed_method_that_keeps_its_old_name_serves_old_senders() -> None:
    def edit(content: Node) -> None:
        content["methods"]["enquire"] = content["methods"].pop("ask") | {"aliases": ["ask"]}

    (change,) = on_the_wire(edit)
    assert change.rule.name == "method-renamed-with-alias"
    assert list(map(str, change.breaks)) == ["old receivers (host)"]


def test_a_renamed_error_stops_programs_and_no_peer() -> None:
    def edit(content: Node) -> None:
        content["errors"]["Crowded"] = content["errors"].pop("Full")

    (change,) = compared(edit)
    assert (change.rule.name, change.level) == ("error-class-renamed", Level.BREAKING)
    assert list(map(str, change.breaks)) == ["old programs"]


@each(
    ("path", "key", "value", "rule"),
    [
        ("limits/maxBooks", "value", 1, "data-changed"),
        ("", "limits", None, "data-removed"),
        ("http", "base", "/other", "http-changed"),
        ("", "http", None, "http-removed"),
        ("grpc", "package", "other", "grpc-changed"),
        ("", "grpc", None, "grpc-removed"),
        ("", "augments", [], "augment-removed"),
        ("tools", "dust", None, "method-removed"),
    ],
)
def test_data_outside_messages_is_compared_too(path: str, key: str, value: Any, rule: str) -> None:
    found = golden()["tiny"].content
    before = next(iter(found["limits"]))
    edit = changing(path.replace("maxBooks", before), key, value)
    assert rule in {change.rule.name for change in compared(edit, found)}


def with_more(content: Node) -> None:
    """Add what is taken away, or changed, in the other direction."""
    content["limits"]["more"] = next(iter(content["limits"].values()))
    content["grpc"]["messages"]["More"] = next(iter(content["grpc"]["messages"].values()))
    content["http"]["paths"]["more"] = next(iter(content["http"]["paths"].values()))
    content["methods"]["books/find"] |= {"kind": "either", "from": "both", "aliases": ["find"]}
    content["methods"]["books/find"] |= {"status": "considered"}
    content["tools"]["dust"]["entry"] = {"annotations": {"readOnlyHint": True}}
    content["http"]["statuses"] = []
    content["grpc"]["codes"] = []


def test_each_row_and_datum_is_reported_in_both_directions() -> None:
    old = golden()["tiny"].content
    new = edited(old, with_more)
    there = {change.rule.name for change in against(old, new).of(Category.WIRE)}
    back = {change.rule.name for change in against(new, old).of(Category.WIRE)}
    both = {"tool-entry-changed", "http-status-changed", "grpc-code-changed"}
    assert there == both | {
        *("data-added", "grpc-added", "http-added", "kind-widened", "sender-widened"),
        *("alias-added", "method-withdrawn"),
    }
    assert back == both | {
        *("data-removed", "grpc-removed", "http-removed", "kind-narrowed", "sender-narrowed"),
        *("alias-removed", "method-established"),
    }


def test_an_added_member_comes_and_changes_its_writer() -> None:
    old = golden()["tiny"].content
    (added, *_) = against(edited(old, changing("", "augments", None)), old).of(Category.WIRE)
    assert added.rule.name == "augment-added"
    sides = (edited(old, changing("augments/0", "from", end)) for end in ("client", "server"))
    (change,) = against(*sides).of(Category.WIRE)
    assert (change.rule.name, change.level) == ("augment-writer-changed", Level.BREAKING)


def test_error_data_that_is_added_or_removed_is_reported() -> None:
    (change,) = compared(changing("errors/Full", "data", "#/$defs/Part"))
    assert (change.rule.name, change.level) == ("error-data-changed", Level.WARNING)
    assert change.what == "error Full has data now"


def test_another_name_of_any_type_changes_nothing_on_the_wire() -> None:
    old = golden()["tiny"].content
    for name in old["$defs"]:
        text = json.dumps(old).replace(f'"#/$defs/{name}"', f'"#/$defs/{name}Again"')
        new = json.loads(text)
        new["$defs"][f"{name}Again"] = new["$defs"].pop(name)
        assert [change.what for change in against(old, new).of(Category.WIRE)] == []


@pytest.mark.parametrize("edit", ["number", "type"])
def test_a_field_of_a_grpc_message_is_its_number_and_its_type(edit: str) -> None:
    def change(content: Node) -> None:
        message = next(iter(content["grpc"]["messages"].values()))
        field = next(iter(message["fields"].values()))
        field[edit] = 99 if edit == "number" else "bytes"

    found = compared(change, golden()["tiny"].content)
    assert {one.rule.name for one in found} == {"grpc-changed"}


@each(
    ("path", "key", "value", "rule"),
    [
        ("methods/books~find", "summary", "Something else.", "D101"),
        ("methods/books~find", "since", "0.9", "D105"),
        ("sequences/Search", "steps", [{"message": "books/find"}], "D101"),
    ],
)
def test_words_are_for_readers_alone(path: str, key: str, value: Any, rule: str) -> None:
    old = golden()["tiny"].content
    (change,) = against(old, edited(old, changing(path, key, value))).changes
    assert (change.rule.id, change.level) == (rule, Level.SAFE)


def test_values_added_and_removed_in_one_place_are_reported_by_name() -> None:
    old = edited(toy(), changing("$defs/Part", "x-decision", "Ours."))
    new = edited(toy(), changing("$defs/Part", "examples", [{"x": ""}]))
    assert [change.what for change in against(old, new).changes] == [
        "$defs/Part: its x-decision has changed",
        "$defs/Part: its examples has changed",
    ]


def test_a_sequence_that_came_or_went_is_for_readers_alone() -> None:
    old = golden()["tiny"].content
    new = edited(old, changing("", "sequences", None))
    (gone,) = against(old, new).changes
    assert (gone.rule.id, gone.what) == (
        "D104",
        "the page or row of Search is gone: tiny/data.md#Search",
    )
    (added,) = against(new, old).changes
    assert (added.rule.id, added.what) == ("D106", "the sequence Search is new")
    assert added.anchor == "tiny/data.md#Search"


def test_an_added_or_removed_protocol_is_reported_once() -> None:
    from kinwire_codegen.compare import compare

    assert [c.rule.name for c in compare(loaded(), loaded(toy())).changes] == ["protocol-added"]
    (gone,) = compare(loaded(toy()), loaded()).of(Category.WIRE)
    assert (gone.rule.name, gone.anchor) == ("protocol-removed", "README.md")
