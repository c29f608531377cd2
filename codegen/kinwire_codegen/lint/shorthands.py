"""Lint of short forms: a string makes a whole item of the array that it is read as."""

from __future__ import annotations

__all__ = ("shorthands_fit",)

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.load.document import Document, Documents, Reference, members_of, resolve
from kinwire_codegen.load.findings import Fault, pointer

Node = dict[str, Any]


def shorthands_fit(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield the short forms of `document` that cannot be read as an item of their array."""
    for node, place in document.types:
        if "shorthand" not in node:
            continue
        at = pointer(*place, "shorthand")
        if len(place) > 2 or node.get("type") != "array":
            hint = "Give the array a name in $defs, and write it there."
            yield at, "a short form belongs to an array in $defs", hint
            continue
        item = resolve(node["shorthand"]["$ref"], document.name)
        if item not in _items(documents, document.name, node):
            yield at, f"{item.name!r} is not an item of the array", "Name one of its items."
        elif not _is_made_of_text(documents, item, node["shorthand"]["member"]):
            what = f"a string does not make a whole {item.name!r}"
            hint = "Name its member of type string; the others have to be optional or constant."
            yield at, what, hint


def _items(documents: Documents, home: str, node: Node) -> set[Reference]:
    """Return the types that an item of an array may be."""
    found: set[Reference] = set()
    waiting = [(node.get("items", {}), home)]
    while waiting:
        here, home = waiting.pop()
        if "$ref" in here:
            reference = resolve(here["$ref"], home)
            if reference not in found:
                found.add(reference)
                waiting.append((documents.definition(reference), reference.protocol))
        waiting += ((branch, home) for key in ("anyOf", "oneOf") for branch in here.get(key, ()))
    return found


def _is_made_of_text(documents: Documents, item: Reference, member: str) -> bool:
    members, required = members_of(documents, item)
    if member not in members or members[member][1].get("type") != "string":
        return False
    # Another rule reports a required name that is not a field.
    others = (required & members.keys()) - {member}
    return all("const" in members[name][1] for name in others)
