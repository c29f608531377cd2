"""Mutants of conditions, each tried with the tests that run its condition, until one fails.

A first round finds which tests run which conditions. A mutant is tried with the fastest of them
first, but before that with those that have caught another mutant of the same function.
"""

from __future__ import annotations

__all__ = ("Mutants",)

import importlib
import pkgutil
import time
from collections import Counter, defaultdict
from collections.abc import Collection
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

import pytest

from tests.spec.ledger import claims_of
from tests.spec.mutation.chosen import PACKAGE, SOURCES
from tests.spec.mutation.conditions import Mutant, mutants_of, mutated_tree
from tests.spec.mutation.forks import AT_ONCE, forked
from tests.spec.mutation.items import is_quick, passes
from tests.spec.mutation.patching import Functions, probed_tree
from tests.spec.mutation.task import Result, Tried

_PATIENCE = 20.0  # seconds, and ten times what its tests take: some never end
_FIRST_ROUND = 600.0  # seconds


class Covered(NamedTuple):
    """What the first round found of one test."""

    item: int
    seconds: float
    passed: bool
    hits: set[tuple[str, int]]


class Mutants:
    """Tries mutants with the quick tests that claim a row of MCPL."""

    def __init__(self, items: list[pytest.Item]) -> None:
        self._items = [
            item
            for item in items
            if is_quick(item) and any(row.startswith("mcpl-") for row in claims_of(item))
        ]
        self._caught_by: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        self._mutants: list[Mutant] = []
        self._sources: dict[str, str] = {}

    def run(self, wanted: Collection[str], result: Result) -> None:
        """Add to `result` what became of each mutant."""
        if not wanted:
            return
        self._load(set(wanted))
        covered = self._first_round()
        result.unsound += [self._items[one.item].nodeid for one in covered if not one.passed]
        by_hit: dict[tuple[str, int], list[Covered]] = defaultdict(list)
        for one in sorted(covered, key=lambda one: one.seconds):
            for hit in one.hits if one.passed else ():
                by_hit[hit].append(one)
        tests = [by_hit[mutant.path, mutant.probe] for mutant in self._mutants]
        work = ((number, partial(self._try, number, some)) for number, some in enumerate(tests))

        def patience(number: int) -> float:
            return _PATIENCE + 10 * sum(one.seconds for one in tests[number])

        for number, item in forked(work, patience):
            caught_by = self._noted(number, item)
            result.tried[self._mutants[number].id] = Tried(len(tests[number]), caught_by)

    def _load(self, wanted: set[str]) -> None:
        for found in pkgutil.walk_packages([str(SOURCES)], f"{PACKAGE}."):
            importlib.import_module(found.name)
        for path in sorted(SOURCES.rglob("*.py")):
            name = path.relative_to(SOURCES).as_posix()
            self._sources[name] = path.read_text(encoding="utf-8")
            self._mutants += [one for one in mutants_of(SOURCES, path) if one.id in wanted]
        self._functions = Functions(SOURCES)

    def _first_round(self) -> list[Covered]:
        size = max(1, len(self._items) // (AT_ONCE * 4))
        starts = range(0, len(self._items), size)
        parts = [range(start, min(start + size, len(self._items))) for start in starts]
        work = ((number, partial(self._cover, part)) for number, part in enumerate(parts))
        return [one for _, found in forked(work, lambda _: _FIRST_ROUND) for one in found or ()]

    def _cover(self, items: range) -> list[Covered]:
        by_file: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in self._mutants:
            by_file[mutant.path].append(mutant)
        hits: set[tuple[str, int]] = set()
        for path, mutants in by_file.items():
            tree = probed_tree(self._sources[path], mutants)
            self._functions.probe(path, tree, lambda *hit: hits.add(hit))
        found: list[Covered] = []
        for item, after in zip_longest(items, items[1:]):
            hits.clear()
            began = time.monotonic()
            passed = passes(self._items[item], None if after is None else self._items[after])
            found.append(Covered(item, time.monotonic() - began, passed, set(hits)))
        return found

    def _try(self, number: int, tests: list[Covered]) -> int:
        """Return the first of the tests that fails with a mutant, -1 if they all pass."""
        mutant = self._mutants[number]
        self._functions.change(mutant.path, mutated_tree(self._sources[mutant.path], mutant.index))
        useful = self._caught_by[mutant.path, mutant.function]
        for one in sorted(tests, key=lambda one: -useful[one.item]):
            if not passes(self._items[one.item]):
                return one.item
        return -1

    def _noted(self, number: int, item: int | None) -> str | None:
        """Return the test that has caught a mutant, and remember it for the next of its kind."""
        if item is None:
            return "it never ended, or ended the process"
        if item < 0:
            return None
        mutant = self._mutants[number]
        self._caught_by[mutant.path, mutant.function][item] += 1
        return self._items[item].nodeid
