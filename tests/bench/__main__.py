"""Run every measurement and print one table; exit 1 if a bar is not kept.

usage: python -m tests.bench [--write] [PART]...

The parts are bindings, connections, events, events-index, gateway, http, lite, live, mgp, startup,
storage and tools.

`--write` puts the start and what has a bar into docs/performance.md, and draws the pictures.
"""

from __future__ import annotations

import os
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tests.bench.commands import pins
from tests.bench.measure import Row, table
from tests.bench.parts import PARTS, rows_of
from tests.bench.picture import PAGE, SHORT_PICTURE, picture, short_picture

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- bench: written by nox -s bench -- --write -->", "<!-- bench: end -->"


def main(words: list[str]) -> int:
    """Print the table of the parts that are named, or of all."""
    names = [word for word in words if word != "--write"]
    before = os.getloadavg()[0]
    parts = {name: rows_of(name) for name in names or PARTS}
    rows: list[Row] = [row for part in parts.values() for row in part]
    busy = f"{before:.1f} before and {os.getloadavg()[0]:.1f} after on {os.cpu_count()} processors"
    about = (
        f"`nox -s bench{''.join(f' {name}' for name in ['--', *names] if names)}` on "
        f"{date.today()}, load {busy}.\n"
        f"Python {sys.version.split()[0]}, pydantic {version('pydantic')}; {', '.join(pins())}.\n"
        "Figures are CPU time (storage: wall time); a ratio is the median of its rounds "
        "(and their middle half).\n"
    )
    print(f"{about}\n{table(rows)}")
    if "--write" in words:
        always = parts.get("startup", [])
        write([row for row in rows if row.bar or row in always], about)
        draw(rows)
        if not names:  # the table of some parts lacks rows of the short picture
            draw_short()
    return 1 if any(row.verdict == "MISSED" for row in rows) else 0


def write(rows: list[Row], about: str) -> None:
    """Put the rows into the page on performance."""
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    tail = rest.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n{about}\n{table(rows)}\n{END}{tail}", encoding="utf-8")


def draw(rows: list[Row]) -> None:
    """Draw all ratios of this run."""
    drawn = picture(rows, "What kinwire costs next to other projects")
    (ROOT / "docs" / "bench.svg").write_text(drawn, encoding="utf-8")


def draw_short() -> None:
    """Draw the three ratios of the README, from the table."""
    drawn = short_picture(PAGE.read_text(encoding="utf-8"))
    SHORT_PICTURE.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
