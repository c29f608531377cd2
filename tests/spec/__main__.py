"""The state of the ledger: how much of each specification is claimed by tests.

`python -m tests.spec` prints the table, `--open [PROTOCOL]` the rows that nobody claims, and
`--mutate [MANAGER]` switches managers off, one at a time, to see that what is claimed then fails.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tests.spec.claims import Claims, collect
from tests.spec.ledger import SPECIFICATIONS, Row, rows_of
from tests.spec.managers import MANAGERS
from tests.spec.mutation import survivors
from tests.spec.specification import LEVELS


def table(claims: Claims) -> Iterator[str]:
    """Yield the lines of the table: rows, claimed and open, by protocol and level."""
    yield f"{'protocol':<10}{'level':<8}{'rows':>6}{'claimed':>9}{'open':>6}"
    for protocol in SPECIFICATIONS:
        rows = rows_of(protocol)
        for level in (*LEVELS, "all"):
            of_level = [row for row in rows if level in (row.level, "all")]
            unclaimed = sum(row.id not in claims for row in of_level)
            counts = f"{len(of_level):>6}{len(of_level) - unclaimed:>9}{unclaimed:>6}"
            yield f"{protocol:<10}{level:<8}{counts}"


def open_rows(claims: Claims, protocol: str) -> Iterator[Row]:
    chosen = SPECIFICATIONS if protocol == "all" else (protocol,)
    return (row for name in chosen for row in rows_of(name) if row.id not in claims)


def mutate(claims: Claims, name: str) -> bool:
    """Switch managers off in turn; return whether every row of theirs was missed by a test."""
    missed = True
    names = list(MANAGERS) if name == "all" else [name]
    with ThreadPoolExecutor(os.cpu_count()) as at_once:  # each is a process of its own
        found = at_once.map(lambda one: survivors(one, claims), names)
        for chosen, alive in zip(names, found, strict=True):
            missed = missed and not alive
            count = len(MANAGERS[chosen].rows)
            print(
                f"{chosen:<14}{count:>3} rows, {count - len(alive)} of them fail without it", *alive
            )
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.spec", description=__doc__)
    parser.add_argument("--open", nargs="?", const="all", choices=["all", *SPECIFICATIONS])
    parser.add_argument("--mutate", nargs="?", const="all", choices=["all", *MANAGERS])
    chosen = parser.parse_args()
    claims = collect()
    if chosen.mutate:
        return 0 if mutate(claims, chosen.mutate) else 1
    if chosen.open:
        for row in open_rows(claims, chosen.open):
            print(f"{row.id:<40} {row.level:<7} {row.text}")
    else:
        print(*table(claims), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
