"""Parts of imported types that lint refuses and that other projects write: they are taken out."""

from __future__ import annotations

__all__ = ("drop_idle_bounds", "drop_misfits")

from typing import Any

from kinwire_codegen.imports.names import pascal
from kinwire_codegen.lint.bounds import idle_bounds
from kinwire_codegen.lint.examples import misfits
from kinwire_codegen.load.document import Document, Documents, Reference, all_types
from kinwire_codegen.load.findings import Place

Node = dict[str, Any]


def drop_idle_bounds(made: dict[str, Node]) -> tuple[list[str], list[str]]:
    """Take bounds that their type does not name a kind of values for out of `made`.

    `made` has types by name. Return those that refuse no value, such as `minimum` of a text, and
    the others: it says something of any value, and of most unions.
    """

    def definition(reference: Reference) -> Node:
        return made.get(reference.name, {})

    idle: list[str] = []
    lost: list[str] = []
    for name, whole in made.items():
        for node, place in all_types(whole, ()):
            for key, kinds in idle_bounds(node, "", definition):
                (idle if kinds else lost).append(f"{name}{_inside(place)} {key}")
                del node[key]
    return idle, lost


def _inside(place: Place) -> str:
    """Return what a type inside another one would be called."""
    words = {"items": "Item", "additionalProperties": "Value", "properties": ""}
    return "".join(
        str(step + 1) if isinstance(step, int) else words.get(step, pascal(step))
        for step in place
        if step not in ("anyOf", "oneOf", "allOf")
    )


def drop_misfits(content: Node) -> list[str]:
    """Take examples and defaults that do not fit their type out of a document.

    Return what was taken out, each with the reason.
    """
    document = Document(content)
    found: dict[Place, str] = {}
    for place, error in misfits(document, Documents({document.name: document}, {})):
        found.setdefault(place, error.message)
    for place in sorted(found, key=lambda place: str(place[-1]).zfill(9), reverse=True):
        _remove(content, place)
    return [f"{_words(place)}: it does not fit its type: {found[place][:200]}" for place in found]


def _remove(content: Node, place: Place) -> None:
    holders: list[Any] = [content]
    for step in place[:-1]:
        holders.append(holders[-1][step])
    del holders[-1][place[-1]]
    if place[-2] == "examples" and not holders[-1]:
        del holders[-2]["examples"]


def _words(place: Place) -> str:
    return "/".join(str(step) for step in place[1:])
