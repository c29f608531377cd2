"""Bounds of scalars and arrays: which side takes more."""

from __future__ import annotations

__all__ = ("REFUSING", "TAKING", "changed_bounds", "within")

import re
from collections.abc import Iterator
from typing import Any

LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems")
COUNTS = ("minLength", "minItems")  # nothing is shorter than 0
OF_NUMBERS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
OF_KIND = {
    "integer": OF_NUMBERS,
    "number": OF_NUMBERS,
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
}
"""The keywords that bound the values of each kind."""

REFUSING = frozenset({"bounds-tightened", "pattern-changed"})
"""The rules by which new readers refuse what old writers write."""
TAKING = frozenset({"bounds-loosened", "pattern-changed", "validators-only"})
"""The rules by which old readers may refuse what new writers write, and the harmless one."""

Node = dict[str, Any]


def changed_bounds(kind: str, old: Node, new: Node) -> Iterator[tuple[str, str]]:
    """Yield the name of a rule and what has changed, for each bound of two types of one kind."""
    for key in OF_KIND.get(kind, ()):
        before, after = (node.get(key, 0 if key in COUNTS else None) for node in (old, new))
        if before != after:
            tighter = before is None or (
                after is not None and (after > before if key in LOWER else after < before)
            )
            rule = "bounds-tightened" if tighter else "bounds-loosened"
            yield rule, f"{key} was {_told(old.get(key))} and is {_told(new.get(key))}"
    if kind == "string":
        yield from _pattern(old.get("pattern"), new.get("pattern"))
    if kind == "array" and old.get("uniqueItems", False) != new.get("uniqueItems", False):
        yield "validators-only", f"uniqueItems is {new.get('uniqueItems', False)}"
    if old.get("format") != new.get("format"):
        before, after = _told(old.get("format")), _told(new.get("format"))
        yield "validators-only", f"format was {before} and is {after}"


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
