"""The documents as one JSON Schema in the form that the model generator renders best.

The result is for the model generator alone: what ships and what validates is the documents
themselves. Definitions are called `mcp.models.Tool`; the dots make the modules.
"""

from __future__ import annotations

__all__ = ("bundle", "takes_null")

from typing import Any

from kinwire_codegen.load.document import Document, Documents, Reference, members_of, resolve

KEPT = {
    *("type", "description", "enum", "const", "default", "deprecated", "discriminator", "pattern"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("minLength", "maxLength", "minItems", "maxItems"),
}

# What a definition says that is no more than a type of JSON.
_PLAIN = {"type", "description", "examples", "x-decision"}


def bundle(documents: Documents) -> dict[str, Any]:
    """Return one schema with every definition; the documents must be free of findings."""
    definitions = {
        _bundled_name(documents, Reference(document.name, name)): _definition(
            documents, document, name
        )
        for document in documents
        for name in document.definitions
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": dict(
            sorted(definitions.items())
        ),  # the order of definitions would show in the output
    }


def _bundled_name(documents: Documents, reference: Reference) -> str:
    return f"{documents[reference.protocol].module}.models.{reference.name}"


def _definition(documents: Documents, document: Document, name: str) -> dict[str, Any]:
    definition = document.definitions[name]
    # A type that extends others becomes one flat class: `required` adds up over all its parts,
    # and no subclass has to narrow a member, which type checkers refuse.
    members, required = members_of(documents, Reference(document.name, name))
    flat = {key: value for key, value in definition.items() if key != "allOf"}
    if members:
        flat = {"type": "object", "description": definition["description"]}
    node = _type(documents, document, flat)
    if members:
        node["properties"] = {
            key: _member(documents, documents[owner.protocol], value, key in required)
            for key, (owner, value) in members.items()
        }
        node["required"] = [key for key in members if key in required]
    return node


def _member(
    documents: Documents, home: Document, member: dict[str, Any], required: bool
) -> dict[str, Any]:
    node = _type(documents, home, member)
    if required or "default" in member or takes_null(documents, home, member):
        return node
    return _or_absent(node)


def _or_absent(node: dict[str, Any]) -> dict[str, Any]:
    """Return a member that is None when it is absent."""
    words = {"description", "deprecated"}
    description = {key: value for key, value in node.items() if key in words}
    bare = {key: value for key, value in node.items() if key not in description}
    if isinstance(bare.get("type"), str | list) and not bare.keys() & {
        "const",
        "enum",
        "additionalProperties",
    }:
        # `anyOf` would make the model generator invent a name for a plain type.
        kinds = bare["type"] if isinstance(bare["type"], list) else [bare["type"]]
        return {**bare, **description, "type": [*kinds, "null"], "default": None}
    return {"anyOf": [bare, {"type": "null"}], **description, "default": None}


def _type(documents: Documents, home: Document, node: dict[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in node.items() if key in KEPT}
    if "$ref" in node:
        found = _referred(documents, home, resolve(node["$ref"], home.name)) | found
    if "type" in found:
        found["type"] = _with_integers(found["type"])
    if isinstance(node.get("items"), dict):
        found["items"] = _type(documents, home, node["items"])
    if (
        isinstance(node.get("additionalProperties"), dict)
        and node["additionalProperties"]
        and "properties" not in node
    ):
        found["additionalProperties"] = _type(documents, home, node["additionalProperties"])
    for key in ("anyOf", "oneOf"):
        # Branches that only say which members go together are for validators.
        branches = [branch for branch in node.get(key, ()) if set(branch) - {"required"}]
        if branches:
            found[key] = [_type(documents, home, branch) for branch in branches]
    return found


def _referred(documents: Documents, home: Document, reference: Reference) -> dict[str, Any]:
    definition = documents.definition(reference)
    if reference.protocol != home.name and set(definition) <= _PLAIN:
        # Or its name alone would have the other protocol's models loaded.
        return {"type": definition["type"]}
    return {"$ref": f"#/$defs/{_bundled_name(documents, reference)}"}


def _with_integers(kind: Any) -> Any:
    # A float cannot hold every integer: 2**53 + 1 must stay what it is.
    kinds = kind if isinstance(kind, list) else [kind]
    if "number" not in kinds:
        return kind
    return ["integer", *(one for one in kinds if one != "integer")]


def takes_null(documents: Documents, home: Document, node: dict[str, Any]) -> bool:
    if "$ref" in node:
        reference = resolve(node["$ref"], home.name)
        return takes_null(documents, documents[reference.protocol], documents.definition(reference))
    for key in ("anyOf", "oneOf"):
        if key in node:
            return any(takes_null(documents, home, branch) for branch in node[key])
    if node.keys() & {"const", "enum", "allOf", "properties"}:
        return False
    kind = node.get("type")
    return kind is None or kind == "null" or (isinstance(kind, list) and "null" in kind)
