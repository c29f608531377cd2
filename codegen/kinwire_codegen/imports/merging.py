"""Several objects as one, where only an object may stand: as the params or the result of a row."""

from __future__ import annotations

__all__ = ("merged",)

from typing import Any

Node = dict[str, Any]


def merged(branches: list[Node]) -> Node:
    """Return an object that takes what any of the objects takes.

    Required is what all of them require; which members go together stands in an `anyOf`, which
    validators look at and the bindings do not.
    """
    if len(branches) == 1:
        return branches[0]
    members: Node = {}
    for branch in branches:
        for name, node in branch.get("properties", {}).items():
            members[name] = _either(members[name], node) if name in members else node
    needed = [set(branch.get("required", ())) for branch in branches]
    common = set.intersection(*needed)
    words = [str(branch.get("description", "")).split(". ")[0] for branch in branches]
    found: Node = {
        "description": " Or: ".join(filter(None, (" ".join(text.split()) for text in words))),
        "type": "object",
        "properties": members,
        "required": [name for name in members if name in common],
    }
    if all(needs - common for needs in needed):
        found["anyOf"] = [{"required": sorted(needs)} for needs in needed]
    return found


def _either(one: Node, other: Node) -> Node:
    if one == other:
        return one
    constants = [*_constants(one), *_constants(other)]
    if constants and "const" in other:
        kept = {key: value for key, value in one.items() if key not in ("const", "enum")}
        return {**kept, "enum": list(dict.fromkeys(constants))}
    bare = [{k: v for k, v in node.items() if k != "description"} for node in (one, other)]
    if bare[0] == bare[1]:
        return one
    return {"anyOf": [*one.get("anyOf", [one]), other]}


def _constants(node: Node) -> list[Any]:
    return [node["const"]] if "const" in node else list(node.get("enum", ()))
