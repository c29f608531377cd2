"""Bounds of scalars and arrays: which side takes more."""

from __future__ import annotations

__all__ = ("changed_bounds",)

from collections.abc import Iterator
from typing import Any

LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems")
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")

Node = dict[str, Any]


def changed_bounds(old: Node, new: Node) -> Iterator[tuple[str, str]]:
    """Yield the name of a rule and what has changed, for each bound of two types of one kind."""
    for key in (*LOWER, *UPPER):
        before, after = old.get(key), new.get(key)
        if before != after:
            tighter = before is None or (
                after is not None and (after > before if key in LOWER else after < before)
            )
            rule = "bounds-tightened" if tighter else "bounds-loosened"
            yield rule, f"{key} was {_told(before)} and is {_told(after)}"
    yield from _pattern(old.get("pattern"), new.get("pattern"))
    if old.get("uniqueItems", False) != new.get("uniqueItems", False):
        yield "validators-only", f"uniqueItems is {new.get('uniqueItems', False)}"
    if old.get("format") != new.get("format"):
        before, after = _told(old.get("format")), _told(new.get("format"))
        yield "validators-only", f"format was {before} and is {after}"


def _pattern(before: str | None, after: str | None) -> Iterator[tuple[str, str]]:
    if before == after:
        return
    rule = {before is None: "bounds-tightened", after is None: "bounds-loosened"}.get(
        True, "pattern-changed"
    )
    yield rule, f"pattern was {_told(before)} and is {_told(after)}"


def _told(value: Any) -> str:
    return "none" if value is None else str(value)
