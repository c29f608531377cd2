"""Bounds of a type as the bindings apply them, and those that nothing fits."""

from __future__ import annotations

__all__ = ("BOUNDS", "bounds_of", "keeps", "own_bounds")

import math
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.load.patterns import PatternError, translated
from kinwire_codegen.load.shapes import Bound

Node = dict[str, Any]
BoundFault = tuple[str, str, str]
"""The keyword, what is wrong, and what to do."""

_NUMBERS = frozenset({"integer", "number"})
BOUNDS = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBERS),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), frozenset({"string"})),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems"), frozenset({"array"})),
}
"""The kinds of values that a bound says something of."""

_CORRECT = "Correct one of them."


def own_bounds(node: Node) -> Node:
    """Return the bounds that a type has itself: next to `$ref` they narrow what it refers to."""
    return {key: node[key] for key in BOUNDS if key in node}


def bounds_of(kind: str, node: Node) -> tuple[tuple[Bound, ...], list[BoundFault]]:
    """Return the bounds of `node` for values of one kind, and which of them cannot be kept."""
    if kind in _NUMBERS:
        return _of_numbers(kind, node)
    if kind == "array":
        return _of_lengths(node, "minItems", "maxItems")
    if kind == "string":
        bounds, faults = _of_lengths(node, "minLength", "maxLength")
        pattern, more = _pattern(node)
        return (*bounds, *pattern), [*faults, *more]
    return (), []


def keeps(value: str | int | bool, node: Node) -> bool:
    """Return whether a text or an integer keeps those bounds of `node` that apply to it."""
    from pydantic_core import SchemaValidator, ValidationError, core_schema

    if isinstance(value, bool):
        return True
    is_text = isinstance(value, str)
    bounds: dict[str, Any] = dict(bounds_of("string" if is_text else "integer", node)[0])
    schema = core_schema.str_schema(**bounds) if is_text else core_schema.int_schema(**bounds)
    try:
        SchemaValidator(schema).validate_python(value)
    except ValidationError:
        return False
    return True


def _of_numbers(kind: str, node: Node) -> tuple[tuple[Bound, ...], list[BoundFault]]:
    lower = [*_limit(kind, node, "minimum", "ge"), *_limit(kind, node, "exclusiveMinimum", "gt")]
    upper = [*_limit(kind, node, "maximum", "le"), *_limit(kind, node, "exclusiveMaximum", "lt")]
    low = max(lower, key=lambda bound: (bound[1], bound[0] == "gt"), default=None)
    high = min(upper, key=lambda bound: (bound[1], bound[0] == "le"), default=None)
    faults: list[BoundFault] = []
    if low and high and not _room(kind, low, high):
        key = next(key for key in ("minimum", "exclusiveMinimum") if key in node)
        faults.append((key, "no number keeps both bounds", _CORRECT))
    return tuple(bound for bound in (low, high) if bound), faults


def _limit(kind: str, node: Node, key: str, name: str) -> Iterator[Bound]:
    if key not in node:
        return
    value = node[key]
    if kind == "integer":
        yield name, math.ceil(value) if name in ("ge", "lt") else math.floor(value)
    else:
        yield name, float(value) if float(value) == value else value


def _room(kind: str, low: Bound, high: Bound) -> bool:
    if kind == "integer":
        return bool(low[1] + (low[0] == "gt") <= high[1] - (high[0] == "lt"))
    return bool(low[1] < high[1] or (low[1] == high[1] and (low[0], high[0]) == ("ge", "le")))


def _of_lengths(node: Node, least: str, most: str) -> tuple[tuple[Bound, ...], list[BoundFault]]:
    names = ((least, "min_length"), (most, "max_length"))
    bounds = tuple((name, int(node[key])) for key, name in names if key in node)
    faults: list[BoundFault] = []
    if least in node and most in node and node[least] > node[most]:
        faults.append((least, f"it is more than {most}: nothing fits", _CORRECT))
    return bounds, faults


def _pattern(node: Node) -> tuple[tuple[Bound, ...], list[BoundFault]]:
    if "pattern" not in node:
        return (), []
    try:
        return (("pattern", translated(node["pattern"])),), []
    except PatternError as error:
        what = f"the bindings cannot apply the pattern: {str(error).removeprefix('error: ')}"
        return (), [("pattern", what, "Write it in another way.")]
