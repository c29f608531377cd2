"""Older and looser forms of JSON Schema as version 2020-12 writes them."""

from __future__ import annotations

__all__ = ("modern",)

from typing import Any

Node = dict[str, Any]

_OF_OBJECTS = {
    *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
    *("minProperties", "maxProperties", "unevaluatedProperties"),
}
_OF_BOTH = {"description", "default", "deprecated", "examples"}


def modern(node: Node) -> Node:
    """Return a schema that takes the same values; inner schemas stay as they are."""
    found = dict(node)
    for bound in ("minimum", "maximum"):
        key = f"exclusive{bound.title()}"
        # In draft 4 it is a flag next to the bound.
        if isinstance(found.get(key), bool) and found.pop(key) and bound in found:
            found[key] = found.pop(bound)
    if isinstance(found.get("items"), list):  # until 2019-09
        found["prefixItems"] = found.pop("items")
        others = found.pop("additionalItems", True)
        found |= {"items": others} if others is not True else {}
    if "const" in found and found["const"] is None:
        del found["const"]
        found["type"] = "null"
    return _with_separate_objects(_with_separate_constants(_with_description(found)))


def _with_description(node: Node) -> Node:
    """Return a schema whose title is its description if it has no other."""
    title = node.pop("title", None)
    if not isinstance(title, str) or not title:
        return node
    if not node.get("description"):
        return {"description": title, **node}
    return node if title == node["description"] else {**node, "x-title": title}


def _with_separate_constants(node: Node) -> Node:
    """Return an enum with null or booleans as a union of constants and these types."""
    values = node.get("enum")
    if not isinstance(values, list) or node.keys() & {"anyOf", "oneOf", "allOf", "$ref"}:
        return node
    texts = [one for one in values if type(one) in (str, int)]
    special = [one for one in values if one is None or isinstance(one, bool)]
    if not special or len(texts) + len(special) < len(values):
        return node
    branches: list[Node] = [{"enum": texts}] if texts else []
    if len({*map(str, special)} & {"True", "False"}) == 2:
        branches.append({"type": "boolean"})
    else:
        branches += [{"const": one} for one in special if isinstance(one, bool)]
    branches += [{"type": "null"}] if None in special else []
    rest = {key: one for key, one in node.items() if key not in ("enum", "type")}
    return {**rest, **branches[0]} if len(branches) == 1 else {**rest, "anyOf": branches}


def _with_separate_objects(node: Node) -> Node:
    """Return an object with fields that may be something else as a union of both."""
    kinds = node.get("type")
    if not isinstance(kinds, list) or "object" not in kinds or "properties" not in node:
        return node
    if len(kinds) == 1 or node.keys() & {"anyOf", "oneOf", "allOf", "enum", "const"}:
        return node
    others = [kind for kind in kinds if kind != "object"]
    both = {key: one for key, one in node.items() if key in _OF_BOTH or key.startswith("x-")}
    whole = {"type": "object"} | {key: one for key, one in node.items() if key in _OF_OBJECTS}
    rest = {key: one for key, one in node.items() if key not in {*both, *whole}}
    return {**both, "anyOf": [whole, {**rest, "type": others if len(others) > 1 else others[0]}]}
