"""The state of the ledger: how much of each specification is claimed by tests.

`python -m tests.spec` prints the table, and `--open [PROTOCOL]` the rows that nobody claims.
`--mutate` makes wrong programs, one at a time, to see that what is claimed then fails: it switches
each manager off, and changes a fixed sample of the conditions of MCPL. `--mutate=MANAGER` switches
one manager off, `--mutate=conditions` changes every condition and takes long.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from tests.spec.claims import Claims, collect
from tests.spec.ledger import SPECIFICATIONS, Row, rows_of
from tests.spec.managers import MANAGERS
from tests.spec.mutation.chosen import conditions, equivalents, sample
from tests.spec.mutation.task import Result, Task, run
from tests.spec.specification import LEVELS

CONDITIONS = "conditions"
ENOUGH = 0.95  # of all mutants of conditions
ENOUGH_OF_SAMPLE = 0.8  # so that CI shows when tests get worse; raise it with the share of all


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


def mutate(name: str) -> bool:
    """Try wrong programs; return whether tests that claim rows missed enough of them."""
    managers = () if name == CONDITIONS else MANAGERS if name == "all" else (name,)
    mutants = conditions() if name in (CONDITIONS, "all") else []
    mutants = sample(mutants) if name == "all" else mutants
    result = run(Task(tuple(managers), tuple(mutant.id for mutant in mutants)))
    print(*report(result), sep="\n")
    enough = ENOUGH if name == CONDITIONS else ENOUGH_OF_SAMPLE
    return not any(result.alive.values()) and share(result) >= enough


def report(result: Result) -> Iterator[str]:
    """Yield what to print of wrong programs."""
    for name, alive in result.alive.items():
        count = len(MANAGERS[name].rows)
        missed = f"{count:>3} rows, {count - len(alive)} of them fail without it"
        yield " ".join((f"{name:<14}{missed}", *alive))
    for id, tried in result.tried.items():
        if tried.caught_by is None:
            yield f"not caught by any of {tried.tests} tests: {id}"
    if result.tried:
        caught = sum(one.caught_by is not None for one in result.tried.values())
        yield f"{caught} of {len(result.tried)} mutants of conditions caught: {share(result):.1%}"
        yield f"{len(equivalents())} more do the same as the program"
    yield from (f"fails without any mutant, not used: {test}" for test in result.unsound)
    yield f"{result.seconds:.0f} s"


def share(result: Result) -> float:
    """Return which part of the mutants of conditions was caught."""
    caught = [one.caught_by is not None for one in result.tried.values()]
    return sum(caught) / len(caught) if caught else 1.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.spec", description=__doc__)
    parser.add_argument("--open", nargs="?", const="all", choices=["all", *SPECIFICATIONS])
    parser.add_argument("--mutate", nargs="?", const="all", choices=["all", CONDITIONS, *MANAGERS])
    chosen = parser.parse_args()
    if chosen.mutate:
        return 0 if mutate(chosen.mutate) else 1
    claims = collect()
    if chosen.open:
        for row in open_rows(claims, chosen.open):
            print(f"{row.id:<40} {row.level:<7} {row.text}")
    else:
        print(*table(claims), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
