"""Shapes as the types that Python writes, each with what it imports and names."""

from __future__ import annotations

__all__ = ("ANY", "NONE", "Annotations", "Hint", "joined", "marked")

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from datamodel_code_generator.imports import (
    IMPORT_ANNOTATED,
    IMPORT_ANY,
    IMPORT_LITERAL,
    Import,
)
from datamodel_code_generator.model.pydantic_v2.imports import IMPORT_FIELD

from kinwire_codegen.emit.division import COMMON
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

_NONE = ScalarShape("null")


class Hint(NamedTuple):
    """A type as it is written."""

    branches: tuple[str, ...]
    """What is written with `|` between."""
    imports: frozenset[Import] = frozenset()
    names: frozenset[str] = frozenset()
    """The definitions of the same document that it names."""

    @property
    def text(self) -> str:
        return " | ".join(self.branches)

    def inside(self, container: str) -> Hint:
        """Return the type with `container` around it, which has `{}` where the type goes."""
        return Hint((container.format(self.text),), self.imports, self.names)


ANY = Hint(("Any",), frozenset({IMPORT_ANY}))
NONE = Hint(("None",))
_SCALARS = {
    "null": NONE,
    "boolean": Hint(("bool",)),
    "integer": Hint(("int",)),
    "number": Hint(("int", "float")),  # a float cannot hold every integer: 2**53 + 1 must stay
    "string": Hint(("str",)),
}


class Annotations:
    """Makes the types of the fields and names of one module of models.

    `home` is its document, and `members` the definitions that it has; None if it has all.
    """

    def __init__(
        self,
        documents: Documents,
        home: Document,
        shared: str,
        members: Container[str] | None = None,
    ) -> None:
        self._documents = documents
        self._reader = documents.shapes
        self._home = home.name
        self._members = members
        self.package = shared

    def outer(self, shape: Shape) -> tuple[Hint, tuple[Bound, ...]]:
        """Return a type, and the bounds that stand with it instead of inside it."""
        shape = self._own(shape)
        if isinstance(shape, UnionShape) and len(shape.branches) == 2:
            one, other = shape.branches
            if one == _NONE:
                one, other = other, one
            if other == _NONE and isinstance(one, ScalarShape | ListShape):
                kind, bounds = self.outer(one)
                return joined(kind, NONE), bounds
        if isinstance(shape, ScalarShape):
            return self.type(ScalarShape(shape.kind)), shape.bounds
        if isinstance(shape, ListShape):
            return self.type(ListShape(shape.items, (), shape.unique)), shape.bounds
        return self.type(shape), ()

    def type(self, shape: Shape) -> Hint:
        """Return a whole type."""
        match shape:
            case NamedShape(reference=reference):
                return self._named(reference)
            case ScalarShape(kind=kind, bounds=bounds):
                return _bounded(_SCALARS[kind], bounds)
            case ConstantShape():
                return self._constants(shape)
            case ListShape():
                return self._list(shape)
            case MapShape(values=values):
                return self.type(values).inside("dict[str, {}]")
            case UnionShape():
                return self._union(shape)
            case _:
                return ANY

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

    def _named(self, reference: Reference) -> Hint:
        if self._is_plain_elsewhere(reference):
            return self.type(self._reader.shape(reference))
        if reference.protocol != self._home:
            above = ".." if self._members is None else "..."
            module = self._documents[reference.protocol].module
            return _imported(Import.from_full_path(f"{above}{module}.models.{reference.name}"))
        if self._members is not None and reference.name not in self._members:
            return _imported(Import.from_full_path(f".{COMMON}.{reference.name}"))
        return Hint((reference.name,), names=frozenset({reference.name}))

    def _constants(self, shape: ConstantShape) -> Hint:
        values = ", ".join(map(repr, shape.values))
        kind = Hint((f"Literal[{values}]",), frozenset({IMPORT_LITERAL}))
        if all(isinstance(value, str) for value in shape.values):
            return kind
        return marked(kind, self.shared("constraints", "Exactly"))

    def _list(self, shape: ListShape) -> Hint:
        kind = self.type(shape.items).inside("list[{}]")
        if shape.unique:
            kind = marked(kind, self.shared("constraints", "Unique"))
        return _bounded(kind, shape.bounds)

    def _union(self, shape: UnionShape) -> Hint:
        branches = [self.type(one) for one in sorted(shape.branches, key=lambda one: one == _NONE)]
        if ANY in branches:
            return ANY
        if shape.tag is None:
            return joined(*branches)
        unknown = _imported(self.shared("base", "UnknownVariant"))
        return marked(joined(*branches, unknown), self.shared("base", "OpenUnion"), shape.tag)


def _is_plain(definition: dict[str, Any]) -> bool:
    """Return whether a definition says no more than a type of JSON other than `object`."""
    kept = {key for key in definition if not is_note(key) or key in ("default", "format")}
    return kept <= {"type"} and definition.get("type") != "object"


def joined(*kinds: Hint) -> Hint:
    """Return a union in this order, each branch once."""
    return _of([branch for kind in kinds for branch in kind.branches], kinds)


def marked(kind: Hint, mark: Import, *arguments: Any, **named: Any) -> Hint:
    """Return a type with a mark: a call of something imported."""
    parts = [one for one in arguments if isinstance(one, Hint)]
    given = [one.text if isinstance(one, Hint) else repr(one) for one in arguments]
    given += [f"{name}={value!r}" for name, value in named.items()]
    text = f"Annotated[{kind.text}, {mark.import_}({', '.join(given)})]"
    return _of([text], [kind, *parts, Hint((), frozenset({IMPORT_ANNOTATED, mark}))])


def _of(branches: list[str], parts: Iterable[Hint]) -> Hint:
    """Return the type with these `branches`, which needs what its parts need."""
    return Hint(
        tuple(dict.fromkeys(branches)),
        frozenset().union(*(part.imports for part in parts)),
        frozenset().union(*(part.names for part in parts)),
    )


def _imported(name: Import) -> Hint:
    return Hint((name.import_,), frozenset({name}))


def _bounded(kind: Hint, bounds: tuple[Bound, ...]) -> Hint:
    return marked(kind, IMPORT_FIELD, **dict(bounds)) if bounds else kind
