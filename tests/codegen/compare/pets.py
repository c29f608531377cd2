"""Objects that the edits refer to, alone and in unions."""

from __future__ import annotations

__all__ = ("TAGGED", "WHOLE", "Node", "of", "shared_types", "union")

from typing import Any

Node = dict[str, Any]

WHOLE = {"type": "integer"}
TAGGED = {"discriminator": {"propertyName": "kind"}}


def of(members: Node, *required: str, **more: Any) -> Node:
    return {"type": "object", "properties": members, "required": list(required), **more}


def shared_types(side: str) -> Node:
    """Return what the cases refer to; some of it is not the same on both sides."""
    tag = {"old": "kind", "new": "sort"}[side]
    first, second = {"old": (["kind"], []), "new": ([], ["kind"])}[side]

    def tagged(name: str, *required: str) -> Node:
        return of({"kind": {"const": name.lower()}, "legs": WHOLE}, *required)

    return {
        "Apple": of({"kind": {"const": "apple"}}, "kind"),
        "Berry": of({"kind": {"const": "berry"}, "count": WHOLE}, "kind"),
        **{name: of({tag: {"const": name.lower()}}, tag) for name in ("Cat", "Dog")},
        **{name: tagged(name, *first) for name in ("Fox", "Owl")},
        "Hunter": union("Fox", "Owl", **(TAGGED if side == "old" else {})),
        **{name: tagged(name, *second) for name in ("Emu", "Gnu")},
        **{
            name: tagged(name, "kind") if side == "old" else of({"legs": WHOLE})
            for name in ("Ant", "Bee")
        },
    }


def union(*names: str, **more: Any) -> Node:
    return {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names], **more}
