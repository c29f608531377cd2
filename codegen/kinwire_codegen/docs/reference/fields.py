"""The fields of a type: its own, and those that other protocols add."""

from __future__ import annotations

__all__ = ("field_blocks", "own_fields")

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.docs.reference.blocks import Block, FieldRow, Fields, Folded
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.parts import meaning
from kinwire_codegen.docs.reference.shapes import kind_of, limits_of
from kinwire_codegen.load.document import Document, Reference, resolve
from kinwire_codegen.load.shape_reading import ShapeReader
from kinwire_codegen.load.shapes import (
    ListShape,
    MapShape,
    NamedShape,
    ObjectShape,
    Shape,
    UnionShape,
)

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
    shape = links.reader.shape(kind)
    for one in shape.members if isinstance(shape, ObjectShape) else ():
        yield FieldRow(
            one.wire,
            kind_of(links, one.node, one.home),
            one.required,
            tuple(limits_of(one.node)),
            meaning(one.node, "description"),
            prefix + one.wire,
            kinds=_kinds(links.reader, one.shape, kind),
        )


def _added(links: Links, document: Document, row: Node, prefix: str) -> FieldRow:
    kind = resolve(row["schema"]["$ref"], document.name)
    return FieldRow(
        row["member"],
        links.kind(kind),
        False,
        (),
        meaning(row, "summary"),
        prefix + row["member"],
        added_by=f"[{document.name}](../../{document.name}/README.md#augments)",
        kinds=_kinds(links.reader, NamedShape(kind)),
    )


def _kinds(
    reader: ShapeReader, shape: Shape, around: Reference | None = None
) -> tuple[Reference, ...]:
    """Return the types with fields that a value may have, except the type `around` it."""
    found = dict.fromkeys(_objects(reader, shape, ALIASES))
    return tuple(kind for kind in found if kind != around)


def _objects(reader: ShapeReader, shape: Shape, aliases: int) -> Iterator[Reference]:
    """Yield the types with fields that a value may have, also inside arrays and maps."""
    match shape:
        case NamedShape(reference):
            there = reader.shape(reference)
            if isinstance(there, ObjectShape):
                if there.members:
                    yield reference
            elif aliases:
                yield from _objects(reader, there, aliases - 1)
        case UnionShape(branches):
            for branch in branches:
                yield from _objects(reader, branch, aliases)
        case ListShape(inner) | MapShape(inner):
            yield from _objects(reader, inner, aliases)
