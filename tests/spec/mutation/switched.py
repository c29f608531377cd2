"""Managers of the runtime, switched off in turn: each row of theirs must be missed by a test."""

from __future__ import annotations

__all__ = ("Switched",)

import ast
import importlib
from collections import defaultdict
from collections.abc import Collection
from functools import partial
from pathlib import Path

import pytest

import kinwire
from tests.spec.ledger import claims_of
from tests.spec.managers import MANAGERS
from tests.spec.mutation.forks import AT_ONCE, forked
from tests.spec.mutation.items import is_quick, passes
from tests.spec.mutation.patching import Functions
from tests.spec.mutation.task import Result

_PATIENCE = 60.0  # seconds for all tests of a manager
_WAITING = 4  # managers a processor: their tests mostly wait for what never comes
_ROOT = Path(str(kinwire.__file__)).parent


class Switched:
    """Runs the tests of managers that are off."""

    def __init__(self, items: list[pytest.Item]) -> None:
        self._by_row: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in sorted(items, key=lambda item: not is_quick(item)):
            for row in claims_of(item):
                self._by_row[row].append(item)

    def run(self, names: Collection[str], result: Result) -> None:
        """Add to `result` the rows that no test misses.

        Raises:
            RuntimeError: the tests of a manager do not end.
        """
        order = list(names)
        functions = functions_of(*(one for name in order for one in MANAGERS[name].attributes))
        pieces = [partial(self._alive, name, functions) for name in order]
        late: list[int] = []
        for number, rows in forked(enumerate(pieces), lambda _: _PATIENCE, _WAITING * AT_ONCE):
            if rows is None:
                late.append(number)
            else:
                result.alive[order[number]] = rows
        again = ((number, pieces[number]) for number in late)
        for number, rows in forked(again, lambda _: _PATIENCE, 1):  # alone: they may be slow
            if rows is None:
                raise RuntimeError(f"{order[number]}: the tests do not end without it")
            result.alive[order[number]] = rows

    def _alive(self, name: str, functions: Functions) -> list[str]:
        """Switch a manager off; return the rows whose tests all pass."""
        switch_off(functions, *MANAGERS[name].attributes)
        outcomes: dict[str, bool] = {}
        return [
            row
            for row in MANAGERS[name].rows
            if all(self._passes(item, outcomes) for item in self._by_row[row])
        ]

    def _passes(self, item: pytest.Item, outcomes: dict[str, bool]) -> bool:
        if item.nodeid not in outcomes:
            outcomes[item.nodeid] = passes(item)
        return outcomes[item.nodeid]


def functions_of(*attributes: str) -> Functions:
    """Return the functions of the runtime, when the modules of these attributes are imported."""
    for module in {attribute.partition(":")[0] for attribute in attributes}:
        importlib.import_module(module)
    return Functions(_ROOT)


def switch_off(functions: Functions, *attributes: str) -> None:
    """Let what is named as "module:Class.method" refuse whatever it is asked.

    Raises:
        LookupError: there is no such function; the table of managers is out of date.
    """
    trees: dict[Path, ast.Module] = {}
    for attribute in attributes:
        module, _, path = attribute.partition(":")
        source = Path(str(importlib.import_module(module).__file__))
        tree = trees.setdefault(source, ast.parse(source.read_text(encoding="utf-8")))
        refusal = ast.parse(f"raise AssertionError({f'{attribute} is switched off'!r})").body[0]
        body = _function(tree, path).body
        # The rest of the body stays: it says whether this is a generator, and what it closes over.
        body.insert(0, ast.copy_location(refusal, body[0]))
    for source, tree in trees.items():
        functions.change(source.relative_to(_ROOT).as_posix(), ast.fix_missing_locations(tree))


def _function(tree: ast.Module, path: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    place: ast.AST = tree
    for name in path.split("."):
        found = [one for one in ast.iter_child_nodes(place) if getattr(one, "name", None) == name]
        if not found:
            raise LookupError(f"{path}: there is no {name}")
        place = found[-1]
    assert isinstance(place, ast.FunctionDef | ast.AsyncFunctionDef)
    return place
