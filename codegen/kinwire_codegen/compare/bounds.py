"""Bounds of scalars and arrays: which side takes more."""

from __future__ import annotations

__all__ = ("REFUSING", "TAKING", "changed_bounds", "within")

import math
import re
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.compare.ranges import pattern_of

_LENGTHS = {"string": ("minLength", "maxLength"), "array": ("minItems", "maxItems")}
_LOWER = ("minimum", "exclusiveMinimum")
_UPPER = ("maximum", "exclusiveMaximum")

REFUSING = frozenset({"bounds-tightened", "pattern-changed"})
"""The rules by which new readers refuse what old writers write."""
TAKING = frozenset({"bounds-loosened", "pattern-changed", "validators-only"})
"""The rules by which old readers may refuse what new writers write, and the harmless one."""

Node = dict[str, Any]


def changed_bounds(kind: str, old: Node, new: Node) -> Iterator[tuple[str, str]]:
    """Yield the name of a rule and what has changed, for each bound of two types of one kind.

    Bounds are intervals: an integer above 0 is one of at least 1.
    """
    if kind in ("integer", "number"):
        for keys, sign in ((_LOWER, 1), (_UPPER, -1)):
            yield from _side(
                keys, (old, new), [_edge(kind, node, keys, sign) for node in (old, new)]
            )
    for key in _LENGTHS.get(kind, ()):
        least = key.startswith("min")
        edges = [
            node.get(key, 0 if least else math.inf) * (1 if least else -1) for node in (old, new)
        ]
        yield from _side((key,), (old, new), edges)
    if kind == "string":
        yield from _pattern(pattern_of(old), pattern_of(new))
    if kind == "array" and bool(old.get("uniqueItems")) != bool(new.get("uniqueItems")):
        rule = "bounds-tightened" if new.get("uniqueItems") else "bounds-loosened"
        yield rule, f"uniqueItems is {new.get('uniqueItems', False)}"
    if old.get("format") != new.get("format"):
        before, after = _told(old.get("format")), _told(new.get("format"))
        yield "validators-only", f"format was {before} and is {after}"


def _edge(kind: str, node: Node, keys: tuple[str, str], sign: int) -> Any:
    """Return the tightest bound of one side so that more is tighter."""
    found = [(-math.inf, False)]
    for key in keys:
        if key in node:
            value, open_end = sign * node[key], key.startswith("exclusive")
            if kind == "integer":
                value, open_end = math.floor(value) + 1 if open_end else math.ceil(value), False
            found.append((value, open_end))
    return max(found)


def _side(
    keys: tuple[str, ...], sides: tuple[Node, Node], edges: list[Any]
) -> Iterator[tuple[str, str]]:
    if edges[0] == edges[1]:
        return
    rule = "bounds-tightened" if edges[1] > edges[0] else "bounds-loosened"
    old, new = sides
    for key in keys:
        if old.get(key) != new.get(key):
            yield rule, f"{key} was {_told(old.get(key))} and is {_told(new.get(key))}"


def within(value: Any, node: Node) -> bool:
    """Return whether a text or a number keeps the bounds of a type of its kind."""
    if isinstance(value, str):
        low, high = node.get("minLength", 0), node.get("maxLength", len(value))
        return low <= len(value) <= high and _matches(value, node.get("pattern", ""))
    if isinstance(value, bool):
        return True
    beyond = (
        value < node.get("minimum", value),
        value > node.get("maximum", value),
        value <= node.get("exclusiveMinimum", value - 1),
        value >= node.get("exclusiveMaximum", value + 1),
    )
    return not any(beyond)


def _matches(value: str, pattern: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:  # another dialect's: nothing can be said
        return True


def _pattern(before: str | None, after: str | None) -> Iterator[tuple[str, str]]:
    if before == after:
        return
    rule = {before is None: "bounds-tightened", after is None: "bounds-loosened"}.get(
        True, "pattern-changed"
    )
    yield rule, f"pattern was {_told(before)} and is {_told(after)}"


def _told(value: Any) -> str:
    return "unset" if value is None else str(value)
