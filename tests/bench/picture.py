"""The ratios as a picture: a bar a row, on a logarithmic scale, with the bar that was set."""

from __future__ import annotations

__all__ = ("picture",)

import re
from collections.abc import Sequence
from html import escape
from math import log10

from tests.bench.measure import Row

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
