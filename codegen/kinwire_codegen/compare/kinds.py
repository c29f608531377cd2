"""Kinds of values, and single values, that one side takes and the other does not."""

from __future__ import annotations

__all__ = ("changed_kinds", "unlisted_values")

from collections.abc import Iterator, Sequence

from kinwire_codegen.compare.alternatives import Alternative, uncovered

SHOWN = 6

Found = Iterator[tuple[str, str]]


def changed_kinds(
    before: Sequence[Alternative],
    after: Sequence[Alternative],
    label: str,
    *,
    optional: tuple[bool, bool],
) -> Found:
    """Yield the name of a rule and what has changed.

    `optional`: whether it is a member that may be absent, on the old and on the new side. Readers
    of such a member take null for absent.
    """
    lost, gained = uncovered(before, after), _written(uncovered(after, before))
    nothing_shared = len(lost) == len(before)
    yield from _null(before, after, label, optional)
    lost = _without_null(lost) if optional[1] else lost
    gained = _without_null(gained) if optional[0] else gained
    if lost and gained and nothing_shared:
        constant = len(before) == len(after) == 1 and before[0].kind == after[0].kind == "value"
        rule = "constant-changed" if constant else "type-changed"
        yield rule, f"{label} was {_told(before)} and is {_told(after)}"
        return
    for found, verb, values, kinds in (
        (lost, "may not be {} now", "values-removed", "type-narrowed"),
        (gained, "may be {} now", "values-added", "type-widened"),
    ):
        for rule, some in (
            (values, [one for one in found if one.kind == "value"]),
            (kinds, [one for one in found if one.kind != "value"]),
        ):
            if some and rule == "type-narrowed" and any(one.kind == "value" for one in after):
                yield rule, f"{label} may only be {_told(after)} now"
            elif some:
                yield rule, f"{label} {verb.format(_told(some))}"


def unlisted_values(
    before: Sequence[Alternative], after: Sequence[Alternative], label: str
) -> Found:
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


def _parted(found: Sequence[Alternative]) -> tuple[list[Alternative], list[Alternative]]:
    """Return the single values, and the whole kinds."""
    values = [one for one in found if one.kind == "value"]
    return values, [one for one in found if one.kind != "value"]


def _null(
    before: Sequence[Alternative],
    after: Sequence[Alternative],
    label: str,
    optional: tuple[bool, bool],
) -> Found:
    was, is_now = (any(one.kind in ("null", "any") for one in found) for found in (before, after))
    if was != is_now and optional[was]:  # new readers meet a removed null, old ones an added one
        yield (
            ("null-taken" if is_now else "null-refused"),
            (f"{label} may be null now" if is_now else f"{label} may not be null now"),
        )


def _written(found: Sequence[Alternative]) -> list[Alternative]:
    return [one for one in found if not one.only_read]


def _without_null(found: Sequence[Alternative]) -> list[Alternative]:
    return [one for one in found if one.kind != "null"]


def _told(found: Sequence[Alternative]) -> str:
    words = list(dict.fromkeys(one.words for one in found))
    rest = [f"{len(words) - SHOWN} others"] if len(words) > SHOWN else []
    return " or ".join([*words[:SHOWN], *rest])
