"""Draws a tree of checkpoints as text and as SVG."""

from __future__ import annotations

__all__ = ("as_svg", "as_text")

from collections.abc import Iterator, Mapping
from html import escape
from typing import NamedTuple

from pydantic import MISSING

from kinwire.mcpl.rules.checkpoints import Checkpoint

_ROW, _COLUMN, _RADIUS = 28, 24, 6  # pixels

Kept = Mapping[str, Checkpoint]
"""Checkpoints by id, the oldest first."""


class _Line(NamedTuple):
    checkpoint: Checkpoint
    bars: str
    column: int
    above: int | None
    """The line of its parent."""


def as_text(kept: Kept, head: str | None) -> str:
    """Return a line for each checkpoint; the head has a star, one without data is in brackets."""
    return "".join(f"{line.bars}{_caption(kept, head, line.checkpoint)}\n" for line in _lines(kept))


def as_svg(kept: Kept, head: str | None) -> str:
    """Return an SVG document with a dot for each checkpoint, hollow if it has no data."""
    lines = list(_lines(kept))
    width = 20 + _COLUMN * max((line.column for line in lines), default=0) + 260
    height = 20 + _ROW * len(lines)
    drawn = "".join(_drawn(kept, head, place, line) for place, line in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="monospace" font-size="13">\n{drawn}</svg>\n'
    )


def _lines(kept: Kept) -> Iterator[_Line]:
    # A checkpoint that was recorded before its parent is a root too: no other one lists it.
    listed = {child for one in kept.values() for child in one.children}
    roots = [one for one in kept.values() if one.id not in listed]
    waiting: list[tuple[Checkpoint, str, str, int, int | None]] = [
        (root, "", "", 0, None) for root in reversed(roots)
    ]
    place = 0
    while waiting:
        checkpoint, bars, below, column, above = waiting.pop()
        yield _Line(checkpoint, bars, column, above)
        children = checkpoint.children
        for child in reversed(children):
            # A chain goes straight down; a branch goes to the right.
            last, branches = child == children[-1], len(children) > 1
            lead = ("└── " if last else "├── ") if branches else ""
            rest = ("    " if last else "│   ") if branches else ""
            entry = (kept[child], below + lead, below + rest, column + branches, place)
            waiting.append(entry)
        place += 1


def _caption(kept: Kept, head: str | None, checkpoint: Checkpoint) -> str:
    name = "".join(sign if sign.isprintable() else "\ufffd" for sign in checkpoint.id)
    shown = f"({name})" if checkpoint.data is MISSING else name
    gone = checkpoint.parent is not None and checkpoint.parent not in kept
    return f"{shown}{' *' if checkpoint.id == head else ''}{' …' if gone else ''}"


def _drawn(kept: Kept, head: str | None, place: int, line: _Line) -> str:
    x, y = 15 + _COLUMN * line.column, 20 + _ROW * place
    drawn = ""
    if line.above is not None:
        up = 20 + _ROW * line.above
        left = x - (_COLUMN if "└" in line.bars[-4:] or "├" in line.bars[-4:] else 0)
        path = f"M{left} {up}V{y}H{x}"
        drawn += f'<path d="{path}" fill="none" stroke="gray"/>\n'
    is_head = line.checkpoint.id == head
    colour = "crimson" if is_head else "steelblue"
    fill = "white" if line.checkpoint.data is MISSING else colour
    drawn += f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="{fill}" stroke="{colour}"/>\n'
    caption = escape(_caption(kept, head, line.checkpoint))
    return drawn + f'<text x="{x + 14}" y="{y + 4}">{caption}</text>\n'
