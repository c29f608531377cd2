"""Pictures of the ratios: one of all rows on a logarithmic scale, and a short one for the README.

usage: python -m tests.bench.picture, which draws the short one from the table of performance.md.
"""

from __future__ import annotations

__all__ = ("PAGE", "SHORT_PICTURE", "picture", "short_picture")

import re
from collections.abc import Sequence
from html import escape
from math import log10
from pathlib import Path

from tests.bench.measure import Row

_DOCS = Path(__file__).parents[2] / "docs"
PAGE, SHORT_PICTURE = _DOCS / "performance.md", _DOCS / "bench-short.svg"

# The rows of the short picture: what a bar is called, what the row is called, and its peer.
_SHORT = (
    ("stdio server", "stdio server, 100 B, 64 in flight", "mcp 2.x"),
    ("HTTP server", "HTTP server, 100 B, 64 in flight", "mcp 2.x, its best mode"),
    ("start", "from spawn to the first reply, wall time", "mcp 2.x"),
)

_LINE, _LEFT, _WIDTH = 22, 400, 460  # pixels: a row's height, room for its name, its longest bar
_MOST = 100.0  # the end of the scale
_STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .kept { fill: #2da44e } .missed { fill: #cf222e } .printed { fill: #8c959f }
  .grid { stroke: #d0d7de } .bar { stroke: #24292f; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .grid { stroke: #30363d } .bar { stroke: #e6edf3 }
  }
"""


def picture(rows: Sequence[Row], title: str) -> str:
    """Return an SVG of every row that has a ratio."""
    shown = [row for row in rows if row.times]
    height = (len(shown) + 3) * _LINE
    width = _LEFT + _WIDTH + 80
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
        *_scale(height),
    ]
    for number, row in enumerate(shown):
        lines += _bar(row, _LINE * (number + 1))
    caption = "times as much CPU as kinwire (wall time where it says so); | is the bar"
    lines += [_text(_LEFT, height - 6, caption), "</svg>", ""]
    return "\n".join(lines)


def short_picture(page: str) -> str:
    """Return an SVG with three bars, whose figures are read from the table of `page`."""
    left, longest, height = 110, 360, 26
    times = [_times(page, what, peer) for _, what, peer in _SHORT]
    size = f'width="560" height="{height * 5}" viewBox="0 0 560 {height * 5}"'
    title = "mcp 2.x uses this many times as much as kinwire"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        _text(4, 18, title),
    ]
    for number, ((name, *_), value) in enumerate(zip(_SHORT, times, strict=True), 1):
        width, y = round(longest * value / max(times)), height * number + 2
        lines += [
            _text(4, y + 15, name),
            f'<rect class="kept" x="{left}" y="{y}" width="{width}" height="18"/>',
            _text(left + width + 6, y + 14, f"{value:.2g}x"),
        ]
    caption = (
        "CPU time per call (HTTP: mcp 2.x in its best mode); start: time until the first reply"
    )
    return "\n".join([*lines, _text(4, height * 5 - 6, caption), "</svg>", ""])


def _times(page: str, what: str, peer: str) -> float:
    """Return the ratio of the row that compares `what` with `peer`."""
    row = rf"^\| {re.escape(what)} \| [^|]+ \| {re.escape(peer)} [\d.e+]+ \w+: ([\d.]+)x"
    found = re.search(row, page, re.MULTILINE)
    if found is None:
        raise LookupError(f"the table has no row for {what!r} against {peer!r}")
    return float(found[1])


def _scale(height: int) -> list[str]:
    lines = []
    for value in (1, 2, 5, 10, 20, 50, 100):
        x = _x(value)
        end = height - 2 * _LINE
        lines.append(f'<line class="grid" x1="{x}" y1="{_LINE // 2}" x2="{x}" y2="{end}"/>')
        lines.append(_text(x - 8, end + 14, f"{value}x"))
    return lines


def _bar(row: Row, y: int) -> list[str]:
    kind = {"MISSED": "missed", "printed": "printed"}.get(row.verdict, "kept")
    start, end = sorted((_x(1), _x(row.times)))
    lines = [
        _text(4, y + 11, f"{row.what}: {row.peer}"),
        f'<rect class="{kind}" x="{start}" y="{y}" width="{max(end - start, 1)}" height="14"/>',
        _text(max(end, _x(1)) + 6, y + 11, f"{row.times:.3g}x"),
    ]
    least = re.search(r"at least ([\d.]+)x", row.bar)
    if least:
        x = _x(float(least[1]))
        lines.append(f'<line class="bar" x1="{x}" y1="{y - 2}" x2="{x}" y2="{y + 16}"/>')
    return lines


def _x(value: float) -> int:
    share = log10(min(max(value, 0.25), _MOST) / 0.25) / log10(_MOST / 0.25)
    return round(_LEFT + share * _WIDTH)


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(text)}</text>'


if __name__ == "__main__":
    SHORT_PICTURE.write_text(short_picture(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
