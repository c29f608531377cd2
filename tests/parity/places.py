"""Where in our documents a path into an instance leads, as `protocol#Type/member`."""

from __future__ import annotations

__all__ = ("DOCUMENTS", "differences", "exists", "members_of", "trail")

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.load import document
from kinwire_codegen.load.document import Reference, resolve
from kinwire_codegen.load.loading import load_documents

DOCUMENTS = load_documents(None)

Node = dict[str, Any]
Spot = tuple[Reference, Node]
"""A node of a document, and the type that it belongs to."""


def reference(target: str) -> Reference:
    """Return the type that a target of `map.json` names: for a row, its params."""
    if target.startswith("row:"):
        mcp = DOCUMENTS["mcp"].content["methods"]
        return resolve(mcp[target.removeprefix("row:")]["params"], "mcp")
    return Reference(*target.split("#"))


def exists(place: str) -> bool:
    """Return whether the documents have that type, or that member of a type."""
    name, _, member = place.partition("/")
    protocol, _, kind = name.partition("#")
    if protocol not in DOCUMENTS or kind not in DOCUMENTS[protocol].definitions:
        return False
    return not member or member in members_of(Reference(protocol, kind))


def members_of(kind: Reference) -> dict[str, Spot]:
    """Return the members of a type, those of the types that it extends included."""
    members, _ = document.members_of(DOCUMENTS, kind)
    return {
        name: (Reference(owner.protocol, kind.name), member)
        for name, (owner, member) in members.items()
    }


def trail(target: str, path: tuple[str | int, ...], value: Any) -> list[str]:
    """Return the members that `path` into `value` passes through, in order.

    In a union they are those of each branch whose required members are there.
    """
    start = reference(target)
    spots = [(start, DOCUMENTS.definition(start))]
    if target.startswith("row:"):  # next to `params` are the envelope's own fields
        path, value = path[1:], value.get("params")
    found: list[str] = []
    for step in path:
        spots = [one for spot in spots for one in _step(spot, step, value, found)]
        value = value.get(step) if isinstance(value, dict) else value[step]
    return found


def _step(spot: Spot, step: str | int, value: Any, found: list[str]) -> Iterator[Spot]:
    for kind, node in _meanings(*spot, value):
        members = members_of(kind) if node is DOCUMENTS.definition(kind) else {}
        if isinstance(step, int):
            yield kind, node.get("items", {})
        elif step in members:
            found.append(f"{kind.protocol}#{kind.name}/{step}")
            yield members[step]
        elif isinstance(node.get("additionalProperties"), dict):
            yield kind, node["additionalProperties"]


def _meanings(kind: Reference, node: Node, value: Any) -> Iterator[Spot]:
    """Yield what a node stands for: itself, the type that it names, the branches that may be it."""
    if not isinstance(value, dict) or set(node.get("required", ())) <= set(value):
        yield kind, node
    if "$ref" in node:
        there = resolve(node["$ref"], kind.protocol)
        yield from _meanings(there, DOCUMENTS.definition(there), value)
    for key in ("anyOf", "oneOf"):
        for branch in node.get(key, ()):
            yield from _meanings(kind, branch, value)


def differences(official: Node, kind: Reference) -> Iterator[tuple[str, str]]:
    """Yield what sets our type apart from an official object, and where.

    It follows objects that the official schema writes in place; one with a name of its own is
    compared where it is mapped.
    """
    ours, theirs = members_of(kind), official.get("properties", {})
    place = f"{kind.protocol}#{kind.name}"
    _, required = document.members_of(DOCUMENTS, kind)
    for name in sorted(required ^ set(official.get("required", ()))):
        yield "required", f"{place}/{name}"
    for name in sorted(set(ours) | set(theirs)):
        if name not in theirs:
            yield "added", f"{place}/{name}"
        elif name not in ours:
            yield "missing", f"{place}/{name}"
        elif theirs[name].get("properties"):
            yield from _inner_differences(theirs[name], *ours[name], place=f"{place}/{name}")


def _inner_differences(
    official: Node, kind: Reference, node: Node, *, place: str
) -> Iterator[tuple[str, str]]:
    if "$ref" in node:
        yield from differences(official, resolve(node["$ref"], kind.protocol))
    else:  # we keep any object there
        yield "open", place
