"""Lint of bounds: each bound is used with a kind of values that it applies to.

Validators ignore `maxItems` on a string. The bindings would apply it, or lose it, and so accept
other values than a validator does. The same holds for a bound next to a union or on any value: it
belongs into the branch that has the kind.
"""

from __future__ import annotations

__all__ = ("bounds_fit_their_kind", "idle_bounds")

from collections.abc import Callable, Iterator
from typing import Any

from kinwire_codegen.load.bounds import BOUNDS
from kinwire_codegen.load.document import Document, Documents, Reference, resolve
from kinwire_codegen.load.findings import Fault, pointer

Node = dict[str, Any]


def bounds_fit_their_kind(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield the bounds of `document` that say nothing of the values they stand with."""
    for node, place in document.types:
        for key, kinds in idle_bounds(node, document.name, documents.definition):
            what = f"{key} does not apply to {_told(kinds)}"
            hint = f"Remove it, or write it where the type is {_either(BOUNDS[key])}."
            yield pointer(*place, key), what, hint


def idle_bounds(
    node: Node, home: str, definition: Callable[[Reference], Node]
) -> list[tuple[str, frozenset[str]]]:
    """Return the bounds of a type that say nothing of its values, with the kinds of those.

    `home` is the protocol that its references begin from, `definition` what they name.
    """
    if not BOUNDS.keys() & node.keys():
        return []
    seen: set[Reference] = set()
    here = node
    while "$ref" in here:
        there = resolve(here["$ref"], home)
        if there in seen:
            break
        seen.add(there)
        here, home = definition(there), there.protocol
    kinds = _own_kinds(here)
    return [(key, kinds) for key in node if key in BOUNDS and not BOUNDS[key] & kinds]


def _own_kinds(node: Node) -> frozenset[str]:
    """Return the kinds of values that a type names itself, none for any value and for unions."""
    if "const" in node or "enum" in node:
        return frozenset(map(_kind_of, [node["const"]] if "const" in node else node["enum"]))
    if node.keys() & {"anyOf", "oneOf", "allOf"}:
        return frozenset()
    kinds = node.get("type", ())
    return frozenset([kinds] if isinstance(kinds, str) else kinds)


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "integer" if isinstance(value, int) else "string"


def _told(kinds: frozenset[str]) -> str:
    return f"the type {_either(kinds)}" if kinds else "a type that names no kind of values"


def _either(kinds: frozenset[str]) -> str:
    return " or ".join(sorted(kinds))
