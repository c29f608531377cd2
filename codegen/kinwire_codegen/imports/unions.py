"""Unions of imported types: named if they have a name, tagged if they have constants."""

from __future__ import annotations

__all__ = ("name_unions", "tell_apart")

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
