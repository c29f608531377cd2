"""The ledger: what the specifications say, a row for each sentence, and who claims to prove it."""

from __future__ import annotations

__all__ = ("FOLDER", "SPECIFICATIONS", "Row", "claims_of", "faults_of_claims", "ledgers", "rows_of")

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

FOLDER = Path(__file__).parent

# The text of each protocol in ../shared/specs.
SPECIFICATIONS = {
    "mcp": "mcp-2024-11-05.md",
    "mcpl": "mcpl.md",
    "mgp": "mgp.md",
    "mcpe": "mcpe.md",
    "mcp-lite": "mcp-lite.md",
}

MOST_CLAIMS = 3  # of one test: who claims more says less about what broke


class Row(NamedTuple):
    """One thing that a specification says."""

    id: str
    section: str
    level: str
    text: str


@functools.cache
def rows_of(protocol: str) -> tuple[Row, ...]:
    """Return the rows of a protocol in the order of its text."""
    text = (FOLDER / f"{protocol}.json").read_text(encoding="utf-8")
    return tuple(Row(**row) for row in json.loads(text))


@functools.cache
def ledgers() -> dict[str, Row]:
    """Return every row of every protocol by its id."""
    return {row.id: row for protocol in SPECIFICATIONS for row in rows_of(protocol)}


def claims_of(item: pytest.Item) -> list[str]:
    """Return the ids of the rows that a test claims to prove."""
    return [str(claimed) for mark in item.iter_markers("spec") for claimed in mark.args]


def faults_of_claims(claimed: Sequence[str]) -> list[str]:
    """Return what is wrong with the claims of one test."""
    faults = [f"no row has the id {name!r}" for name in claimed if name not in ledgers()]
    if len(claimed) > MOST_CLAIMS:
        faults.append(f"{len(claimed)} rows are claimed, at most {MOST_CLAIMS} may be")
    return faults
