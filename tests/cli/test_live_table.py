"""Lines that are drawn again and again at the end of a terminal."""

from __future__ import annotations

import io
import os
import re

import pytest
from hypothesis import given, strategies as st

from kinwire_cli.live_table import LiveLines

PIECE = re.compile(r"\x1b\[\??(\d*)([A-Za-z])|([^\x1b])", re.DOTALL)


class Screen(io.StringIO):
    """A terminal that knows the sequences in use, and shows what is on it."""

    columns = 80

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []
        self.lines, self._row, self._column, self._wraps = [""], 0, 0, True

    def write(self, text: str) -> int:
        self.writes.append(text)
        for piece in PIECE.finditer(text):
            self._take(*piece.groups())
        return len(text)

    def _take(self, number: str, what: str | None, sign: str | None) -> None:
        if sign is not None:
            self._sign(sign)
        elif what == "A":
            self._row -= int(number)
            assert self._row >= 0, "above what is known of the terminal"
        elif what == "K":
            self.lines[self._row] = self.lines[self._row][: self._column]
        elif what == "J":
            self.lines[self._row] = self.lines[self._row][: self._column]
            del self.lines[self._row + 1 :]
        elif what in ("h", "l") and number == "7":
            self._wraps = what == "h"

    def _sign(self, sign: str) -> None:
        if sign == "\r":
            self._column = 0
        elif sign == "\n":
            self._row, self._column = self._row + 1, 0
            self.lines += [""] * (self._row == len(self.lines))
        else:
            if self._wraps and self._column == self.columns:
                self._sign("\n")
            line = self.lines[self._row]
            self.lines[self._row] = line[: self._column] + sign + line[self._column + 1 :]
            self._column += 1


LINES = st.lists(st.text("ab ", max_size=20), max_size=4)
STEPS = st.lists(st.one_of(LINES, st.text("xy\n", max_size=30)), max_size=12)


@given(STEPS)
def test_what_is_drawn_last_is_at_the_end_and_all_other_text_above(
    steps: list[list[str] | str],
) -> None:
    screen, text, last = Screen(), "", list[str]()
    lines = LiveLines(screen)
    for step in steps:
        if isinstance(step, str):
            lines.write(step)
            text += step
        else:
            lines.draw(step)
            last = step
    lines.end()
    text += "" if text.endswith("\n") or not text else "\n"
    above = text.split("\n")[:-1]
    shown = [line.rstrip() for line in screen.lines]
    assert shown == [line.rstrip() for line in (*above, *last, "")]
    assert screen._wraps


def test_a_drawing_is_one_write_that_erases_nothing_first() -> None:
    screen = Screen()
    lines = LiveLines(screen)
    for text in ("one", "two"):
        lines.draw([text, "same"])
    assert len(screen.writes) == 2
    assert screen.writes[1].startswith("\x1b[?2026h\r\x1b[2A\x1b[?7ltwo\x1b[K\n")
    assert screen.writes[1].endswith("\x1b[J\x1b[?2026l")


def test_lines_that_a_narrower_terminal_has_folded_are_gone_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Screen()
    lines = LiveLines(screen)
    lines.draw(["\x1b[32m" + "a" * 70 + "\x1b[0m", ""])
    monkeypatch.setattr(LiveLines, "size", os.terminal_size((30, 24)))
    screen.lines, screen._row = ["a" * 30, "a" * 30, "a" * 10, "", ""], 4
    lines.draw(["b", "c"])
    assert screen.lines == ["b", "c", ""]


def test_a_terminal_without_a_size_has_the_usual_one() -> None:
    assert LiveLines(Screen()).size == (80, 24)


def test_a_terminal_that_is_gone_ends_nothing() -> None:
    class Gone(Screen):
        def write(self, text: str) -> int:
            raise OSError

    lines = LiveLines(Gone())
    lines.draw(["a"])
    assert lines.write("b\n") == 2
