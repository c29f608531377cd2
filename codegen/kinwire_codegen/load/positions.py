"""Lines and columns of what stands in a JSON text, for those who read it in an editor."""

from __future__ import annotations

__all__ = ("Position", "nearest_position", "positions", "walk")

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kinwire_codegen.load.findings import Place

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


class Position(NamedTuple):
    """A place in a text, counted from 1."""

    line: int
    column: int


def positions(text: str) -> dict[Place, Position]:
    """Return where each member (its name) and each item of a JSON text stands.

    The text must be JSON; of a member that stands twice the last one counts.
    """
    return {(): Position(1, 1), **dict(walk(text))}


def walk(text: str) -> Iterator[tuple[Place, Position]]:
    """Yield where each member and each item of a JSON text stands, in the order of the text."""
    place: list[str | int] = []
    opened: list[str] = []
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    line, expected = 0, ""  # `expected`: what comes next, a name or an item
    for match in _TOKEN.finditer(text):
        while line + 1 < len(starts) and starts[line + 1] <= match.start():
            line += 1
        token = match.group()
        if expected and token not in "}]":
            if expected == "name":
                place[-1] = json.loads(token) if "\\" in token else token[1:-1]
            yield tuple(place), Position(line + 1, match.start() - starts[line] + 1)
        expected = _step(token, opened, place, was_name=expected == "name")


def _step(token: str, opened: list[str], place: list[str | int], *, was_name: bool) -> str:
    if token in ("{", "["):
        opened.append(token)
        place.append("" if token == "{" else 0)
        return "name" if token == "{" else "item"
    if token in ("}", "]"):
        opened.pop()
        place.pop()
        return ""
    if token == ",":
        if opened[-1] == "[":
            place[-1] = int(place[-1]) + 1
            return "item"
        return "name"
    return ""


def nearest_position(known: Mapping[Place, Position], place: Place) -> Position:
    """Return where `place` stands, or the innermost thing around it that is there."""
    while place and place not in known:
        place = place[:-1]
    return known.get(place, Position(1, 1))
