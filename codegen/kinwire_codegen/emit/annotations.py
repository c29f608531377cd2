"""Shapes as types of the model generator, which writes them and knows what they import."""

from __future__ import annotations

__all__ = ("Annotations", "joined", "marked", "typed")

from typing import Any

from datamodel_code_generator.imports import IMPORT_ANNOTATED, IMPORT_ANY, Import
from datamodel_code_generator.model.pydantic_v2.imports import IMPORT_FIELD
from datamodel_code_generator.reference import Reference as Name
from datamodel_code_generator.types import DataType

from kinwire_codegen.load.document import Document, Documents, Reference
from kinwire_codegen.load.notes import is_note
from kinwire_codegen.load.shapes import (
    Bound,
    ConstantShape,
    ListShape,
    MapShape,
    NamedShape,
    ScalarShape,
    Shape,
    UnionShape,
)

_SCALARS = {"null": "None", "boolean": "bool", "integer": "int", "string": "str"}
_NONE = ScalarShape("null")


class Annotations:
    """Makes the types of the fields and names of one document."""

    def __init__(self, documents: Documents, home: Document, shared: str) -> None:
        self._documents = documents
        self._reader = documents.shapes
        self._home = home.name
        self.package = shared
        self.names = {name: Name(path=name, name=name) for name in sorted(home.definitions)}
        """What the types of the document refer to, by its name."""

    def outer(self, shape: Shape) -> tuple[DataType, tuple[Bound, ...]]:
        """Return a type, and the bounds that stand with it instead of inside it."""
        shape = self._own(shape)
        if isinstance(shape, UnionShape) and len(shape.branches) == 2:
            one, other = shape.branches
            if one == _NONE:
                one, other = other, one
            if other == _NONE and isinstance(one, ScalarShape | ListShape):
                kind, bounds = self.outer(one)
                return joined(kind, typed("None")), bounds
        if isinstance(shape, ScalarShape):
            return self.type(ScalarShape(shape.kind)), shape.bounds
        if isinstance(shape, ListShape):
            return self.type(ListShape(shape.items, (), shape.unique)), shape.bounds
        return self.type(shape), ()

    def type(self, shape: Shape) -> DataType:
        """Return a whole type."""
        match shape:
            case NamedShape(reference=reference):
                return self._named(reference)
            case ScalarShape(kind=kind, bounds=bounds):
                return _bounded(_scalar(kind), bounds)
            case ConstantShape():
                return self._constants(shape)
            case ListShape():
                return self._list(shape)
            case MapShape(values=values):
                inner = [self.type(values)]
                return DataType(data_types=inner, is_dict=True, use_standard_collections=True)
            case UnionShape():
                return self._union(shape)
            case _:
                return DataType.from_import(IMPORT_ANY)

    def shared(self, module: str, name: str) -> Import:
        """Return a name of a module that all bindings share."""
        return Import.from_full_path(f"{self.package}.{module}.{name}")

    def _own(self, shape: Shape) -> Shape:
        """Return what a plain definition of others says: their models are not loaded for it."""
        if isinstance(shape, NamedShape) and self._is_plain_elsewhere(shape.reference):
            return self._reader.follow(shape)
        return shape

    def _is_plain_elsewhere(self, reference: Reference) -> bool:
        return reference.protocol != self._home and _is_plain(self._documents.definition(reference))

    def _named(self, reference: Reference) -> DataType:
        if self._is_plain_elsewhere(reference):
            return self.type(self._reader.shape(reference))
        if reference.protocol == self._home:
            return DataType(reference=self.names[reference.name])
        module = self._documents[reference.protocol].module
        return DataType.from_import(Import(from_=f"..{module}.models", import_=reference.name))

    def _constants(self, shape: ConstantShape) -> DataType:
        kind = DataType(literals=[*shape.values])
        if all(isinstance(value, str) for value in shape.values):
            return kind
        return marked(kind, self.shared("constraints", "Exactly"))

    def _list(self, shape: ListShape) -> DataType:
        inner = [self.type(shape.items)]
        kind = DataType(data_types=inner, is_list=True, use_standard_collections=True)
        if shape.unique:
            kind = marked(kind, self.shared("constraints", "Unique"))
        return _bounded(kind, shape.bounds)

    def _union(self, shape: UnionShape) -> DataType:
        branches = [self.type(one) for one in sorted(shape.branches, key=lambda one: one == _NONE)]
        anything = [one for one in branches if one.type_hint == "Any"]
        if anything:
            return anything[0]
        if shape.tag is None:
            return joined(*branches)
        unknown = DataType.from_import(self.shared("base", "UnknownVariant"))
        return marked(joined(*branches, unknown), self.shared("base", "OpenUnion"), shape.tag)


def _is_plain(definition: dict[str, Any]) -> bool:
    """Return whether a definition says no more than a type of JSON other than `object`."""
    kept = {key for key in definition if not is_note(key) or key in ("default", "format")}
    return kept <= {"type"} and definition.get("type") != "object"


def typed(text: str, *parts: DataType) -> DataType:
    """Return a type written as `text`, which names the `parts`.

    Text has no `type` of the generator's own, so that the generator rounds no bound to fit it.
    """
    return DataType(alias=text, data_types=[*parts], use_union_operator=True)


def joined(*kinds: DataType) -> DataType:
    """Return a union in this order."""
    return DataType(data_types=[*kinds], use_union_operator=True, preserve_union_member_order=True)


def marked(kind: DataType, mark: Import, *arguments: Any, **named: Any) -> DataType:
    """Return a type with a mark: a call of something imported."""
    parts = [one for one in arguments if isinstance(one, DataType)]
    given = [one.type_hint if one in parts else repr(one) for one in arguments]
    given += [f"{name}={value!r}" for name, value in named.items()]
    imports = (DataType.from_import(IMPORT_ANNOTATED), DataType.from_import(mark))
    text = f"Annotated[{kind.type_hint}, {mark.import_}({', '.join(given)})]"
    return typed(text, kind, *parts, *imports)


def _bounded(kind: DataType, bounds: tuple[Bound, ...]) -> DataType:
    return marked(kind, IMPORT_FIELD, **dict(bounds)) if bounds else kind


def _scalar(kind: str) -> DataType:
    if kind == "number":  # a float cannot hold every integer: 2**53 + 1 must stay what it is
        return joined(typed("int"), typed("float"))
    return typed(_SCALARS[kind])
