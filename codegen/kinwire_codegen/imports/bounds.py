"""Bounds that say nothing of the values they stand with: lint refuses them, others write them."""

from __future__ import annotations

__all__ = ("drop_idle_bounds",)

from typing import Any

from kinwire_codegen.imports.names import pascal
from kinwire_codegen.lint.bounds import idle_bounds
from kinwire_codegen.load.document import Reference, all_types
from kinwire_codegen.load.findings import Place

Node = dict[str, Any]


def drop_idle_bounds(made: dict[str, Node]) -> list[str]:
    """Take them out of the types `made`; return what was taken out of which."""

    def definition(reference: Reference) -> Node:
        return made.get(reference.name, {})

    found = []
    for name, whole in made.items():
        for node, place in all_types(whole, ()):
            for key, _ in idle_bounds(node, "", definition):
                found.append(f"{name}{_inside(place)} {key}")
                del node[key]
    return found


def _inside(place: Place) -> str:
    """Return what a type inside another one would be called."""
    words = {"items": "Item", "additionalProperties": "Value", "properties": ""}
    return "".join(
        str(step + 1) if isinstance(step, int) else words.get(step, pascal(step))
        for step in place
        if step not in ("anyOf", "oneOf", "allOf")
    )
