"""The TypeScript interfaces of a specification, as far as they say which members a type has."""

from __future__ import annotations

__all__ = ("Interface", "Member", "differences", "interface_in")

import re
from dataclasses import dataclass, field
from typing import Any

from kinwire_codegen.load.document import Documents, Reference, members_of, resolve

OPENING = re.compile(r"(?:interface )?(\w+)(\??):? ?\{")
MEMBER = re.compile(r"(\w+)(\??): ([^;]+);(?:.*Default: (\w+))?")


@dataclass(frozen=True)
class Member:
    """What an interface says about one member."""

    optional: bool
    kind: str
    """Its type: the name of one, or string, number, boolean, array, object."""
    default: str | None = None


@dataclass
class Interface:
    """An interface, or an object inside one; it has its own members and those of its parts."""

    name: str
    optional: bool = False
    members: dict[str, Member] = field(default_factory=dict)
    parts: dict[str, Interface] = field(default_factory=dict)


def interface_in(text: str) -> Interface:
    """Return the one interface that `text` declares.

    Raises:
        ValueError: a line is not a line of an interface.
    """
    around: list[Interface] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        opened, member = OPENING.fullmatch(line), MEMBER.match(line)
        if opened:
            found = Interface(opened[1], bool(opened[2]))
            if around:
                around[-1].parts[found.name] = found
            around.append(found)
        elif member:
            around[-1].members[member[1]] = Member(bool(member[2]), kind_of(member[3]), member[4])
        elif line.startswith("}"):
            found = around.pop()
        else:
            raise ValueError(f"no line of an interface: {line}")
    return found


def kind_of(text: str) -> str:
    if text.endswith("[]"):
        return "array"
    if text.startswith("Record<"):
        return "object"
    return "string" if text.startswith("'") else text


def differences(documents: Documents, reference: Reference, said: dict[str, Member]) -> list[str]:
    """Return the members that a definition lacks, or has otherwise than an interface says."""
    members, required = members_of(documents, reference)
    return [
        name
        for name, member in said.items()
        if name not in members
        or member.kind not in _kinds(documents, members[name][0].protocol, members[name][1])
        # What has a default is there always: a sender that leaves it out has said it.
        or member.optional != (name not in required and "default" not in members[name][1])
        or member.default != _default(members[name][1])
    ]


def _default(node: dict[str, Any]) -> str | None:
    return str(node["default"]).lower() if "default" in node else None


def _kinds(documents: Documents, home: str, node: dict[str, Any]) -> set[str]:
    """Return what a type may be called in TypeScript: by its name, and by what it is."""
    if "$ref" in node:
        reference = resolve(node["$ref"], home)
        named = _kinds(documents, reference.protocol, documents.definition(reference))
        return named | {reference.name}
    branches = [*node.get("anyOf", ()), *node.get("oneOf", ())]
    kinds = {kind for branch in branches for kind in _kinds(documents, home, branch)}
    return kinds | (
        {"number" if node["type"] == "integer" else node["type"]} if "type" in node else set()
    )
