"""One side of a comparison: documents that may be at fault, looked up without a fall.

Only the meta-schema has been applied to them. What leads nowhere is any value, and circles end.
"""

from __future__ import annotations

__all__ = ("Member", "Side", "Typed")

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from kinwire_codegen.load.bounds import own_bounds
from kinwire_codegen.load.document import (
    Document,
    Documents,
    Reference,
    TypePart,
    named,
    parts,
    resolve,
)
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
    scope: str = ""
    """The protocol that its references begin from, if it is not `home`."""

    def written_out(self, definition: Typed) -> Typed:
        """Return the definition that this refers to, in this place and with the bounds here."""
        node = {**definition.node, **own_bounds(self.node)}
        return self._replace(node=node, scope=definition.home)


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
        node = self.documents.find(reference)
        if node is None:
            return None
        return Typed(node, reference.protocol, ("$defs", reference.name), reference.name)

    def named(self, typed: Typed) -> Reference | None:
        """Return the type that a type refers to, None if it says itself what it takes."""
        if "$ref" not in typed.node:
            return None
        return resolve(typed.node["$ref"], typed.scope or typed.home)

    def written_out(self, typed: Typed) -> Typed:
        """Return a type with the definition that it refers to, past other names, in its place."""
        seen: set[Reference] = set()
        while (reference := self.named(typed)) is not None and reference not in seen:
            seen.add(reference)
            definition = self.definition(reference)
            if definition is None:
                break
            typed = typed.written_out(definition)
        return typed

    def object_named(self, reference: Reference) -> Typed | None:
        """Return the definition if it is an object with members, through other names of it."""
        there = named(self.documents, reference)
        found = self.definition(there) if there is not None else None
        return found if found is not None and _is_object(found.node) else None

    def members(self, typed: Typed) -> dict[str, Member]:
        """Return the members of an object, those of the types that it extends included."""
        found: dict[str, Member] = {}
        required: set[str] = set()
        own, *others = self._parts(typed)
        for owner, part, place in (*others, own):
            required |= set(part.get("required", ()))
            for name, node in part.get("properties", {}).items():
                label = f"{owner.name}.{name}" if owner.name else name
                inner = Typed(node, owner.protocol, (*place, "properties", name), label)
                found[name] = Member(inner, False, owner != own.owner)
        return {name: one._replace(required=name in required) for name, one in found.items()}

    def required(self, typed: Typed) -> set[str]:
        """Return the names of all required fields of an object, described or not."""
        return {name for part in self._parts(typed) for name in part.node.get("required", ())}

    def _parts(self, typed: Typed) -> list[TypePart]:
        # An object without a name is called as people read it.
        start = TypePart(Reference(typed.home, typed.label), typed.node, typed.place)
        return list(parts(self.documents, start))

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
