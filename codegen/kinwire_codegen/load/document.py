"""Protocol documents: their types, and what refers to what. `loading.py` reads them."""

from __future__ import annotations

__all__ = (
    "CONSTANTS",
    "DATA",
    "TABLES",
    "TOOLS_CALL",
    "Document",
    "Documents",
    "Reference",
    "Rule",
    "TypePart",
    "all_types",
    "inner_types",
    "members_of",
    "named",
    "parts",
    "resolve",
)

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kinwire_codegen.load.findings import Fault, Finding, Place
from kinwire_codegen.load.including import Origins, origin
from kinwire_codegen.load.places import REFERENCES, at

if TYPE_CHECKING:
    from jsonschema_rs import Registry

    from kinwire_codegen.load.shape_reading import ShapeReader

TOOLS_CALL = "tools/call"
"""The method that tools are called through."""

CONSTANTS = ("tables", "machines", "limits")
"""The tables of a document whose entries are constants in Python."""
DATA = (*CONSTANTS, "sequences", "records")
"""The tables of data outside messages."""
TABLES = ("methods", "tools", "errors", *DATA, "$defs")
"""All tables of entries that have names."""


class Reference(NamedTuple):
    """A definition by protocol and name."""

    protocol: str
    name: str


class TypePart(NamedTuple):
    """A part of an object: itself, a branch of its `allOf`, or a type that it extends."""

    owner: Reference
    """The definition that says it."""
    node: dict[str, Any]
    place: Place
    """Where it is in the document of its owner."""


@dataclass(frozen=True)
class Document:
    """One protocol as its file gives it, with the entries of the files that it includes."""

    content: dict[str, Any]
    origins: Origins = field(default_factory=dict)
    """Where the entries of included files stand."""

    @cached_property
    def name(self) -> str:
        """The protocol's name."""
        return str(self.content["protocol"])

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.name}.json"

    @cached_property
    def module(self) -> str:
        """The name of the Python package: a protocol's name without dashes."""
        return self.name.replace("-", "")

    @property
    def definitions(self) -> dict[str, dict[str, Any]]:
        """The types by name."""
        found: dict[str, dict[str, Any]] = self.content["$defs"]
        return found

    def finding(self, fault: Fault) -> Finding:
        """Return a fault of the document with the file that has the place."""
        at, what, hint = fault
        return Finding(*origin(self.origins, self.file, at), what, hint)

    def table(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the entries under `name`; a document may leave most of them out."""
        found: dict[str, dict[str, Any]] = self.content.get(name, {})
        return found

    @property
    def augments(self) -> list[dict[str, Any]]:
        """The members that it adds to messages of others."""
        return list(self.content.get("augments", ()))

    @property
    def extends(self) -> list[str]:
        """The protocols that this one builds on."""
        return list(self.content.get("extends", ()))

    @cached_property
    def types(self) -> tuple[tuple[dict[str, Any], Place], ...]:
        """Every type of the document, at any depth, with its place."""
        named = ((("$defs", name), node) for name, node in self.definitions.items())
        return tuple(found for place, node in named for found in all_types(node, place))

    @cached_property
    def users(self) -> dict[str, list[tuple[str, str, str]]]:
        """The rows whose params or result are a type: table, wire name and part by its name."""
        found: dict[str, list[tuple[str, str, str]]] = {}
        for table in ("methods", "tools"):
            for wire, row in self.table(table).items():
                for part in ("params", "result"):
                    there = resolve(row[part], self.name) if part in row else None
                    if there is not None and there.protocol == self.name:
                        found.setdefault(there.name, []).append((table, wire, part))
        return found

    @cached_property
    def references(self) -> tuple[tuple[Place, Reference], ...]:
        """Every definition that the document refers to with the place where it does."""
        found = [((*place, "$ref"), node["$ref"]) for node, place in self.types if "$ref" in node]
        found += (one for pattern in REFERENCES for one in at(self.content, pattern))
        return tuple((place, resolve(text, self.name)) for place, text in found)

    @cached_property
    def referred(self) -> dict[str, list[Reference]]:
        """The definitions that each type refers to, by the type's name."""
        found: dict[str, list[Reference]] = {name: [] for name in self.definitions}
        for place, reference in self.references:
            if place[0] == "$defs":
                found[str(place[1])].append(reference)
        return found


@dataclass(frozen=True)
class Documents:
    """The documents of one package, by protocol, sorted by name."""

    by_name: dict[str, Document]
    meta: dict[str, Any]
    chosen: tuple[str, ...] = field(default=())
    """The protocols that were asked for; the others came along because these extend them."""
    folder: Path | None = None
    """Where the chosen documents are; None if the installed package includes them."""

    def __iter__(self) -> Iterator[Document]:
        return iter(self.by_name.values())

    def __getitem__(self, name: str) -> Document:
        return self.by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def definition(self, reference: Reference) -> dict[str, Any]:
        """Return the type that `reference` names."""
        return self.by_name[reference.protocol].definitions[reference.name]

    def find(self, reference: Reference) -> dict[str, Any] | None:
        """Return the type that `reference` names, None if there is no such type."""
        document = self.by_name.get(reference.protocol)
        return None if document is None else document.definitions.get(reference.name)

    @cached_property
    def shapes(self) -> ShapeReader:
        """The shapes of the types; their references must resolve and end."""
        from kinwire_codegen.load.shape_reading import ShapeReader  # which builds on this module

        return ShapeReader(self)

    @cached_property
    def registry(self) -> Registry | None:
        """The types as JSON Schemas, for references from one document to another."""
        from kinwire_codegen.load.compiled import registry_of

        return registry_of({one.file: {"$defs": one.definitions} for one in self})

    def part(self, reference: Reference) -> TypePart:
        """Return the type that `reference` names as the part of objects that extend it."""
        return TypePart(reference, self.definition(reference), ("$defs", reference.name))

    def extended(self, document: Document) -> list[Document]:
        """Return what `document` builds on, directly or not; safe on circles."""
        found: dict[str, Document] = {}
        waiting = [*document.extends]
        while waiting:
            name = waiting.pop(0)
            if name in self.by_name and name not in found:
                found[name] = self.by_name[name]
                waiting += found[name].extends
        return list(found.values())

    def caller(self, document: Document) -> tuple[Document, dict[str, Any]] | None:
        """Return the `tools/call` that the tools of `document` go through, and whose it is."""
        for home in (document, *self.extended(document)):
            row = home.content["methods"].get(TOOLS_CALL)
            if row is not None:
                return home, row
        return None


Rule = Callable[[Document, Documents], Iterator[Fault]]
"""Yields what is wrong with a document among documents."""


@lru_cache(maxsize=4096)
def resolve(text: str, here: str) -> Reference:
    """Return what `#/$defs/Name`, `other.json#/$defs/Name` or `other#Name` names in `here`."""
    file, _, path = text.partition("#")
    return Reference(file.removesuffix(".json") or here, path.rpartition("/")[2])


def inner_types(node: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield the types inside a type, each with the steps that lead to it."""
    for name, member in node.get("properties", {}).items():
        yield member, ("properties", name)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield node[key], (key,)
    for key in ("anyOf", "oneOf", "allOf"):
        for index, branch in enumerate(node.get(key, ())):
            yield branch, (key, index)


def all_types(node: dict[str, Any], place: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield a type at `place` and every type inside it, at any depth, with its place."""
    yield node, place
    for inner, step in inner_types(node):
        yield from all_types(inner, (*place, *step))


def named(documents: Documents, reference: Reference) -> Reference | None:
    """Return the definition that `reference` leads to, past names of names.

    It is None if that leads nowhere, or in a circle.
    """
    seen: set[Reference] = set()
    while reference not in seen:
        seen.add(reference)
        node = documents.find(reference)
        if node is None or "$ref" not in node:
            return None if node is None else reference
        reference = resolve(node["$ref"], reference.protocol)
    return None


def parts(documents: Documents, start: TypePart) -> Iterator[TypePart]:
    """Yield an object and, through allOf, everything it is made of.

    What leads nowhere is left out, and circles end.
    """
    seen = {start.owner}
    waiting = [start]
    while waiting:
        here = waiting.pop(0)
        yield here
        for index, branch in enumerate(here.node.get("allOf", ())):
            if "$ref" not in branch:
                waiting.append(TypePart(here.owner, branch, (*here.place, "allOf", index)))
                continue
            base = named(documents, resolve(branch["$ref"], here.owner.protocol))
            if base is not None and base not in seen:
                seen.add(base)
                waiting.append(documents.part(base))


def members_of(
    documents: Documents, reference: Reference
) -> tuple[dict[str, tuple[Reference, dict[str, Any]]], set[str]]:
    """Return a type's members, each with the type that adds it, and which of them are required.

    Those of the types that it extends come first.
    """
    own, *others = parts(documents, documents.part(reference))
    members: dict[str, tuple[Reference, dict[str, Any]]] = {}
    required: set[str] = set()
    for owner, part, _ in [*others, own]:
        members |= {name: (owner, node) for name, node in part.get("properties", {}).items()}
        required |= set(part.get("required", ()))
    return members, required
