"""Whoever is told what happens in a demo, as it happens."""

from __future__ import annotations

__all__ = ("Line", "Narrator")

from typing import NamedTuple, Protocol


class Line(NamedTuple):
    """What is done: by whom, to whom, and by which message, where there are such."""

    text: str
    who: str | None = None
    to: str | None = None
    method: str | None = None


class Narrator(Protocol):
    """Takes one step after the other, and what is done in each."""

    def begin(self, title: str) -> None:
        """Begin the next step."""
        ...

    def tell(self, line: Line) -> None:
        """Take what is done next in the step."""
        ...
