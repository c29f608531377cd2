"""A type in a few words of Markdown."""

from __future__ import annotations

__all__ = ("shape",)

import json
from typing import Any

from kinwire_codegen.reference.links import Links

BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "minLength": "length at least",
    "maxLength": "length at most",
    "minItems": "items at least",
    "maxItems": "items at most",
    "pattern": "matching",
    "format": "form",
    "default": "default",
}


def shape(links: Links, node: dict[str, Any], home: str) -> str:
    """Return a type of the document `home` in a few words, with links."""
    if "$ref" in node:
        return links.named(node["$ref"], home)
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return " or ".join(f"`{json.dumps(value)}`" for value in node["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        branches = [branch for branch in node.get(key, ()) if set(branch) - {"required"}]
        if branches:
            word = " and " if key == "allOf" else " or "
            return word.join(shape(links, branch, home) for branch in branches)
    return _plain_shape(links, node, home)


def _plain_shape(links: Links, node: dict[str, Any], home: str) -> str:
    kinds = node.get("type", "any JSON value")
    words = kinds if isinstance(kinds, str) else " or ".join(kinds)
    values = node.get("additionalProperties")
    if kinds == "array":
        words = f"array of {shape(links, node.get('items', {}), home)}"
    elif kinds == "object" and isinstance(values, dict) and values:
        words = f"object of {shape(links, values, home)}"
    bounds = [f"{sign} `{json.dumps(node[key])}`" for key, sign in BOUNDS.items() if key in node]
    return words + (f" ({', '.join(bounds)})" if bounds else "")
