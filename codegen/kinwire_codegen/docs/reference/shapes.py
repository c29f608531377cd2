"""A type and its limits in a few words of Markdown."""

from __future__ import annotations

__all__ = ("json_code", "kind_of", "limits_of", "shape")

import json
import re
from typing import Any

from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.load.object_parts import is_group

LIMITS = (
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
)
"""The keywords that `kinwire describe` shows next to a type, in its order."""

Node = dict[str, Any]


def shape(links: Links, node: Node, home: str) -> str:
    """Return a type of the document `home` in a few words, with links and limits."""
    limits = limits_of(node)
    return kind_of(links, node, home) + (f" ({', '.join(limits)})" if limits else "")


def limits_of(node: Node) -> list[str]:
    """Return each limit of a type in the words of `kinwire describe`: `minimum 0`."""
    return [f"{word} {json_code(node[word])}" for word in LIMITS if word in node]


def kind_of(links: Links, node: Node, home: str) -> str:
    """Return a type of the document `home` in a few words, without its own limits."""
    if "$ref" in node:
        return links.named(node["$ref"], home)
    if "const" in node:
        return json_code(node["const"])
    if "enum" in node:
        return " or ".join(map(json_code, node["enum"]))
    for key in ("anyOf", "oneOf", "allOf"):
        branches = [branch for branch in node.get(key, ()) if not is_group(branch)]
        if branches:
            word = " and " if key == "allOf" else " or "
            return word.join(shape(links, branch, home) for branch in branches)
    return _plain_kind(links, node, home)


def _plain_kind(links: Links, node: Node, home: str) -> str:
    kinds = node.get("type", "any JSON value")
    values = node.get("additionalProperties")
    if kinds == "array":
        items = f"array of {shape(links, node.get('items', {}), home)}"
        return items + _short_form(links, node, home)
    if kinds == "object" and isinstance(values, dict) and values:
        return f"object of {shape(links, values, home)}"
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _short_form(links: Links, node: Node, home: str) -> str:
    if "shorthand" not in node:
        return ""
    kind, member = links.named(node["shorthand"]["$ref"], home), node["shorthand"]["member"]
    return f"; a string is read as one {kind} with this `{member}`"


def json_code(value: Any, most: int | None = None) -> str:
    """Return a value as JSON in marks of code; of more than `most` characters, the beginning."""
    text = json.dumps(value, ensure_ascii=False)
    if most is not None and len(text) > most:
        text = f"{text[:most]} …"
    if "`" not in text:
        return f"`{text}`"
    marks = "`" * (1 + max(map(len, re.findall("`+", text))))
    return f"{marks} {text} {marks}"
