"""Colour is for a terminal that wants it."""

from __future__ import annotations

import sys

import pytest

from kinwire_cli.layout import coloured


@pytest.mark.parametrize(
    ("terminal", "environment", "colour", "text"),
    [
        (True, {"TERM": "xterm"}, "red", "\x1b[31mno\x1b[0m"),
        (True, {"TERM": "xterm"}, None, "no"),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, "red", "\x1b[31mno\x1b[0m"),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, "red", "no"),
        (True, {"TERM": "dumb"}, "red", "no"),
        (False, {"TERM": "xterm"}, "red", "no"),
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
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert coloured("no", colour) == text
