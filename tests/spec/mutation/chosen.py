"""Which mutants of conditions there are, which are left out, and which are tried on each change."""

from __future__ import annotations

__all__ = ("PACKAGE", "SOURCES", "conditions", "equivalents", "sample")

import json
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

from tests.spec.ledger import FOLDER
from tests.spec.mutation.conditions import Mutant, mutants_of

PACKAGE = "kinwire.mcpl"
SOURCES = FOLDER.parents[1] / "runtime" / Path(*PACKAGE.split("."))

_ONE_OF = 40  # mutants that are in the sample


def conditions() -> list[Mutant]:
    """Return all mutants, without those that do the same as the program."""
    left_out = equivalents()
    files = sorted(SOURCES.rglob("*.py"))
    return [one for path in files for one in mutants_of(SOURCES, path) if one.id not in left_out]


def equivalents() -> dict[str, str]:
    """Return why a mutant does the same as the program, by its id; each was reviewed."""
    found: dict[str, str] = json.loads(Path(__file__).with_name("equivalent.json").read_text())
    return found


def sample(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Return a part of the mutants that depends on nothing but their ids."""
    return [mutant for mutant in mutants if crc32(mutant.id.encode()) % _ONE_OF == 0]
