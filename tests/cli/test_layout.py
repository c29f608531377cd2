"""What the terminal shows."""

from __future__ import annotations

import json
from math import inf

import pytest

from kinwire_cli.layout import columns, first_line, json_text, printable
from tests.each import each


def test_columns_are_aligned_and_lines_do_not_end_in_spaces() -> None:
    assert columns([("a", "bb", ""), ("aaa", "b", "c")]) == "a    bb\naaa  b   c"


def test_a_cell_of_several_lines_goes_on_below_itself() -> None:
    assert columns([("a", "b\nbb", "c"), ("d", "e", "f")]) == "a  b   c\n   bb\nd  e   f"


def test_wide_columns_are_folded_to_fit() -> None:
    row = ("mcp", "notifications/resources/updated", "The resource has changed since then.")
    assert columns([row], 44) == (
        "mcp  notifications/     The resource has\n     resources/updated  changed since then."
    )


@each("width", [30, 44, 60, 80, 200])
def test_no_line_of_a_table_is_wider_than_asked(width: int) -> None:
    rows = [("name", "x" * 90, "ListResourceTemplatesRequestParams", "some words " * 9)] * 3
    assert max(map(len, columns(rows, width).split("\n"))) <= width


def test_a_table_too_wide_to_fold_shows_a_row_below_its_first_cell() -> None:
    row = ("tools/call", "request", "client", "CallToolParams", "-")
    assert columns([row], 24) == ("tools/call\n    request  client\n    CallToolParams  -")


def test_a_table_outside_of_a_terminal_is_as_wide_as_it_is() -> None:
    assert columns([("a" * 300, "b")]) == "a" * 300 + "  b"


def test_of_a_text_the_first_line_is_shown() -> None:
    assert first_line("\n a\x1b \nb\n") == "a\\u001b "


def test_no_rows_make_no_lines() -> None:
    assert columns([]) == ""


@each("text", ["\x1b[2Jgone", "\x9b31mred", "a\u202eb", "bell\a", "\x7f"])
def test_a_peer_cannot_steer_the_terminal(text: str) -> None:
    shown = printable(text)
    assert all(sign.isprintable() for sign in shown)
    assert json.loads(f'"{shown}"') == text


def test_json_keeps_its_meaning_and_readable_signs() -> None:
    value = {"é": ["漢😀", "\x1b", "\u2028", 2**70]}
    text = json_text(value)
    assert json.loads(text) == value
    assert "漢😀" in text
    assert "\n" in text


def test_a_number_that_is_too_large_stays_json() -> None:
    value = {"a": [inf, -inf, "Infinity", "\nInfinity"], "Infinity": inf}
    text = json_text(value)
    assert json.loads(text, parse_constant=pytest.fail) == value
