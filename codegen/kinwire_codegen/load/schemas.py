"""Types of documents as JSON Schemas that stand alone, for those who read nothing else."""

from __future__ import annotations

__all__ = ("as_input_schema", "plain_type", "reachable")

from collections.abc import Callable
from typing import Any

from kinwire_codegen.load.document import Documents, Reference, all_types, members_of, resolve

OURS = {"discriminator", "shorthand", "enumValues", "since", "examples"}  # no validator needs them


def as_input_schema(documents: Documents, kind: Reference) -> dict[str, Any]:
    """Return an object type as the `inputSchema` of a tool, with all that it refers to."""

    def pointer(reference: Reference) -> str:
        return f"#/$defs/{reference.name}"

    members, required = members_of(documents, kind)
    members.pop("_meta", None)  # it goes with requests: the arguments of a tool have none
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: plain_type(node, owner.protocol, pointer)
            for name, (owner, node) in members.items()
        },
    }
    if required:
        schema["required"] = [name for name in members if name in required]
    inner = reachable(documents, *_named(members))
    if inner:
        schema["$defs"] = {
            one.name: plain_type(documents.definition(one), one.protocol, pointer) for one in inner
        }
    return schema


def reachable(documents: Documents, *kinds: Reference) -> list[Reference]:
    """Return `kinds` and every type that they are made of, at any depth, sorted."""
    found = set(kinds)
    waiting = list(kinds)
    while waiting:
        here = waiting.pop()
        for there in documents[here.protocol].referred[here.name]:
            if there not in found:
                found.add(there)
                waiting.append(there)
    return sorted(found)


def _named(members: dict[str, tuple[Reference, dict[str, Any]]]) -> list[Reference]:
    return [
        resolve(one["$ref"], owner.protocol)
        for owner, node in members.values()
        for one, _ in all_types(node, ())
        if "$ref" in one
    ]


def plain_type(
    node: dict[str, Any],
    home: str,
    pointer: Callable[[Reference], str],
    rest: str | None = None,
) -> dict[str, Any]:
    """Return a type of the protocol `home` in JSON Schema alone; `pointer` says where types are.

    What JSON Schema has no words for is dropped, or kept in an entry called `rest`.
    """
    made: dict[str, Any] = {}
    dropped: dict[str, Any] = {}

    def plain(inner: dict[str, Any]) -> dict[str, Any]:
        return plain_type(inner, home, pointer, rest)

    for key, value in node.items():
        if key in OURS or key.startswith("x-"):
            dropped[key] = value
        elif key == "deprecated":
            made[key] = True
            dropped |= {} if value is True else {key: value}
        elif key == "$ref":
            made[key] = pointer(resolve(value, home))
        else:
            made[key] = _with_inner(key, value, plain)
    if rest is not None and dropped:
        made[rest] = dropped
    return made


def _with_inner(key: str, value: Any, plain: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return the value of a keyword with its inner types made plain."""
    if key == "properties":
        return {name: plain(inner) for name, inner in value.items()}
    if key in ("anyOf", "oneOf", "allOf"):
        return [plain(branch) for branch in value]
    if key in ("items", "additionalProperties") and isinstance(value, dict):
        return plain(value)
    return value
