"""Run every measurement and print one table; exit 1 if a bar is not kept."""

from __future__ import annotations

import sys
from datetime import date

from tests.bench import bindings
from tests.bench.measure import table


def main() -> int:
    """Print the table."""
    rows = list(bindings.rows())
    print(f"`nox -s bench` on {date.today()}, Python {sys.version.split()[0]}\n")
    print(table(rows))
    return 0 if all(row.kept for row in rows) else 1


sys.exit(main())
