"""A type as the list of what a value may be: kinds of JSON, single values, arrays, objects.

References to unions and closed sets are followed; objects keep their names.
"""

from __future__ import annotations

__all__ = ("ANY", "Alternative", "alternatives", "of_kind", "uncovered")

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kinwire_codegen.compare.bounds import within
from kinwire_codegen.compare.ranges import missing_number
from kinwire_codegen.compare.sides import Node, Side, Typed
from kinwire_codegen.load.bounds import own_bounds
from kinwire_codegen.load.document import Reference
from kinwire_codegen.load.object_parts import is_group
from kinwire_codegen.load.shape_reading import whole

ANY = "any"
SCALARS = ("null", "boolean", "integer", "number", "string")
Seen = set[tuple[Reference, str]]
"""What was followed: references, each with the bounds next to it as text."""


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
    tag: str | None = None
    """The member that distinguishes an object from the others of its union."""
    only_read: bool = False
    """Whether it is a short form, which nobody writes."""

    @property
    def words(self) -> str:
        """It for people."""
        if self.kind == "value":
            return json.dumps(self.value, ensure_ascii=False)
        if self.reference is not None:
            return self.reference.name
        return "any value" if self.kind == ANY else self.kind


def alternatives(side: Side, typed: Typed) -> list[Alternative]:
    """Return what a value of the type may be, in the order of the document; nothing comes twice."""
    return list(_found(side, typed, set(), None))


def _found(side: Side, typed: Typed, seen: Seen, tag: str | None) -> Iterator[Alternative]:
    node = typed.node
    reference = side.named(typed)
    if reference is not None:
        key = reference, json.dumps(own_bounds(node))
        if key not in seen:  # a type that is itself by another name adds nothing
            seen.add(key)
            yield from _referred(side, typed, reference, seen, tag)
    elif "const" in node:
        yield Alternative("value", typed, whole(node["const"]))
    elif "enum" in node:
        yield from (Alternative("value", typed, whole(value)) for value in node["enum"])
    elif _is_object(node):
        yield Alternative("object", typed, tag=tag)
    else:
        yield from _plain(side, typed, seen, tag)


def _referred(
    side: Side, typed: Typed, reference: Reference, seen: Seen, tag: str | None
) -> Iterator[Alternative]:
    definition = side.definition(reference)
    if definition is None:
        yield Alternative(ANY, typed)
    elif _is_object(definition.node):
        yield Alternative("object", definition, reference=reference, tag=tag)
    else:
        bounded = bool(own_bounds(typed.node))
        yield from _found(side, typed.written_out(definition) if bounded else definition, seen, tag)


def _is_object(node: Node) -> bool:
    return bool(node.keys() & {"properties", "allOf"})


def _plain(side: Side, typed: Typed, seen: Seen, tag: str | None) -> Iterator[Alternative]:
    node = typed.node
    tag = node.get("discriminator", {}).get("propertyName", tag)
    for key in ("anyOf", "oneOf"):
        branches = node.get(key, ())
        for index, branch in enumerate(branches):
            if not is_group(branch):
                inner = typed._replace(node=branch, place=(*typed.place, key, index))
                yield from _found(side, inner, seen, tag)
        if not all(map(is_group, branches)):
            return
    kinds = node.get("type", ANY)
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        yield Alternative(kind, typed, tag=tag if kind == "object" else None)
    if "shorthand" in node:
        yield Alternative("string", typed, only_read=True)


def of_kind(found: Sequence[Alternative], kind: str) -> list[Alternative]:
    """Return those of one kind."""
    return [one for one in found if one.kind == kind]


def uncovered(ones: Sequence[Alternative], others: Sequence[Alternative]) -> list[Alternative]:
    """Return those of `ones` with values that none of `others` takes.

    Bounds of whole kinds are left to `nearest_bounds.py`, but a range is held against a list.
    """
    kinds = {other.kind for other in others} - {"value"}
    if ANY in kinds:
        return []
    known = {_exactly(other) for other in others if other.kind == "value"}
    whole = [other for other in others if other.kind != "value"]
    return [
        one
        for one in ones
        if not _covered(one, kinds, known, whole) and not _listed(one, known, others)
    ]


def _covered(
    one: Alternative, kinds: set[str], known: set[tuple[type, Any]], whole: list[Alternative]
) -> bool:
    if one.kind != "value":
        return one.kind in kinds or (one.kind == "integer" and "number" in kinds)
    return _exactly(one) in known or any(
        other.kind in _kinds_of(one.value) and within(one.value, other.typed.node)
        for other in whole
    )


def _listed(one: Alternative, known: set[tuple[type, Any]], others: Sequence[Alternative]) -> bool:
    """Return whether all that a kind takes is taken one by one, or in ranges of another kind."""
    if one.kind == "boolean":
        return {(bool, True), (bool, False)} <= known
    return one.kind in ("integer", "number") and missing_number([one], others) is None


def _exactly(one: Alternative) -> tuple[type, Any]:
    return type(one.value), one.value  # True is 1 to Python, not on the wire


def _kinds_of(value: Any) -> set[str]:
    if isinstance(value, bool):
        return {"boolean"}
    return {"integer", "number"} if isinstance(value, int) else {"string"}
