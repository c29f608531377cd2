"""The fields of a type: its own, and those that other protocols add."""

from __future__ import annotations

__all__ = ("field_blocks", "own_fields")

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.docs.reference.blocks import Block, FieldRow, Fields, Folded
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.parts import meaning
from kinwire_codegen.docs.reference.shapes import kind_of, limits_of
from kinwire_codegen.load.document import Document, Documents, Reference, members_of, resolve

Node = dict[str, Any]

ALIASES = 3
"""Names of types without fields that are followed from a field to types that have some."""


def field_blocks(
    links: Links, home: Document, kind: Reference, part: str = "", method: str = ""
) -> Iterator[Block]:
    """Yield the fields of a type, and folded those that other protocols than `home` add.

    `part` (`params` or `result`) and `method` name the message, if the type is one of a method.
    """
    prefix = f"{part}." if part else ""
    added = [
        (document, _added(links, document, row, prefix))
        for document, row in links.augments(kind, part, method)
    ]
    own = [*own_fields(links, kind, prefix), *(row for by, row in added if by is home)]
    if own:
        yield Fields(tuple(own))
    others = [(document, row) for document, row in added if document is not home]
    if others:
        titles = dict.fromkeys(document.content["title"] for document, _ in others)
        count = f"{len(others)} field{'' if len(others) == 1 else 's'}"
        title = f"{count} added by other protocols: {', '.join(titles)}"
        yield Folded(title, (Fields(tuple(row for _, row in others)),))


def own_fields(links: Links, kind: Reference, prefix: str = "") -> Iterator[FieldRow]:
    """Yield the fields that a type has by itself; `prefix` begins the anchor of each."""
    members, required = members_of(links.documents, kind)
    for name, (owner, node) in members.items():
        yield FieldRow(
            name,
            kind_of(links, node, owner.protocol),
            name in required,
            tuple(limits_of(node)),
            meaning(node, "description"),
            prefix + name,
            kinds=_kinds(links.documents, node, owner.protocol, kind),
        )


def _added(links: Links, document: Document, row: Node, prefix: str) -> FieldRow:
    reference = row["schema"]["$ref"]
    return FieldRow(
        row["member"],
        links.named(reference, document.name),
        False,
        (),
        meaning(row, "summary"),
        prefix + row["member"],
        added_by=f"[{document.name}](../../{document.name}/README.md#augments)",
        kinds=_kinds(links.documents, row["schema"], document.name),
    )


def _kinds(
    documents: Documents, node: Node, home: str, around: Reference | None = None
) -> tuple[Reference, ...]:
    """Return the types with fields that a value may have, except the type `around` it."""
    found = dict.fromkeys(_objects(documents, node, home, ALIASES))
    return tuple(kind for kind in found if kind != around)


def _objects(documents: Documents, node: Node, home: str, aliases: int) -> Iterator[Reference]:
    """Yield the types with fields that a value may have, also inside arrays and maps."""
    if "$ref" in node:
        kind = resolve(node["$ref"], home)
        if members_of(documents, kind)[0]:
            yield kind
        elif aliases:
            there = documents.definition(kind)
            yield from _objects(documents, there, kind.protocol, aliases - 1)
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in node.get(key, ()):
            yield from _objects(documents, branch, home, aliases)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from _objects(documents, node[key], home, aliases)
