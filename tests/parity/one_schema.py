"""Our documents as one JSON Schema of the kind that the sampler knows."""

from __future__ import annotations

__all__ = ("DEFAULTS", "ONE_SCHEMA", "REGISTRY", "TYPES")

from typing import Any

from referencing import Registry
from referencing.jsonschema import DRAFT7

from kinwire_codegen.load.document import Document, Reference, members_of, resolve
from kinwire_codegen.load.loading import load_documents

DOCUMENTS = load_documents(None)

NAME = "documents"

# What they say in addition to the rules that an instance can break.
WORDS = {
    *("default", "deprecated", "discriminator", "examples", "x-decision"),
}


def _definition(document: Document, name: str) -> dict[str, Any]:
    """Return a type with the members of those that it extends as its own."""
    members, required = members_of(DOCUMENTS, Reference(document.name, name))
    node = {key: value for key, value in document.definitions[name].items() if key != "allOf"}
    found = _type(document, node)
    if members:
        found |= {
            "type": "object",
            "properties": {
                member: _type(DOCUMENTS[owner.protocol], value)
                for member, (owner, value) in members.items()
            },
            "required": sorted(required),
        }
    return found


def _type(document: Document, node: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.items():
        if key == "$ref":
            there = resolve(value, document.name)
            found[key] = f"{NAME}#/definitions/{there.protocol}.{there.name}"
        elif key in ("anyOf", "oneOf"):  # our branches have a discriminator: one fits, or none
            found["anyOf"] = [_type(document, branch) for branch in value]
        elif key == "properties":
            found[key] = {name: _type(document, member) for name, member in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            found[key] = _type(document, value)
        elif key not in WORDS:
            found[key] = value
    return found


TYPES = [Reference(document.name, name) for document in DOCUMENTS for name in document.definitions]
"""Every type of every document."""

ONE_SCHEMA = {
    "definitions": {
        f"{kind.protocol}.{kind.name}": _definition(DOCUMENTS[kind.protocol], kind.name)
        for kind in TYPES
    }
}
"""The definition of each as `protocol.Name`."""

REGISTRY: Registry[Any] = Registry().with_resource(NAME, DRAFT7.create_resource(ONE_SCHEMA))
"""Where the references of the definitions lead."""

DEFAULTS = [
    (name, member["default"])
    for document in DOCUMENTS
    for node, _ in document.types
    for name, member in node.get("properties", {}).items()
    if "default" in member
]
"""Members that a model writes though they were absent, and with what."""
