"""Run every measurement and print one table; exit 1 if a bar is not kept.

usage: python -m tests.bench [bindings|connections]...
"""

from __future__ import annotations

import os
import sys
from datetime import date
from importlib.metadata import version

from tests.bench import bindings, connections
from tests.bench.commands import pins
from tests.bench.measure import Row, table

PARTS = {"bindings": bindings.rows, "connections": connections.rows}


def main(names: list[str]) -> int:
    """Print the table of the parts that are named, or of all."""
    before = os.getloadavg()[0]
    rows: list[Row] = [row for name in names or PARTS for row in PARTS[name]()]
    busy = f"{before:.1f} before and {os.getloadavg()[0]:.1f} after on {os.cpu_count()} processors"
    print(f"`nox -s bench -- {' '.join(names)}` on {date.today()}, load {busy}.")
    print(f"Python {sys.version.split()[0]}, pydantic {version('pydantic')}; {', '.join(pins())}.")
    print("Figures are CPU time; a ratio is the median of its rounds (and their middle half).\n")
    print(table(rows))
    return 1 if any(row.verdict == "MISSED" for row in rows) else 0


sys.exit(main(sys.argv[1:]))
