"""Bounds of whole types, which may be unions with several texts or numbers."""

from __future__ import annotations

__all__ = ("nearest_bounds",)

from collections.abc import Iterator, Sequence

from kinwire_codegen.compare.alternatives import ANY, Alternative
from kinwire_codegen.compare.bounds import REFUSING, TAKING, changed_bounds
from kinwire_codegen.compare.ranges import NUMBERS, missing_length, missing_number
from kinwire_codegen.compare.sides import Typed

Found = tuple[str, Typed, str]
Some = Sequence[Alternative]
DIRECTIONS = (
    (0, REFUSING, "bounds-tightened", "is not taken any more"),
    (1, TAKING, "bounds-loosened", "is taken now"),
)
"""From which side one looks at the other, with which rules; what is said if no bound says it."""


def nearest_bounds(
    before: Some, after: Some, new: Typed, reported: tuple[Some, Some]
) -> Iterator[Found]:
    """Yield the name of a rule, where, and what has changed, once for each bound.

    Each old text or number is held against the new one that refuses least of it, and each new one
    against the old one that took most of it. Nothing has changed if all others together take it.
    `reported` are the old and the new ones that the other side does not take whatever the bounds.
    """
    search = _NearestPairs(before, after)
    seen = set[tuple[str, str]]()
    for side, rules, rule, word in DIRECTIONS:
        for one in search.wholes[side]:
            missing = _missing(one, search.sides[1 - side])
            found = search.nearest(side, one, rules, rule)
            if missing is None:
                found = [each for each in found if each[0] == "validators-only"]
            elif missing and not found and all(one is not each for each in reported[side]):
                found = [(rule, new, f"{new.label}: {missing} {word}")]
            fresh = [each for each in found if (each[0], each[2]) not in seen]
            seen |= {(each[0], each[2]) for each in fresh}
            yield from fresh


class _NearestPairs:
    """The texts, numbers and arrays of both sides, each held against those of the other."""

    def __init__(self, before: Some, after: Some) -> None:
        self.sides = before, after
        self.wholes = (
            [one for one in before if one.kind != "value"],
            # Nobody writes short forms, so nobody reads more of them.
            [one for one in after if one.kind != "value" and not one.only_read],
        )
        news = [one for one in after if one.kind != "value"]
        self._pairs = [
            (one, other) for one in self.wholes[0] for other in news if _comparable(one, other)
        ]

    def nearest(self, side: int, one: Alternative, rules: frozenset[str], rule: str) -> list[Found]:
        """Return the changes of bounds to what is nearest on the other side."""
        met = [(pair, _changed(*pair, rules)) for pair in self._pairs if pair[side] is one]
        if not met:
            return []
        pair, found = min(met, key=lambda each: len(each[1]))
        # Another pattern is a tighter or a looser one if the other direction takes all.
        one_way = _missing(pair[1 - side], self.sides[side]) is None
        return [
            (rule, *each[1:]) if each[0] == "pattern-changed" and one_way else each
            for each in found
        ]


def _missing(one: Alternative, others: Some) -> str | None:
    """Return something of `one` that `others` do not take; empty if only its bounds can say it."""
    if any(other.kind == ANY for other in others):
        return None
    if one.kind in NUMBERS:
        return missing_number([one], others)
    if one.kind == "string":
        length = missing_length(one, others)
        return None if length is None else f"a text of length {length}"
    return ""


def _changed(one: Alternative, other: Alternative, rules: frozenset[str]) -> list[Found]:
    where = other.typed
    found = changed_bounds(one.kind, one.typed.node, where.node)
    return [(rule, where, f"{where.label}: {what}") for rule, what in found if rule in rules]


def _comparable(one: Alternative, other: Alternative) -> bool:
    kinds = {one.kind, other.kind}
    return len(kinds) == 1 or kinds == {"integer", "number"}
