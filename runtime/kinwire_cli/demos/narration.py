"""The report of a demo: steps with a number and a title, and the lines of each.

As text a line is printed as soon as something is done; as JSON a step is one object on a line, once
it is over.
"""

from __future__ import annotations

__all__ = ("JsonNarration", "Line", "Narrator", "TextNarration")

import json
from textwrap import indent, wrap
from typing import Any, NamedTuple, Protocol

from kinwire_cli.layout import coloured, printable

_WIDTH = 100
_NAME = 9  # the longest is "redaction"
_MARGIN = "   "
_COLOURS = {"host": "cyan", "kernel": "cyan", "model": "yellow", "operator": "yellow"}


class TextNarration:
    """Prints for people."""

    def __init__(self) -> None:
        self._steps = 0

    def begin(self, title: str) -> None:
        """Print the title of the next step."""
        self._steps += 1
        _print(f"{'' if self._steps == 1 else chr(10)}{self._steps}. {printable(title)}")

    def tell(self, line: Line) -> None:
        """Print what is done, below the title."""
        text, who, to, method = line
        said = printable(text)
        if who is None:
            _print(indent(said, _MARGIN))
            return
        receiver = "" if to is None else f"→ {to}"
        words = said if method is None else f"{method}: {said}"
        name = coloured(f"{who:{_NAME}}", _COLOURS.get(who, "green"))
        first = f" {receiver:{_NAME + 2}} "
        margin = " " * (len(_MARGIN) + _NAME + len(first))
        lines = [
            part
            for one in words.split("\n")
            for part in wrap(one, _WIDTH - len(margin), break_on_hyphens=False) or [""]
        ]
        _print(_MARGIN + name + first + f"\n{margin}".join(lines))

    def end(self, hint: str) -> None:
        """Print what may be done next, if there is a hint."""
        if hint:
            _print(f"\n{hint}")


class JsonNarration:
    """Prints for programs."""

    def __init__(self) -> None:
        self._steps = 0
        self._step: dict[str, Any] = {}

    def begin(self, title: str) -> None:
        """Print the step before, and begin the next one."""
        self._flush()
        self._steps += 1
        self._step = {"step": self._steps, "title": title, "lines": []}

    def tell(self, line: Line) -> None:
        """Add what is done to the step."""
        members = line._asdict().items()
        self._step["lines"].append({name: one for name, one in members if one is not None})

    def end(self, hint: str) -> None:
        """Print the last step; hints are for people."""
        self._flush()

    def _flush(self) -> None:
        if self._step:
            _print(printable(json.dumps(self._step, ensure_ascii=False)))


def _print(text: str) -> None:
    print(text, flush=True)  # a child process writes to the same terminal


class Line(NamedTuple):
    """What is done: by whom, to whom, and by which message, where there are such."""

    text: str
    who: str | None = None
    to: str | None = None
    method: str | None = None


class Narrator(Protocol):
    """Receives the steps of a demo and the lines of each."""

    def begin(self, title: str) -> None:
        """Begin the next step."""
        ...

    def tell(self, line: Line) -> None:
        """Add a line to the step."""
        ...
