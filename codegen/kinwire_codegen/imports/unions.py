"""Unions of imported types: named if they have a name, tagged if they have constants.

Where only an object may stand, as the params or the result of a row, they become one object.
"""

from __future__ import annotations

__all__ = ("merged_object", "name_unions", "tell_apart")

from typing import Any

from kinwire_codegen.load.document import all_types

Node = dict[str, Any]


def name_unions(made: dict[str, Node]) -> None:
    """Write objects next to other kinds as the named union, which can distinguish them.

    `anyOf: [A, B, {array}]` is `anyOf: [AOrB, {array}]` where there is such an `AOrB`.
    """
    for node in made.values():
        for inner, _ in all_types(node, ()):
            objects = [branch for branch in inner.get("anyOf", ()) if set(branch) == {"$ref"}]
            if 1 < len(objects) < len(inner.get("anyOf", ())):
                name = next((n for n, one in made.items() if one.get("anyOf") == objects), "")
                others = [branch for branch in inner["anyOf"] if branch not in objects]
                if name:
                    inner["anyOf"] = [{"$ref": f"#/$defs/{name}"}, *others]


def tell_apart(made: dict[str, Node]) -> None:
    """Give unions of objects with another constant each their discriminator."""
    for node in made.values():
        for inner, _ in all_types(node, ()):
            for key in ("anyOf", "oneOf"):
                tags = [_tags(made, branch) for branch in inner.get(key, ())]
                common = set.intersection(*map(set, tags)) if len(tags) > 1 else set[str]()
                telling = sorted(n for n in common if len({tag[n] for tag in tags}) == len(tags))
                if telling:
                    inner["discriminator"] = {"propertyName": telling[0]}


def _tags(made: dict[str, Node], branch: Node) -> Node:
    found: Node = {}
    waiting, followed = [branch], set[str]()
    while waiting:
        here = waiting.pop()
        name = here.get("$ref", "").rpartition("/")[2]
        if name not in followed:
            followed.add(name)
            waiting.append(made.get(name, {}))
        waiting += here.get("allOf", ())
        members = here.get("properties", {})
        required = here.get("required", ())
        found |= {n: m["const"] for n, m in members.items() if "const" in m and n in required}
    return found


def merged_object(branches: list[Node]) -> Node:
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
