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
_UNIONS = ("anyOf", "oneOf", "allOf")
_RELATED = {"additionalProperties", "items", "if", "unevaluatedProperties", "unevaluatedItems"}
"""Keywords whose meaning depends on those next to them."""


def modern(node: Node) -> Node:
    """Return a schema that takes the same values; inner schemas stay as they are.

    Of a tuple `prefixItems` stays if it says more than `items`, which has all types of its items.
    """
    found = _with_all_items(_of_2020(node))
    for key in _UNIONS:
        if key in found and "$ref" not in found:
            found = _without_idle_branches(found, key)
    alone = next((key for key in _UNIONS if len(found.get(key, ())) == 1), None)
    if alone and (joined := _joined(found, alone)) is not None:
        return modern(joined)
    return _with_separate_objects(_with_separate_constants(_with_description(found)))


def _of_2020(node: Node) -> Node:
    """Return a schema without the keywords of older versions, and without `const: null`."""
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
    if isinstance(found.get("deprecated"), str) and found["deprecated"]:
        found["deprecated"] = {"reason": found["deprecated"]}
    return found


def _with_all_items(node: Node) -> Node:
    """Return a tuple whose `items` has the types of all its items."""
    prefix = node.get("prefixItems")
    if not prefix:
        return node
    others = node.get("items", True)
    is_closed = others is False or node.get("maxItems", len(prefix) + 1) <= len(prefix)
    rest = {key: value for key, value in node.items() if key != "items"}
    if others is False:
        rest["maxItems"] = min(len(prefix), node.get("maxItems", len(prefix)))
    kinds: list[Any] = []
    for one in [*prefix, *([] if is_closed else [others])]:
        kinds += [one] if one not in kinds else []
    if len(kinds) == 1:
        del rest["prefixItems"]
    if any(one is True or one == {} for one in kinds):
        return rest
    return {**rest, "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}


def _without_idle_branches(node: Node, key: str) -> Node:
    """Return a schema without the branches that take everything or nothing, where that is equal."""
    rest = {name: value for name, value in node.items() if name != key}
    branches = [{} if one is True else one for one in node[key]]
    if key == "allOf":
        is_never = False in branches
        branches = [one for one in branches if one not in ({}, False)]
    else:
        branches = [one for one in branches if one is not False]
        is_never = not branches
        if key == "anyOf" and {} in branches:
            return rest
    return rest | ({key: branches} if branches else {}) | ({"not": {}} if is_never else {})


def _joined(node: Node, key: str) -> Node | None:
    """Return a union of one branch as this branch; None if both have to hold."""
    rest = {name: value for name, value in node.items() if name != key}
    branch: Node = node[key][0]
    says = {name for name in rest if name not in _OF_BOTH | {"title"} and name[:2] != "x-"}
    if says and ("$ref" in branch or says & branch.keys() or _RELATED & (says | branch.keys())):
        return None
    return {**branch, **rest}


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
    if not isinstance(kinds, list) or "object" not in kinds:
        return node
    if not node.keys() & {"properties", "required"}:
        return node
    if len(kinds) == 1 or node.keys() & {"anyOf", "oneOf", "allOf", "enum", "const"}:
        return node
    others = [kind for kind in kinds if kind != "object"]
    both = {key: one for key, one in node.items() if key in _OF_BOTH or key.startswith("x-")}
    whole = {"type": "object"} | {key: one for key, one in node.items() if key in _OF_OBJECTS}
    rest = {key: one for key, one in node.items() if key not in {*both, *whole}}
    return {**both, "anyOf": [whole, {**rest, "type": others if len(others) > 1 else others[0]}]}
