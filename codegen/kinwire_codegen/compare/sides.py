"""One side of a comparison: documents that may be at fault, looked up without a fall.

Only the meta-schema has been applied to them. What leads nowhere is any value, and circles end.
"""

from __future__ import annotations

__all__ = ("Member", "Side", "Typed")

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kinwire_codegen.load.document import Document, Documents, Reference, resolve
from kinwire_codegen.load.findings import Place

Node = dict[str, Any]


class Typed(NamedTuple):
    """A type where it stands."""

    node: Node
    home: str
    """The protocol of the document."""
    place: Place
    label: str
    """`Tool.name`, for people."""


class Member(NamedTuple):
    """A member of an object."""

    typed: Typed
    required: bool
    kin: bool
    """Whether it comes from a type that the object extends."""


@dataclass(frozen=True)
class Side:
    """The documents of one side."""

    documents: Documents

    def document(self, name: str) -> Document | None:
        """Return the document of a protocol if there is one."""
        return self.documents.by_name.get(name)

    def definition(self, reference: Reference) -> Typed | None:
        """Return what `reference` names, None if it names nothing."""
        document = self.document(reference.protocol)
        node = document.definitions.get(reference.name) if document else None
        if node is None:
            return None
        return Typed(node, reference.protocol, ("$defs", reference.name), reference.name)

    def named(self, typed: Typed) -> Reference | None:
        """Return the type that a type is a mere reference to."""
        if "$ref" not in typed.node:
            return None
        return resolve(typed.node["$ref"], typed.home)

    def object_named(self, reference: Reference) -> Typed | None:
        """Return the definition if it is an object with members, through other names of it."""
        seen: set[Reference] = set()
        here: Reference | None = reference
        while here is not None and here not in seen:
            seen.add(here)
            found = self.definition(here)
            if found is None or _is_object(found.node):
                return found
            here = self.named(found)
        return None

    def members(self, typed: Typed) -> dict[str, Member]:
        """Return the members of an object, those of the types that it extends included."""
        found: dict[str, Member] = {}
        required: set[str] = set()
        own, *others = self._parts(typed)
        for part, kin in (*others, own):
            required |= set(part.node.get("required", ()))
            for name, node in part.node.get("properties", {}).items():
                place = (*part.place, "properties", name)
                label = f"{part.label}.{name}" if part.label else name
                found[name] = Member(Typed(node, part.home, place, label), False, kin)
        return {name: one._replace(required=name in required) for name, one in found.items()}

    def required(self, typed: Typed) -> set[str]:
        """Return the names of all required fields of an object, described or not."""
        parts = (part for part, _ in self._parts(typed))
        return {name for part in parts for name in part.node.get("required", ())}

    def _parts(self, typed: Typed) -> list[tuple[Typed, bool]]:
        found: list[tuple[Typed, bool]] = []
        seen: set[Reference] = set()
        waiting = [(typed, False)]
        while waiting:
            here, kin = waiting.pop(0)
            found.append((here, kin))
            for index, branch in enumerate(here.node.get("allOf", ())):
                inner = Typed(branch, here.home, (*here.place, "allOf", index), here.label)
                base = self.named(inner)
                if base is None:
                    waiting.append((inner, kin))
                elif base not in seen:
                    seen.add(base)
                    there = self.definition(base)
                    waiting += [(there, True)] if there else []
        return found

    @cached_property
    def names(self) -> frozenset[Reference]:
        """Every type that there is."""
        return frozenset(
            Reference(document.name, name)
            for document in self.documents
            for name in document.definitions
        )


def _is_object(node: Node) -> bool:
    return bool(node.keys() & {"properties", "allOf"})
