"""Forms of JSON Schema that other projects use, in the forms of documents.

- Constants in `oneOf` or `anyOf`, each with a description, are an enum; next to a plain type they
  are an open set. So is `_enum`, the known values of a text, with `enumDescriptions` (DAP).
- `allOf` of one reference, next to a description, is the reference (schemars).
- Fields next to `allOf` are one more part of it, and fields next to a union belong to each branch.
"""

from __future__ import annotations

__all__ = ("normalised",)

from typing import Any

Node = dict[str, Any]

_ENUM = {"const", "type", "format", "title", "description", "deprecated"}
_FIELDS = {"$ref", "properties", "allOf"}
_OBJECT = ("type", "properties", "required")


def normalised(node: Any) -> Any:
    """Return a JSON Schema in these forms, which takes the same values."""
    if isinstance(node, list):
        return [normalised(one) for one in node]
    if not isinstance(node, dict):
        return node
    found = {key: normalised(value) for key, value in node.items()}
    for key in ("oneOf", "anyOf"):
        if isinstance(found.get(key), list):
            found = _shared(_of_constants(found, key), key)
    return _inherited(_known_values(_described(found)))


def _of_constants(node: Node, key: str) -> Node:
    """Return `node` with the constants among its branches as one enum."""
    constants = [branch for branch in node[key] if _is_constant(branch)]
    others = [branch for branch in node[key] if not _is_constant(branch)]
    kinds = {type(branch["const"]) for branch in constants}
    if len(constants) == 1 or kinds not in ({str}, {int}):
        return node
    if any(isinstance(one, dict) and "properties" in one for one in others):
        return node
    values = {branch["const"]: branch for branch in constants}
    enum: Node = {"type": "string" if kinds == {str} else "integer", "enum": list(values)}
    meanings = {str(value): _meaning(branch) for value, branch in values.items()}
    meanings = {value: meaning for value, meaning in meanings.items() if meaning}
    enum |= {"enumValues": meanings} if meanings else {}
    rest = {name: value for name, value in node.items() if name not in (key, "type")}
    return {**rest, "anyOf": [enum, *others]} if others else {**rest, **enum}


def _is_constant(branch: Any) -> bool:
    return isinstance(branch, dict) and "const" in branch and not branch.keys() - _ENUM


def _meaning(branch: Node) -> Node:
    return {key: branch[key] for key in ("description", "deprecated") if branch.get(key)}


def _described(node: Node) -> Node:
    """Return `node` with the texts of `enumDescriptions` at its values."""
    texts, values = node.get("enumDescriptions"), node.get("enum") or node.get("_enum")
    if not isinstance(texts, list) or not isinstance(values, list):
        return node
    rest = {key: value for key, value in node.items() if key != "enumDescriptions"}
    said = {str(v): {"description": text} for v, text in zip(values, texts, strict=False) if text}
    return {**rest, "enumValues": said} if said else rest


def _known_values(node: Node) -> Node:
    """Return `node` as an open set if it lists known values."""
    if not isinstance(node.get("_enum"), list) or not node["_enum"]:
        return node
    rest = {key: value for key, value in node.items() if key not in ("_enum", "type", "enumValues")}
    enum = {key: node[key] for key in ("type", "enumValues") if key in node}
    return {**rest, "anyOf": [{**enum, "enum": node["_enum"]}, {"type": "string"}]}


def _inherited(node: Node) -> Node:
    parts = node.get("allOf")
    if not isinstance(parts, list) or not parts:
        return node
    own = {key: node[key] for key in _OBJECT if key in node}
    rest = {key: value for key, value in node.items() if key != "allOf"}
    if len(parts) == 1 and "properties" not in node and isinstance(parts[0], dict):
        kind = {"type"} if "$ref" in parts[0] else set[str]()
        return {**parts[0], **{key: value for key, value in rest.items() if key not in kind}}
    if "properties" not in node:
        return node
    rest = {key: value for key, value in rest.items() if key not in own}
    return {**rest, "allOf": [*parts, own]}


def _shared(node: Node, key: str) -> Node:
    """Return `node` with its own fields in each branch of its union."""
    branches = node.get(key)
    if not isinstance(branches, list) or not node.get("properties"):
        return node
    if not all(isinstance(one, dict) and one.keys() & _FIELDS for one in branches):
        return node  # groups of fields that go together, which documents have as well
    own = {name: node[name] for name in _OBJECT if name in node}
    rest = {name: value for name, value in node.items() if name not in own and name != key}
    return {**rest, key: [_with_fields(branch, own) for branch in branches]}


def _with_fields(branch: Node, own: Node) -> Node:
    if "properties" not in branch:
        rest = {key: value for key, value in branch.items() if key not in ("$ref", "allOf")}
        return {**rest, "allOf": [*_parts(branch), own]}
    fields = {**own["properties"], **branch["properties"]}
    required = [*own.get("required", ()), *branch.get("required", ())]
    found = {**branch, "type": "object", "properties": fields}
    return found | ({"required": list(dict.fromkeys(required))} if required else {})


def _parts(branch: Node) -> list[Node]:
    return [*([{"$ref": branch["$ref"]}] if "$ref" in branch else []), *branch.get("allOf", ())]
