"""Findings as lines: the file, line and column, and what is wrong there."""

from __future__ import annotations

__all__ = ("finding_lines",)

import json
from collections.abc import Mapping
from pathlib import Path

from kinwire_codegen.load.findings import DocumentError, pointer
from kinwire_codegen.load.names import visible
from kinwire_codegen.load.positions import Position, walk


def finding_lines(error: DocumentError) -> list[str]:
    """Return a line for each finding: `schema/mcp.json:186:5: /methods/ping: what is wrong`.

    They are in the order of files and lines. A finding about a file that is not there, such as one
    of the installed package, is written as `file#pointer: what is wrong`.
    """
    known: dict[Path, Mapping[str, Position]] = {}
    found: list[tuple[str, Position, str]] = []
    for finding in error.findings:
        path = None if error.place is None else _path(error.place, finding.file)
        if path is None:
            found.append(("", Position(0, 0), str(finding)))
            continue
        if path not in known:
            known[path] = _positions(path)
        position = _nearest(known[path], finding.pointer)
        at = f":{position.line}:{position.column}" if position.line else ""
        where = f"{finding.pointer}: " if finding.pointer else ""
        text = f"{path}{at}: {where}{finding.what}. {finding.hint}"
        found.append((str(path), position, text))
    return [visible(text) for *_, text in sorted(found)]


def _path(place: Path, name: str) -> Path | None:
    if place.is_file():
        sibling = place.parent / name
        return sibling if sibling.is_file() else place
    path = place / name
    return path if path.is_file() else None


def _nearest(known: Mapping[str, Position], at: str) -> Position:
    """Return where a pointer leads, or the innermost thing around it that is there."""
    while at and at not in known:
        at = at.rpartition("/")[0]
    return known.get(at, Position(0, 0))


def _positions(path: Path) -> Mapping[str, Position]:
    """Return the positions of a file by pointer; of one that cannot be read only its error's."""
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
    except json.JSONDecodeError as error:
        return {"": Position(error.lineno, error.colno)}
    except (OSError, ValueError, RecursionError):
        return {}
    found = {"": Position(1, 1)}
    for steps, position in walk(text):
        place = pointer(*steps)
        if place in found:  # its object has the name twice
            return {"": position}
        found[place] = position
    return found
