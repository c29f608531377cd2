"""Lints of the types in `$defs`: what the generator needs beyond valid JSON Schema."""

from __future__ import annotations

__all__ = ("types_are_well_formed", "types_have_an_end")

from collections import Counter
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.load.document import (
    Document,
    Documents,
    Reference,
    inner_types,
    parts,
    resolve,
)
from kinwire_codegen.load.findings import Fault, Place, pointer

Node = dict[str, Any]
Tag = tuple[type, Any]
"""A constant and its type: in JSON, true is not 1."""
Tags = dict[str, frozenset[Tag]]
"""The required constants of an object by the names of its members."""


def types_have_an_end(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield the types of `document` that are themselves; its references must resolve."""
    for name in document.definitions:
        yield from _circles(documents, Reference(document.name, name), ("$defs", name))


def types_are_well_formed(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield what is wrong with the types of `document`; they must have an end."""
    for name, definition in document.definitions.items():
        here, place = Reference(document.name, name), ("$defs", name)
        yield from _inline_objects(definition, place, named=True)
        yield from _members(documents, here, place)
    for node, at in document.types:
        yield from _unions(documents, document.name, node, at)
        yield from _other_fields(node, at)


def _circles(documents: Documents, start: Reference, place: Place) -> Iterator[Fault]:
    # A type may hold itself as a member; being itself by another name has no end.
    seen: set[Reference] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for there in (resolve(text, here.protocol) for text in _same(documents.definition(here))):
            if there == start:
                yield pointer(*place), f"{start.name!r} is defined by itself", "Break the circle."
                return
            if there not in seen:
                seen.add(there)
                waiting.append(there)


def _same(definition: Node) -> Iterator[str]:
    """Yield the types that the definition is a name, a branch or an extension of, at any depth."""
    waiting = [definition]
    while waiting:
        node = waiting.pop()
        if "$ref" in node:
            yield node["$ref"]
        waiting += (branch for key in ("allOf", "anyOf", "oneOf") for branch in node.get(key, ()))


def _inline_objects(node: Node, place: Place, *, named: bool) -> Iterator[Fault]:
    if not named and "properties" in node:
        what = "an object with properties has no name here"
        yield pointer(*place), what, "Move it to $defs and refer to it."
    for inner, step in inner_types(node):
        # `allOf` of a definition may hold the definition's own members.
        yield from _inline_objects(inner, (*place, *step), named=named and step[0] == "allOf")


def _other_fields(node: Node, place: Place) -> Iterator[Fault]:
    """Yield what a type says of the fields that it does not name and the bindings do not keep."""
    others, at = node.get("additionalProperties"), (*place, "additionalProperties")
    if others is False:
        what = "an object cannot be closed: the bindings preserve fields that they do not know"
        yield pointer(*at), what, "Remove it."
    elif isinstance(others, dict) and others and node.keys() & {"properties", "allOf"}:
        what = "it does not apply next to properties: an unknown field may have any value"
        yield pointer(*at), what, "Remove it, or give the map a field of its own."


def _unions(documents: Documents, home: str, node: Node, place: Place) -> Iterator[Fault]:
    for key in ("anyOf", "oneOf"):
        tags = [_tags(documents, home, branch) for branch in node.get(key, ())]
        telling = _telling_members(tags)
        if telling and "discriminator" not in node:
            what = f"{telling[0]!r} distinguishes the branches, but the union does not say so"
            hint = f'Add "discriminator": {{"propertyName": "{telling[0]}"}}.'
            yield pointer(*place), what, hint
        elif tags and "discriminator" in node:
            yield from _discriminator(node["discriminator"]["propertyName"], tags, place)
    if "discriminator" in node and not node.keys() & {"anyOf", "oneOf"}:
        hint = "Add anyOf or oneOf, or remove the discriminator."
        yield pointer(*place, "discriminator"), "there is no union here", hint


def _telling_members(tags: list[Tags]) -> list[str]:
    """Return the members that have other constants in each branch."""
    common = set.intersection(*map(set, tags)) if len(tags) > 1 else set[str]()
    return sorted(name for name in common if not _repeated([tag[name] for tag in tags]))


def _repeated(values: list[frozenset[Tag]]) -> list[Tag]:
    """Return the constants that more than one branch has."""
    counted = Counter(tag for one in values for tag in one)
    return [tag for tag, count in counted.items() if count > 1]


def _discriminator(member: str, tags: list[Tags], place: Place) -> Iterator[Fault]:
    values = [tag.get(member, frozenset()) for tag in tags]
    at = pointer(*place, "discriminator")
    if frozenset() in values:
        what = f"branch {values.index(frozenset())} has no required constant {member!r}"
        yield at, what, "Give each branch one, or remove the discriminator."
        return
    for _, twice in _repeated(values)[:1]:
        yield at, f"two branches have the tag {twice!r}", "Give each branch its own."
    if any(kind is not str for one in values for kind, _ in one):
        yield at, f"a constant {member!r} is not text", "Write texts, or remove the discriminator."


def _tags(documents: Documents, home: str, branch: Node) -> Tags:
    """Return the required constants of the object that `branch` refers to.

    Of a union they are those that each of its own branches has.
    """
    if "$ref" not in branch:
        return {}
    reference = resolve(branch["$ref"], home)
    definition = documents.definition(reference)
    inner = definition.get("oneOf") or definition.get("anyOf")
    if inner and "discriminator" in definition:
        each = [_tags(documents, reference.protocol, one) for one in inner]
        common = set.intersection(*map(set, each))
        return {name: frozenset().union(*(one[name] for one in each)) for name in common}
    if "$ref" in definition:
        return _tags(documents, reference.protocol, definition)
    return {
        name: frozenset({(type(member["const"]), member["const"])})
        for _, part, _ in parts(documents, documents.part(reference))
        for name, member in part.get("properties", {}).items()
        if "const" in member and name in part.get("required", ())
    }


def _members(documents: Documents, here: Reference, place: Place) -> Iterator[Fault]:
    owners: dict[str, Reference] = {}
    required: set[str] = set()
    for owner, part, _ in parts(documents, documents.part(here)):
        required |= set(part.get("required", ()))
        for name in part.get("properties", {}):
            first = owners.setdefault(name, owner)
            if first != owner:
                what = f"{name!r} is a member of both {first.name!r} and {owner.name!r}"
                yield pointer(*place), what, "A derived type adds members; remove one of them."
    for name in sorted(required - set(owners)):
        what = f"{name!r} is required but not a member"
        yield pointer(*place, "required"), what, "Add it to properties."
