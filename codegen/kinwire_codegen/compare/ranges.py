"""Numbers and lengths of texts as sets: something that one side takes and the other does not.

Between two neighbouring edges of all intervals nothing changes, so one whole number and one
fraction from there stand for all others.
"""

from __future__ import annotations

__all__ = ("missing_length", "missing_number", "pattern_of")

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinwire_codegen.compare.alternatives import Alternative

NUMBERS = ("integer", "number")
EVERY_TEXT = frozenset({"", "^", "$", ".*", "^.*"})
"""Patterns that every text matches: they need not match the whole text."""

Node = dict[str, Any]


def missing_number(ones: Sequence[Alternative], others: Sequence[Alternative]) -> str | None:
    """Return a number that `ones` take and `others` do not, as text."""
    for number in _numbers(_edges([*ones, *others])):
        if _takes_number(ones, number) and not _takes_number(others, number):
            return str(number if number.denominator == 1 else float(number))
    return None


def missing_length(one: Alternative, others: Sequence[Alternative]) -> int | None:
    """Return how long a text may be that `one` takes and `others` do not.

    A text with a pattern is taken by a type with the same pattern, or without one.
    """
    pattern = pattern_of(one.typed.node)
    able = [
        other.typed.node
        for other in others
        if other.kind == "string" and pattern_of(other.typed.node) in (None, pattern)
    ]
    edges = {0}
    for node in (one.typed.node, *able):
        edges |= {node.get("minLength", 0), node.get("maxLength", -1) + 1}
    for length in sorted(edges):
        is_taken = any(_fits(length, node) for node in able) or _listed(length, others)
        if _fits(length, one.typed.node) and not is_taken:
            return length
    return None


def pattern_of(node: Node) -> str | None:
    """Return the pattern of a text; None if every text matches it."""
    found: str | None = node.get("pattern")
    return None if found in EVERY_TEXT else found


def _fits(length: int, node: Node) -> bool:
    return bool(node.get("minLength", 0) <= length <= node.get("maxLength", length))


def _listed(length: int, others: Sequence[Alternative]) -> bool:
    """Return whether every text of a length is listed one by one: the empty one alone can be."""
    return length == 0 and any(other.value == "" for other in others)


def _edges(alternatives: Iterable[Alternative]) -> list[Fraction]:
    found: set[Fraction] = set()
    for one in alternatives:
        if one.kind == "value" and _is_number(one.value):
            found.add(Fraction(one.value))
        elif one.kind in NUMBERS:
            keys = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
            found |= {Fraction(one.typed.node[key]) for key in keys if key in one.typed.node}
    return sorted(found)


def _numbers(edges: list[Fraction]) -> Iterator[Fraction]:
    """Yield the edges, and a whole number and a fraction from before, between and after them."""
    if not edges:
        yield from (Fraction(0), Fraction(1, 2))
        return
    first, last = edges[0], edges[-1]
    below = Fraction(math.ceil(first) - 1)
    yield from (below, (first + below) / 2)
    for edge, following in pairwise(edges):
        whole = Fraction(math.floor(edge) + 1)
        yield from (edge, (edge + min(whole, following)) / 2)
        if whole < following:
            yield whole
    above = Fraction(math.floor(last) + 1)
    yield from (last, (last + above) / 2, above)


def _takes_number(alternatives: Sequence[Alternative], number: Fraction) -> bool:
    return any(_takes(one, number) for one in alternatives)


def _takes(one: Alternative, number: Fraction) -> bool:
    if one.kind == "value":
        return _is_number(one.value) and bool(one.value == number)
    if one.kind not in NUMBERS or (one.kind == "integer" and number.denominator != 1):
        return False
    node = one.typed.node
    return not (
        ("minimum" in node and number < node["minimum"])
        or ("maximum" in node and number > node["maximum"])
        or ("exclusiveMinimum" in node and number <= node["exclusiveMinimum"])
        or ("exclusiveMaximum" in node and number >= node["exclusiveMaximum"])
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
