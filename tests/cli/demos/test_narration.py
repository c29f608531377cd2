"""How a demo is narrated: to people, and to programs."""

from __future__ import annotations

import json
import sys

import pytest

from kinwire_cli.demos.narration import JsonNarration, Line, TextNarration
from tests.cli.fixtures_scripts import Captured


def tell(narration: TextNarration | JsonNarration) -> None:
    narration.begin("First")
    narration.tell(Line("$ one\ntwo"))
    narration.begin("Second")
    narration.tell(Line("hello", "notes", "redaction", "tools/call"))
    narration.tell(Line("a\nb", "host"))
    narration.tell(Line("\x1b[2J", "model", "host"))
    narration.tell(Line("word " * 20, "host", "chat"))


def test_people_get_columns(capsys: Captured) -> None:
    narration = TextNarration()
    tell(narration)
    narration.end("Next: more")
    assert capsys.readouterr().out.splitlines() == [
        "1. First",
        "   $ one",
        "   two",
        "",
        "2. Second",
        "   notes     → redaction tools/call: hello",
        "   host                  a",
        "                         b",
        "   model     → host      \\u001b[2J",
        "   host      → chat      " + "word " * 14 + "word",
        "                         " + "word " * 4 + "word",
        "",
        "Next: more",
    ]


def test_programs_get_an_object_a_step(capsys: Captured) -> None:
    narration = JsonNarration()
    tell(narration)
    narration.end("Next: more")
    steps = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert steps == [
        {"step": 1, "title": "First", "lines": [{"text": "$ one\ntwo"}]},
        {
            "step": 2,
            "title": "Second",
            "lines": [
                {"who": "notes", "to": "redaction", "method": "tools/call", "text": "hello"},
                {"who": "host", "text": "a\nb"},
                {"who": "model", "to": "host", "text": "\x1b[2J"},
                {"who": "host", "to": "chat", "text": "word " * 20},
            ],
        },
    ]


@pytest.mark.parametrize("narration", [TextNarration(), JsonNarration()])
def test_a_demo_that_did_not_begin_says_nothing(
    capsys: Captured, narration: TextNarration | JsonNarration
) -> None:
    narration.end("")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("terminal", "no_color", "line"),
    [
        (True, "", "   \x1b[32mnotes    \x1b[0m → \x1b"),
        (True, "1", "   notes     → "),
        (False, "", "   notes     → "),
    ],
)
def test_a_name_has_a_colour_where_that_is_wanted(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, terminal: bool, no_color: str, line: str
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    narration = TextNarration()
    narration.tell(Line("hello", "notes", "host"))
    narration.tell(Line("hello", "host", "notes"))
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(line.removesuffix("\x1b"))
    assert second.startswith("   \x1b[36mhost") is ("\x1b" in line)
