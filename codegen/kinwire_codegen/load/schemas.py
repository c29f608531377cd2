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
        for there in _named_in(documents.definition(here), here.protocol):
            if there not in found:
                found.add(there)
                waiting.append(there)
    return sorted(found)


def _named(members: dict[str, tuple[Reference, dict[str, Any]]]) -> list[Reference]:
    return [one for owner, node in members.values() for one in _named_in(node, owner.protocol)]


def _named_in(node: dict[str, Any], home: str) -> list[Reference]:
    return [resolve(one["$ref"], home) for one, _ in all_types(node, ()) if "$ref" in one]


def plain_type(
    node: dict[str, Any], home: str, pointer: Callable[[Reference], str]
) -> dict[str, Any]:
    """Return a type of the protocol `home` in JSON Schema alone; `pointer` says where types are."""
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key in OURS or key.startswith("x-"):
            continue
        if key == "deprecated":
            made[key] = True
            continue
        if key == "$ref":
            made[key] = pointer(resolve(value, home))
        elif key == "properties":
            made[key] = {name: plain_type(inner, home, pointer) for name, inner in value.items()}
        elif key in ("anyOf", "oneOf", "allOf"):
            made[key] = [plain_type(branch, home, pointer) for branch in value]
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            made[key] = plain_type(value, home, pointer)
        else:
            made[key] = value
    return made
