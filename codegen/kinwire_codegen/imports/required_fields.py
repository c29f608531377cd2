"""Fields that an object requires without declaring them, which documents do not allow."""

from __future__ import annotations

__all__ = ("with_declared_fields",)

from typing import Any

from kinwire_codegen.imports.names import defined_name

Node = dict[str, Any]


def with_declared_fields(node: Node, source: Node) -> Node:
    """Return an object that declares each field which it requires, if need be as any value.

    What a part of `allOf` requires of another part, the whole requires. `source` has the
    definitions that references lead to. Other types are returned as they are.
    """
    if "allOf" not in node and node.get("type") != "object" and "properties" not in node:
        return node
    required = dict.fromkeys(node.get("required", ()))
    if "allOf" in node:
        parts = []
        for part in node["allOf"]:
            needs = () if "$ref" in part else part.get("required", ())
            own = [name for name in needs if name in part.get("properties", ())]
            required |= dict.fromkeys(name for name in needs if name not in own)
            rest = {key: value for key, value in part.items() if key != "required"}
            parts += [rest | ({"required": own} if own else {})] if rest else []
        node = {**node, "allOf": parts}
    if not required:
        return node
    known = _fields(node, source, set())
    fields = node.get("properties", {}) | {name: {} for name in required if name not in known}
    return node | {"required": list(required)} | ({"properties": fields} if fields else {})


def _fields(node: Any, source: Node, seen: set[str]) -> set[str]:
    """Return the fields that an object and what it extends declare."""
    if not isinstance(node, dict):
        return set()
    found = set(node.get("properties", ()))
    parts = list(node.get("allOf", ()))
    name = defined_name(node.get("$ref", ""))
    if name in source and name not in seen:
        seen.add(name)
        parts.append(source[name])
    return found.union(*(_fields(part, source, seen) for part in parts))
