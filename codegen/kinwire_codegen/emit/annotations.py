"""Shapes as annotations in Python, with the imports that these need."""

from __future__ import annotations

__all__ = ("Annotations",)


from kinwire_codegen.load.document import Documents, Reference
from kinwire_codegen.load.shape_reading import ShapeReader
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

# What a definition says that is no more than a type of JSON.
_PLAIN = {"type", "description", "examples", "x-decision"}

_SCALARS = {"null": "None", "boolean": "bool", "integer": "int", "string": "str"}
_NUMBER = "int | float"  # a float cannot hold every integer: 2**53 + 1 must stay what it is


class Annotations:
    """Writes the annotations of one definition and notes what they name."""

    def __init__(self, documents: Documents, reader: ShapeReader, home: str, shared: str) -> None:
        self._documents = documents
        self._reader = reader
        self._home = home
        self._shared = shared
        self.imports: set[str] = set()
        self.named: set[str] = set()
        """The definitions of the same protocol that were named."""

    def outer(self, shape: Shape) -> tuple[str, tuple[Bound, ...]]:
        """Return an annotation, and the bounds that stand with it instead of inside it."""
        shape = self._own(shape)
        if isinstance(shape, UnionShape) and len(shape.branches) == 2:
            one, other = shape.branches
            if one == ScalarShape("null"):
                one, other = other, one
            if other == ScalarShape("null") and isinstance(one, ScalarShape | ListShape):
                text, bounds = self.outer(one)
                return f"{text} | None", bounds
        if isinstance(shape, ScalarShape):
            return self.text(ScalarShape(shape.kind)), shape.bounds
        if isinstance(shape, ListShape):
            return self.text(ListShape(shape.items, (), shape.unique)), shape.bounds
        return self.text(shape), ()

    def text(self, shape: Shape) -> str:
        """Return a whole annotation."""
        match shape:
            case NamedShape(reference=reference):
                return self._named(reference)
            case ScalarShape(kind=kind, bounds=bounds):
                return self._bounded(_NUMBER if kind == "number" else _SCALARS[kind], bounds)
            case ConstantShape():
                return self._constants(shape)
            case ListShape():
                return self._list(shape)
            case MapShape(values=values):
                return f"dict[str, {self.text(values)}]"
            case UnionShape():
                return self._union(shape)
            case _:
                return self._any()

    def field(self, arguments: list[str]) -> str:
        """Return a call of `Field`."""
        self.imports.add("from pydantic import Field")
        return f"Field({', '.join(arguments)})"

    def annotated(self, text: str, *marks: str) -> str:
        """Return an annotation with marks, if there are any."""
        if not marks:
            return text
        self.imports.add("from typing import Annotated")
        return f"Annotated[{text}, {', '.join(marks)}]"

    def mark(self, module: str, name: str) -> str:
        """Return a name of a module that all bindings share."""
        self.imports.add(f"from {self._shared}.{module} import {name}")
        return name

    def _own(self, shape: Shape) -> Shape:
        """Return what a plain definition of others says: their models are not loaded for it."""
        if isinstance(shape, NamedShape) and self._is_plain_elsewhere(shape.reference):
            return self._reader.follow(shape)
        return shape

    def _is_plain_elsewhere(self, reference: Reference) -> bool:
        return (
            reference.protocol != self._home
            and self._documents.definition(reference).keys() <= _PLAIN
            and self._documents.definition(reference).get("type") != "object"
        )

    def _named(self, reference: Reference) -> str:
        if self._is_plain_elsewhere(reference):
            return self.text(self._reader.shape(reference))
        if reference.protocol == self._home:
            self.named.add(reference.name)
        else:
            module = self._documents[reference.protocol].module
            self.imports.add(f"from ..{module}.models import {reference.name}")
        return reference.name

    def _bounded(self, text: str, bounds: tuple[Bound, ...]) -> str:
        if not bounds:
            return text
        return self.annotated(text, self.field([f"{name}={value!r}" for name, value in bounds]))

    def _constants(self, shape: ConstantShape) -> str:
        self.imports.add("from typing import Literal")
        text = f"Literal[{', '.join(map(repr, shape.values))}]"
        if all(isinstance(value, str) for value in shape.values):
            return text
        return self.annotated(text, self.mark("constraints", "Exactly") + "()")

    def _list(self, shape: ListShape) -> str:
        text = f"list[{self.text(shape.items)}]"
        if shape.unique:
            text = self.annotated(text, self.mark("constraints", "Unique") + "()")
        return self._bounded(text, shape.bounds)

    def _union(self, shape: UnionShape) -> str:
        found = dict.fromkeys(map(self.text, shape.branches))
        if "Any" in found:
            return "Any"
        null = ["None"] if found.pop("None", 0) is None else []
        if shape.tag is None:
            return " | ".join([*found, *null])
        text = " | ".join([*found, self.mark("base", "UnknownVariant")])
        return self.annotated(text, f'{self.mark("base", "OpenUnion")}("{shape.tag}")')

    def _any(self) -> str:
        self.imports.add("from typing import Any")
        return "Any"
