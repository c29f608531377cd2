"""A type as the list of what a value may be: kinds of JSON, single values, arrays, objects.

References to unions and closed sets are followed; objects keep their names.
"""

from __future__ import annotations

__all__ = ("Alternative", "alternatives", "uncovered")

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kinwire_codegen.compare.bounds import within
from kinwire_codegen.compare.sides import Side, Typed
from kinwire_codegen.document import Reference

ANY = "any"
SCALARS = ("null", "boolean", "integer", "number", "string")


@dataclass(frozen=True)
class Alternative:
    """One thing that a value may be."""

    kind: str
    """A type of JSON, `value` for one value, or `any`."""
    typed: Typed
    """Where it is said."""
    value: Any = None
    reference: Reference | None = None
    """The name of an object."""

    @property
    def words(self) -> str:
        """It for people."""
        if self.kind == "value":
            return json.dumps(self.value, ensure_ascii=False)
        if self.reference is not None:
            return self.reference.name
        return "any value" if self.kind == ANY else self.kind


def alternatives(side: Side, typed: Typed) -> list[Alternative]:
    """Return what a value of the type may be, in the order of the document."""
    return list(_found(side, typed, frozenset()))


def _found(side: Side, typed: Typed, seen: frozenset[Reference]) -> Iterator[Alternative]:
    node = typed.node
    reference = side.named(typed)
    if reference is not None:
        yield from _referred(side, typed, reference, seen)
    elif "const" in node:
        yield Alternative("value", typed, node["const"])
    elif "enum" in node:
        yield from (Alternative("value", typed, value) for value in node["enum"])
    elif node.keys() & {"properties", "allOf"}:
        yield Alternative("object", typed)
    else:
        yield from _plain(side, typed, seen)


def _referred(
    side: Side, typed: Typed, reference: Reference, seen: frozenset[Reference]
) -> Iterator[Alternative]:
    definition = side.definition(reference)
    if definition is None:
        yield Alternative(ANY, typed)
    elif definition.node.keys() & {"properties", "allOf"}:
        yield Alternative("object", definition, reference=reference)
    elif reference not in seen:  # a type that is itself by another name adds nothing
        yield from _found(side, definition, seen | {reference})


def _plain(side: Side, typed: Typed, seen: frozenset[Reference]) -> Iterator[Alternative]:
    node = typed.node
    for key in ("anyOf", "oneOf"):
        branches = node.get(key, ())
        for index, branch in enumerate(branches):
            if set(branch) - {"required"}:
                place = (*typed.place, key, index)
                inner = Typed(branch, typed.home, place, typed.label)
                yield from _found(side, inner, seen)
        if any(set(branch) - {"required"} for branch in branches):
            return
    kinds = node.get("type", ANY)
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield Alternative(kind, typed)


def uncovered(ones: Sequence[Alternative], others: Sequence[Alternative]) -> list[Alternative]:
    """Return those of `ones` with values that none of `others` takes, bounds aside.

    Only single values are held against bounds: `bounds.py` compares those of whole kinds.
    """
    kinds = {other.kind for other in others} - {"value"}
    if ANY in kinds:
        return []
    known = {_exactly(other) for other in others if other.kind == "value"}
    whole = [other for other in others if other.kind != "value"]
    return [one for one in ones if not _covered(one, kinds, known, whole)]


def _covered(
    one: Alternative, kinds: set[str], known: set[tuple[type, Any]], whole: list[Alternative]
) -> bool:
    if one.kind != "value":
        return one.kind in kinds or (one.kind == "integer" and "number" in kinds)
    return _exactly(one) in known or any(
        other.kind in _kinds_of(one.value) and within(one.value, other.typed.node)
        for other in whole
    )


def _exactly(one: Alternative) -> tuple[type, Any]:
    return type(one.value), one.value  # True is 1 to Python, not on the wire


def _kinds_of(value: Any) -> set[str]:
    if isinstance(value, bool):
        return {"boolean"}
    return {"integer", "number"} if isinstance(value, int) else {"string"}
