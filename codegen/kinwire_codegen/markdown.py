"""What a reference page says of a type, in a few words of Markdown."""

from __future__ import annotations

__all__ = ("link", "members", "shape")

import json
from typing import Any

from kinwire_codegen.document import Document, Documents, Reference, members_of, resolve

BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "minLength": "length at least",
    "maxLength": "length at most",
    "pattern": "matching",
}


def members(
    documents: Documents, document: Document, name: str
) -> list[tuple[str, Any, bool, str]]:
    """Return name, type, whether required, and home of a type's members, what it extends first."""
    found, required = members_of(documents, Reference(document.name, name))
    return [
        (member, node, member in required, owner.protocol)
        for member, (owner, node) in found.items()
    ]


def link(text: str, home: str, page: str) -> str:
    """Return a link to the type that `text` names in `home`, for the page of `page`."""
    protocol, name = resolve(text, home)
    return f"[{name}]({'' if protocol == page else f'{protocol}.md'}#{name.lower()})"


def shape(node: dict[str, Any], home: str, page: str) -> str:
    """Return a type in a few words of Markdown."""
    if "$ref" in node:
        return link(node["$ref"], home, page)
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return " or ".join(f"`{json.dumps(value)}`" for value in node["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        branches = [branch for branch in node.get(key, ()) if set(branch) - {"required"}]
        if branches:
            word = " and " if key == "allOf" else " or "
            return word.join(shape(branch, home, page) for branch in branches)
    return _plain_shape(node, home, page)


def _plain_shape(node: dict[str, Any], home: str, page: str) -> str:
    kinds = node.get("type", "any JSON value")
    if kinds == "array":
        return f"array of {shape(node.get('items', {}), home, page)}"
    values = node.get("additionalProperties")
    if kinds == "object" and isinstance(values, dict) and values:
        return f"object of {shape(values, home, page)}"
    words = kinds if isinstance(kinds, str) else " or ".join(kinds)
    bounds = [f"{sign} {node[key]}" for key, sign in BOUNDS.items() if key in node]
    return words + (f" ({', '.join(bounds)})" if bounds else "")
