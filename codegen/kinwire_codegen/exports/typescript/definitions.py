"""`NAME.d.ts`: the types of a document, under the names that they have there."""

from __future__ import annotations

__all__ = ("definitions_file",)

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.exports.typescript.comments import comment, header
from kinwire_codegen.exports.typescript.expressions import (
    OPEN_OBJECT,
    TypeNames,
    expression,
    literal,
    property_key,
)
from kinwire_codegen.load.document import Document, Documents, Reference
from kinwire_codegen.load.notes import enum_values
from kinwire_codegen.load.shape_reading import ShapeReader
from kinwire_codegen.load.shapes import ObjectShape


def definitions_file(documents: Documents, document: Document, reader: ShapeReader) -> str:
    """Return the file with the types of a document."""
    writer = _DefinitionWriter(TypeNames(documents, document.name), reader)
    types = [
        writer.definition(Reference(document.name, name), node)
        for name, node in document.definitions.items()
    ]
    imports = writer.names.imports()
    parts = [header(document, "Types"), *(["\n".join(imports) + "\n"] if imports else []), *types]
    return "\n".join(parts if types else [*parts, "export {};\n"])


class _DefinitionWriter:
    def __init__(self, names: TypeNames, reader: ShapeReader) -> None:
        self.names = names
        self._reader = reader

    def definition(self, reference: Reference, node: dict[str, Any]) -> str:
        """Return the declaration of a type, with its comment."""
        shape = self._reader.shape(reference)
        head = f"{comment(node)}export type {reference.name} ="
        if isinstance(shape, ObjectShape):
            return f"{head} {self._object(shape)};\n"
        if "enumValues" in node:
            return f"{head}\n{''.join(_described(node))}".rstrip() + ";\n"
        return f"{head} {expression(shape, self.names, self._reader)};\n"

    def _object(self, shape: ObjectShape) -> str:
        if not shape.members:
            return OPEN_OBJECT
        fields = "".join(
            f"{comment(one.node, '  ')}  {property_key(one.wire)}{'' if one.required else '?'}: "
            f"{expression(one.shape, self.names, self._reader)};\n"
            for one in shape.members
        )
        groups = "".join(f" & ({self._alternatives(shape, one)})" for one in shape.alternatives)
        return f"{{\n{fields}}}{groups}"

    def _alternatives(self, shape: ObjectShape, groups: tuple[tuple[str, ...], ...]) -> str:
        """Return a union of objects: in each the fields of one group are required."""
        types = {one.wire: one.shape for one in shape.members}
        objects = []
        for group in groups:
            fields = (
                f"{property_key(wire)}: {expression(types[wire], self.names, self._reader)}"
                for wire in group
            )
            objects.append(f"{{ {'; '.join(fields)} }}")
        return " | ".join(objects)


def _described(node: dict[str, Any]) -> Iterator[str]:
    """Yield the values of an enum, each on a line of its own below its comment."""
    for one in enum_values(node):
        yield f"{comment(one.node, '  ')}  | {literal(one.value)}\n"
