"""Verdicts that follow from the official changelogs of MCP come out of the schemas themselves.

They were written down before the comparison had seen the schemas; `official_changes.json` has them
with their source.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kinwire_codegen.compare import Comparison, DocumentChange, compare
from kinwire_codegen.compare.policy import ChangePolicy, review
from kinwire_codegen.compare.verdict import Category, Level
from tests.codegen.imports.official import VERSIONS, document
from tests.each import each

CHANGES = json.loads(Path(__file__).with_name("official_changes.json").read_text(encoding="utf-8"))
PAIRS = list(pairwise(VERSIONS))


@cache
def comparison(version: str) -> Comparison:
    """Return what changed from the version before."""
    before = VERSIONS[VERSIONS.index(version) - 1]
    return compare(document(before), document(version))


def is_about(change: DocumentChange, verdict: dict[str, Any]) -> bool:
    """Return whether a change is what a verdict speaks of."""
    row = change.place[:2] == ("methods", verdict["at"])
    return (
        (row or verdict["at"] in change.flows)
        and change.rule.id == verdict["rule"]
        and verdict.get("member", "") in (*change.place, "")
        and verdict.get("names", "") in change.what
    )


@pytest.mark.parametrize("verdict", CHANGES["verdicts"], ids=lambda verdict: verdict["says"])
def test_the_verdict_comes_out(verdict: dict[str, Any]) -> None:
    wire = comparison(verdict["to"]).of(Category.WIRE)
    if verdict["rule"] is None:
        there = [change for change in wire if verdict["at"] in change.flows]
        assert [change.what for change in there if change.level is Level.BREAKING] == []
        return
    found = [change for change in wire if is_about(change, verdict)]
    assert found
    for change in found:
        assert change.level.name.lower() == verdict["level"]
        assert {victim.group for victim in change.breaks} == set(verdict["breaks"])


@each(("before", "after"), PAIRS)
def test_a_version_breaks_peers_of_its_neighbour_and_not_its_own(before: str, after: str) -> None:
    assert compare(document(before), document(before)).changes == ()
    found = comparison(after)
    assert any(change.level is Level.BREAKING for change in found.of(Category.WIRE))
    assert review(found, ChangePolicy()).failures(Category.WIRE) == []  # the date rose


@each(("before", "after"), PAIRS)
def test_backwards_the_announcement_is_missing(before: str, after: str) -> None:
    found = compare(document(after), document(before))
    assert review(found, ChangePolicy()).failures(Category.WIRE)


def test_a_method_that_went_is_not_taken_for_one_that_came() -> None:
    found = comparison("2026-07-28").of(Category.WIRE)
    assert [change.what for change in found if "renamed" in change.rule.name] == []
