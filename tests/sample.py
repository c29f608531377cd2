"""The sample of the faults that CI runs, because all of them take too long there.

`nox -s slow` sets `KINWIRE_FAULTS=sample`. Then tests that are marked `faults` run on asyncio only,
a test with several cases runs a third of them, at least two, and a test with rounds a quarter.
Which cases these are depends on the test's name only, so each run has the same. `nox -s faults`
runs all.
"""

from __future__ import annotations

import os
from collections import defaultdict
from random import Random

import pytest

from tests.fixtures_backends import BACKENDS

__all__ = ["IS_SAMPLE", "outside_the_sample", "rounds"]

IS_SAMPLE = os.environ.get("KINWIRE_FAULTS") == "sample"
_OTHER_LOOPS = BACKENDS.keys() - {"asyncio"}


def rounds(whole: int) -> int:
    """Return how many rounds a test runs that has this many on the whole."""
    return max(1, whole // 4) if IS_SAMPLE else whole


def outside_the_sample(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of faults that the sample leaves out. It has cases of each function."""
    cases = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("faults"):
            cases[item.nodeid.partition("[")[0]].append(item)
    return [one for name, found in cases.items() for one in _left_out(name, found)]


def _left_out(function: str, cases: list[pytest.Item]) -> list[pytest.Item]:
    on_asyncio = [one for one in cases if not _uses_another_loop(one)] or cases
    kept = Random(function).sample(on_asyncio, min(len(on_asyncio), max(2, len(on_asyncio) // 3)))
    return [one for one in cases if one not in kept]


def _uses_another_loop(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec is not None else ()
    return any(value in _OTHER_LOOPS for value in values if isinstance(value, str))
