"""Kinds of values, and single values, that one side takes and the other does not."""

from __future__ import annotations

__all__ = ("changed_kinds", "unlisted_values")

from collections.abc import Iterator, Sequence

from kinwire_codegen.compare.alternatives import Alternative, uncovered

SHOWN = 6

Some = Sequence[Alternative]
Found = tuple[str, str]
LOST = ("null-refused", "values-removed", "type-narrowed")
GAINED = ("null-taken", "values-added", "type-widened")


def changed_kinds(
    before: Some, after: Some, lost: Some, gained: Some, label: str
) -> Iterator[Found]:
    """Yield the name of a rule and what has changed.

    `lost` is what only the old side takes, `gained` what only the new side writes.
    """
    if lost and gained and len(lost) == len(before):
        constant = len(before) == len(after) == 1 and before[0].kind == after[0].kind == "value"
        rule = "constant-changed" if constant else "type-changed"
        yield rule, f"{label} was {_told(before)} and is {_told(after)}"
        return
    for found, verb, rules in (
        (lost, "may not be", LOST),
        (gained, "may be", GAINED),
    ):
        for rule, some in zip(rules, _sorted(found), strict=True):
            if some and rule == "type-narrowed" and any(one.kind == "value" for one in after):
                yield rule, f"{label} may only be {_told(after)} now"
            elif some:
                yield rule, f"{label} {verb} {_told(some)} now"


def _sorted(found: Some) -> tuple[list[Alternative], list[Alternative], list[Alternative]]:
    """Return null, single values, and other kinds."""
    values, kinds = _parted(found)
    return (
        [one for one in kinds if one.kind == "null"],
        values,
        [one for one in kinds if one.kind != "null"],
    )


def unlisted_values(before: Some, after: Some, label: str) -> Iterator[Found]:
    """Yield which values an open set lists no more; they are taken still, as they were."""
    named, others = _parted(before)
    still, wider = _parted(after)
    unlisted = [
        one
        for one in uncovered(named, still)
        if not uncovered([one], others) and not uncovered([one], wider)
    ]
    if unlisted:
        yield "values-unlisted", f"{label} does not list {_told(unlisted)} any more"


def _parted(found: Some) -> tuple[list[Alternative], list[Alternative]]:
    """Return the single values, and the whole kinds."""
    values = [one for one in found if one.kind == "value"]
    return values, [one for one in found if one.kind != "value"]


def _told(found: Some) -> str:
    words = list(dict.fromkeys(one.words for one in found))
    rest = [f"{len(words) - SHOWN} others"] if len(words) > SHOWN else []
    return " or ".join([*words[:SHOWN], *rest])
