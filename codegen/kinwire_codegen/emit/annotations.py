"""Shapes as the types that Python writes, each with what it imports and names."""

from __future__ import annotations

__all__ = ("ANY", "NONE", "Annotations", "Hint", "joined", "marked", "plain")

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from datamodel_code_generator.imports import (
    IMPORT_ANNOTATED,
    IMPORT_ANY,
    IMPORT_LITERAL,
    Import,
)
from datamodel_code_generator.model.pydantic_v2.imports import IMPORT_FIELD

from kinwire_codegen.emit.package import Package
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
    bare: tuple[str, ...]
    """The same without marks, as type checkers look at it."""
    imports: frozenset[Import] = frozenset()
    types: frozenset[Reference] = frozenset()
    """The definitions that it names."""

    @property
    def text(self) -> str:
        return " | ".join(self.branches)

    @property
    def bare_text(self) -> str:
        return " | ".join(self.bare)

    def names(self, protocol: str) -> set[str]:
        """Return the definitions of `protocol` that it names."""
        return {one.name for one in self.types if one.protocol == protocol}

    def inside(self, container: str) -> Hint:
        """Return the type with `container` around it, which has `{}` where the type goes."""
        around = container.format
        return Hint((around(self.text),), (around(self.bare_text),), self.imports, self.types)


def plain(text: str, *imports: Import) -> Hint:
    """Return a type that is written as `text`."""
    return Hint((text,), (text,), frozenset(imports))


ANY = plain("Any", IMPORT_ANY)
NONE = plain("None")
_NUMBER = ("int", "float")  # a float cannot hold every integer: 2**53 + 1 must stay
_SCALARS = {
    "null": NONE,
    "boolean": plain("bool"),
    "integer": plain("int"),
    "number": Hint(_NUMBER, _NUMBER),
    "string": plain("str"),
}


class Annotations:
    """Makes the types of the fields and names of one module of models.

    `home` is its document, `modules` has the module of each definition there, and `module` is this
    one; without them it has all.
    """

    def __init__(
        self,
        documents: Documents,
        home: Document,
        package: Package,
        modules: Mapping[str, str] | None = None,
        module: str = "",
    ) -> None:
        self._documents = documents
        self._reader = documents.shapes
        self._home = home.name
        self._modules = modules
        self._module = module
        self.package = package

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
        return Import.from_full_path(f"{self.package.shared}.{module}.{name}")

    def import_of(self, reference: Reference) -> Import | None:
        """Return what brings a definition into the module, None if it is there."""
        if reference.protocol != self._home:
            module = self._documents[reference.protocol].module
            home = f"{self.package.home(module)}.{module}.models"
        elif self._modules is not None and self._modules[reference.name] != self._module:
            home = f".{self._modules[reference.name]}"
        else:
            return None
        return Import.from_full_path(f"{home}.{reference.name}")

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
        return plain(reference.name)._replace(types=frozenset({reference}))

    def _constants(self, shape: ConstantShape) -> Hint:
        values = ", ".join(map(repr, shape.values))
        kind = plain(f"Literal[{values}]", IMPORT_LITERAL)
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
        unknown = self.shared("base", "UnknownVariant")
        kinds = joined(*branches, plain(unknown.import_, unknown))
        return marked(kinds, self.shared("base", "OpenUnion"), shape.tag)


def _is_plain(definition: dict[str, Any]) -> bool:
    """Return whether a definition says no more than a type of JSON other than `object`."""
    kept = {key for key in definition if not is_note(key) or key in ("default", "format")}
    return kept <= {"type"} and definition.get("type") != "object"


def joined(*kinds: Hint) -> Hint:
    """Return a union in this order, each branch once."""
    whole = [branch for kind in kinds for branch in kind.branches]
    return _of(whole, [branch for kind in kinds for branch in kind.bare], kinds)


def marked(kind: Hint, mark: Import, *arguments: Any, **named: Any) -> Hint:
    """Return a type with a mark: a call of something imported."""
    parts = [one for one in arguments if isinstance(one, Hint)]
    given = [one.text if isinstance(one, Hint) else repr(one) for one in arguments]
    given += [f"{name}={value!r}" for name, value in named.items()]
    text = f"Annotated[{kind.text}, {mark.import_}({', '.join(given)})]"
    return _of([text], kind.bare, [kind, *parts, plain("", IMPORT_ANNOTATED, mark)])


def _of(branches: Iterable[str], bare: Iterable[str], parts: Iterable[Hint]) -> Hint:
    """Return the type with these branches, which needs what its parts need."""
    return Hint(
        tuple(dict.fromkeys(branches)),
        tuple(dict.fromkeys(bare)),
        frozenset().union(*(part.imports for part in parts)),
        frozenset().union(*(part.types for part in parts)),
    )


def _bounded(kind: Hint, bounds: tuple[Bound, ...]) -> Hint:
    return marked(kind, IMPORT_FIELD, **dict(bounds)) if bounds else kind
