"""Lints of `enumValues`: what it describes are values of the enum, and names fit Python."""

from __future__ import annotations

__all__ = ("enum_values_fit",)

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.findings import Fault, Place, pointer
from kinwire_codegen.load.names import nearest
from kinwire_codegen.load.notes import class_of_values, enum_values

Node = dict[str, Any]


def enum_values_fit(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield descriptions of what is not a value, and names that no constant can have."""
    for node, place in document.types:
        if "enumValues" in node:
            at = (*place, "enumValues")
            yield from _values(node, at)
            yield from _names(node, at, is_definition=len(place) == 2)
    for name, node in document.definitions.items():
        made = class_of_values(name, node)
        if made in document.definitions:
            what = f"{made!r} is the class of the constants of {name!r}"
            yield pointer("$defs", made), what, "Choose another name."


def _values(node: Node, place: Place) -> Iterator[Fault]:
    if "enum" not in node:
        yield pointer(*place), "there is no enum here", "Add it, or remove enumValues."
        return
    known = [str(value) for value in node["enum"]]
    for key in node["enumValues"]:
        if key not in known:
            near = nearest(key, known)
            hint = f"Did you mean {near!r}?" if near else "Add it to enum, or remove it."
            yield pointer(*place, key), f"{key!r} is not a value of the enum", hint
        elif known.count(key) > 1:
            what = f"{key!r} is both a text and an integer of the enum"
            yield pointer(*place, key), what, "Give one of them another value."


def _names(node: Node, place: Place, *, is_definition: bool) -> Iterator[Fault]:
    seen: dict[str | None, str | int] = {}
    for one in enum_values(node):
        if one.name is None:
            continue
        at, constant = pointer(*place, str(one.value), "name"), one.constant
        first = seen.setdefault(constant, one.value)
        if not isinstance(one.value, int):
            yield at, "a text needs no name: it is written as it is", "Remove it."
        elif not is_definition:
            what = "only an enum with a name of its own can have constants"
            yield at, what, "Move the enum to $defs and refer to it."
        elif first != one.value:
            what = f"{first} and {one.value} are both {constant!r} in Python"
            yield at, what, "Rename one of them."
