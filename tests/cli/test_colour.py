"""Colour is for a terminal that wants it."""

from __future__ import annotations

import sys

import pytest

from kinwire_cli.layout import coloured, with_labels


@pytest.mark.parametrize(
    ("terminal", "environment", "colour", "text"),
    [
        (True, {"TERM": "xterm"}, "red", "\x1b[31mno\x1b[0m"),
        (True, {"TERM": "xterm"}, None, "no"),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, "red", "\x1b[31mno\x1b[0m"),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, "red", "no"),
        (True, {"TERM": "dumb"}, "red", "no"),
        (False, {"TERM": "xterm"}, "red", "no"),
        (False, {"TERM": "xterm", "FORCE_COLOR": "1"}, "red", "\x1b[31mno\x1b[0m"),
        (False, {"TERM": "xterm", "FORCE_COLOR": ""}, "red", "no"),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, "red", "\x1b[31mno\x1b[0m"),
        (True, {"TERM": "xterm", "FORCE_COLOR": "1", "NO_COLOR": "1"}, "red", "no"),
    ],
)
def test_colour(
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    environment: dict[str, str],
    colour: str | None,
    text: str,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert coloured("no", colour) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("error: No.\nhint: Yes.", "\x1b[31merror:\x1b[0m No.\n\x1b[36mhint:\x1b[0m Yes."),
        ("kinwire call: error: No.", "kinwire call: \x1b[31merror:\x1b[0m No."),
        ("the server said error: No.", "the server said error: No."),
    ],
)
def test_labels_at_the_start_of_a_line_are_coloured(
    monkeypatch: pytest.MonkeyPatch, text: str, shown: str
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert with_labels(text) == text
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert with_labels(text) == shown
