"""Bounds of whole types, which may be unions with several texts or numbers."""

from __future__ import annotations

__all__ = ("nearest_bounds",)

from collections.abc import Iterator, Sequence

from kinwire_codegen.compare.alternatives import Alternative
from kinwire_codegen.compare.bounds import REFUSING, TAKING, changed_bounds
from kinwire_codegen.compare.sides import Typed

Found = tuple[str, Typed, str]


def nearest_bounds(before: Sequence[Alternative], after: Sequence[Alternative]) -> Iterator[Found]:
    """Yield the name of a rule, where, and what has changed, once for each bound.

    Each old text or number is held against the new one that refuses least of it, and each new one
    against the old one that took most of it.
    """
    sides = [[one for one in side if one.kind != "value"] for side in (before, after)]
    pairs = [(one, other) for one in sides[0] for other in sides[1] if _comparable(one, other)]
    seen = set[tuple[str, str]]()
    for side, rules in enumerate((REFUSING, TAKING)):
        for one in sides[side]:
            met = [_changed(*pair, rules) for pair in pairs if pair[side] is one]
            for rule, where, what in min(met, key=len, default=()):
                if (rule, what) not in seen:
                    seen.add((rule, what))
                    yield rule, where, what


def _changed(one: Alternative, other: Alternative, rules: frozenset[str]) -> list[Found]:
    where = other.typed
    found = changed_bounds(one.kind, one.typed.node, where.node)
    return [(rule, where, f"{where.label}: {what}") for rule, what in found if rule in rules]


def _comparable(one: Alternative, other: Alternative) -> bool:
    kinds = {one.kind, other.kind}
    return len(kinds) == 1 or kinds == {"integer", "number"}
