"""Pointers lead to lines and columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.load.findings import Place
from kinwire_codegen.load.positions import Position, nearest_position, positions
from tests.each import each

TEXT = """{
  "a": 1,
  "b": {"c": [true, {"d": "x: {y}, \\"z\\""}], "e": {}},
  "f": []
}"""


@each(
    ("place", "line", "column"),
    [
        ((), 1, 1),
        (("a",), 2, 3),
        (("b", "c"), 3, 9),
        (("b", "c", 0), 3, 15),
        (("b", "c", 1), 3, 21),
        (("b", "c", 1, "d"), 3, 22),
        (("b", "e"), 3, 46),
        (("f",), 4, 3),
        (("b", "c", 9), 3, 9),
        (("nowhere", "at all"), 1, 1),
    ],
)
def test_a_place_has_a_line_and_a_column(
    place: tuple[str | int, ...], line: int, column: int
) -> None:
    assert nearest_position(positions(TEXT), place) == Position(line, column)


SCHEMA = Path(__file__).parents[2] / "schema"


@pytest.mark.parametrize("path", sorted(SCHEMA.glob("*.json")), ids=lambda path: path.stem)
def test_every_place_of_our_documents_is_found(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found, lines = positions(text), text.splitlines()
    seen = 0
    waiting: list[tuple[Place, Any]] = [((), json.loads(text))]
    while waiting:
        place, node = waiting.pop()
        line, column = found[place]
        if place and isinstance(place[-1], str):
            assert lines[line - 1][column - 1 :].startswith(json.dumps(place[-1]))
        if isinstance(node, dict | list):
            inner = node.items() if isinstance(node, dict) else enumerate(node)
            waiting += [((*place, key), value) for key, value in inner]
            seen += 1
    assert seen > 10
