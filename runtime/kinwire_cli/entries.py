"""What the documents say of a type: its members, those of what it builds on, and those added to it.

Pure; the documents are valid, as the generated package holds none that lint refused.
"""

from __future__ import annotations

__all__ = ("Documents", "Member", "Reference", "members_of", "reference_from")

from collections.abc import Iterator
from typing import Any, NamedTuple

Documents = dict[str, dict[str, Any]]


class Reference(NamedTuple):
    """A type, by the protocol whose document has it."""

    protocol: str
    name: str


class Member(NamedTuple):
    """A member of an object."""

    name: str
    schema: dict[str, Any]
    description: str
    need: str
    """`required`, `optional`, or `by mgp` if that protocol adds it."""


def reference_from(text: str, protocol: str) -> Reference:
    """Return what `#/$defs/Tool`, `mcp.json#/$defs/Tool` or `mcp#Tool` names in a document."""
    file, _, path = text.partition("#")
    return Reference(file.removesuffix(".json") or protocol, path.rpartition("/")[2])


def members_of(
    documents: Documents, kind: Reference, method: str = "", part: str = ""
) -> Iterator[Member]:
    """Yield the members of a type, or of that part of a method if it is one."""
    yield from _own(documents, kind)
    for name, document in documents.items():
        for row in document.get("augments", ()):
            if _meets(documents, name, row["to"], kind, method, part):
                yield Member(row["member"], row["schema"], row["summary"], f"by {name}")


def _own(documents: Documents, kind: Reference) -> Iterator[Member]:
    node = documents[kind.protocol]["$defs"][kind.name]
    for branch in (*node.get("allOf", ()), node):
        if "$ref" in branch:
            yield from _own(documents, reference_from(branch["$ref"], kind.protocol))
        for name, schema in branch.get("properties", {}).items():
            need = "required" if name in branch.get("required", ()) else "optional"
            yield Member(name, schema, schema.get("description", ""), need)


def _meets(
    documents: Documents, adding: str, to: dict[str, str], kind: Reference, method: str, part: str
) -> bool:
    """Whether what `adding` adds to `to` stands in that type, or in that part of a method."""
    if "every" in to:
        return to["every"] == part and kind.protocol in _below(documents, adding)
    if "def" in to:
        return reference_from(to["def"], adding) == kind
    protocol, _, wire = to["method"].rpartition("#")
    homes = [protocol] if protocol else _below(documents, adding)
    return (wire, to["part"]) == (method or wire, part or to["part"]) and kind in _messages(
        documents, homes, wire, to["part"]
    )


def _messages(documents: Documents, homes: list[str], wire: str, part: str) -> Iterator[Reference]:
    for home in homes:
        row = documents[home]["methods"].get(wire, {})
        if part in row:
            yield reference_from(row[part], home)


def _below(documents: Documents, protocol: str) -> list[str]:
    """Return the protocols that this one extends, and that those do."""
    found = list[str](documents[protocol].get("extends", ()))
    for name in found:  # grows meanwhile
        found += [one for one in documents[name].get("extends", ()) if one not in found]
    return found
