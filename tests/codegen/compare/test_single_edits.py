"""Single edits are judged as the tables next to this file say: they were written first, by hand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from kinwire_codegen.compare import DocumentChange
from kinwire_codegen.compare.verdict import EXHAUSTIVE, Category, Level
from tests.codegen.compare.documents import against
from tests.codegen.compare.single_edits import Edit, edits_of_documents, edits_of_types

LETTERS = {"old senders": "S", "old receivers": "R", "old files": "F", "old programs": "P"}


@cache
def edits() -> list[Edit]:
    return [*edits_of_types(), *edits_of_documents()]


def letter(change: DocumentChange, group: str) -> str:
    if group == EXHAUSTIVE:  # the readers
        return "S" if all(flow.endswith("result") for flow in change.flows) else "R"
    return LETTERS[group]


def verdict(changes: list[DocumentChange]) -> str:
    """Return the worst level and all victims of changes on the wire, as the tables write it."""
    wire = [one for one in changes if one.rule.category is Category.WIRE]
    level = max((one.level for one in wire), default=Level.SAFE)
    who = {letter(one, victim.group) for one in wire for victim in one.breaks}
    return "-WB"[level] + (f":{''.join(sorted(who))}" if who else "")


def faults(edit: Edit) -> Iterator[str]:
    """Yield what the comparison says that is not right."""
    found = list(against(edit.old, edit.new).changes)
    for name, right in edit.verdicts.items():
        here = [one for one in found if not name or name in one.place or _is_sent(one, name)]
        if verdict(here) != right:
            said = "; ".join(f"{one.rule.name} {one.level.name}: {one.what}" for one in here)
            yield f"{name} is {verdict(here)} instead of {right} ({said})"
        if not here:
            yield f"{name}: nothing is reported"
        names = {one.rule.name for one in here}
        if edit.rule and ("not " not in edit.rule) != (edit.rule.removeprefix("not ") in names):
            yield f"{name}: expected {edit.rule}, got {sorted(names)}"


def _is_sent(change: DocumentChange, name: str) -> bool:
    return name == "File" and "file" in change.place


def test_single_edits_are_judged_right() -> None:
    assert {edit.name: found for edit in edits() if (found := list(faults(edit)))} == {}


def test_single_edits_have_names_of_their_own() -> None:
    names = [edit.name for edit in edits()]
    assert len(set(names)) == len(names) >= 135
