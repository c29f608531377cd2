"""Types of documents read as shapes. What no shape says is a fault: nothing is dropped."""

from __future__ import annotations

__all__ = ("ShapeReader", "admits_null", "followed", "whole")

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kinwire_codegen.load.bounds import BOUNDS, bounds_of, keeps, own_bounds
from kinwire_codegen.load.document import Documents, Reference, members_of, resolve
from kinwire_codegen.load.findings import Fault, Place, pointer
from kinwire_codegen.load.notes import constraining
from kinwire_codegen.load.object_parts import ALONE, ObjectParts, is_group
from kinwire_codegen.load.shapes import (
    AnyShape,
    ConstantShape,
    ListShape,
    MapShape,
    NamedShape,
    ObjectShape,
    ScalarShape,
    Shape,
    UnionShape,
)

Node = dict[str, Any]

_UNIONS = ("anyOf", "oneOf")


class ShapeReader:
    """Reads the definitions of some documents, whose references must resolve and end."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._read: dict[Reference, tuple[Shape, tuple[Fault, ...]]] = {}

    def shape(self, reference: Reference) -> Shape:
        """Return what a definition takes."""
        return self._definition(reference)[0]

    def faults(self, reference: Reference) -> tuple[Fault, ...]:
        """Return what a definition says that no shape does."""
        return self._definition(reference)[1]

    def follow(self, shape: Shape) -> Shape:
        """Return what a shape says itself, where it is a name of others."""
        while isinstance(shape, NamedShape):
            shape = self.shape(shape.reference)
        return shape

    def _definition(self, reference: Reference) -> tuple[Shape, tuple[Fault, ...]]:
        if reference not in self._read:
            here = _Here(self, self._documents, reference.protocol)
            node = self._documents.definition(reference)
            shape = here.definition(node, ("$defs", reference.name))
            if isinstance(shape, ObjectShape):
                order = {
                    wire: at for at, wire in enumerate(members_of(self._documents, reference)[0])
                }
                members = sorted(shape.members, key=lambda member: order.get(member.wire, 0))
                shape = replace(shape, members=tuple(members))
            self._read[reference] = shape, ()  # the branches of a union may lead back to it
            here.compare_branches()
            self._read[reference] = shape, tuple(here.faults)
        return self._read[reference]


class _Here:
    """Reads one definition."""

    def __init__(self, reader: ShapeReader, documents: Documents, home: str) -> None:
        self._reader = reader
        self._documents = documents
        self._home = home
        self._unions: list[tuple[list[Shape], Place]] = []
        self.faults: list[Fault] = []

    def _fault(self, place: Place, what: str, hint: str) -> None:
        self.faults.append((pointer(*place), what, hint))

    def compare_branches(self) -> None:
        """Add a fault for each `oneOf` whose branches overlap."""
        for branches, place in self._unions:
            self._must_be_apart(branches, place)

    def definition(self, node: Node, place: Place) -> Shape:
        """Return the shape of a whole definition: it alone may be an object with fields."""
        if node.keys() & {"properties", "allOf"}:
            return self._object(node, place)
        others = node.get("additionalProperties")
        if node.get("type") == "object" and not (isinstance(others, dict) and others):
            return self._object(node, place)
        return self._type(node, place)

    # -- types without fields of their own --

    def _type(self, node: Node, place: Place) -> Shape:
        keys = constraining(node)
        if "$ref" in keys:
            return self._named(node, keys, place)
        if keys & {"const", "enum"}:
            return self._constants(node, keys, place)
        if keys & {*_UNIONS}:
            return self._union(node, keys, place)
        if keys & {"properties", "allOf"}:
            hint = "Move it to $defs and refer to it."
            if "allOf" in keys and "properties" not in keys:
                self._fault(place, "an extension of other types has no name here", hint)
            return AnyShape()  # another rule reports properties
        return self._by_kind(node, keys, place)

    def _only(self, place: Place, keys: Iterable[str], allowed: set[str], other: str) -> None:
        for key in sorted({*keys} - allowed):
            what = f"{key} next to {other} cannot be kept: both would have to hold"
            self._fault((*place, key), what, ALONE)

    def _named(self, node: Node, keys: set[str], place: Place) -> Shape:
        self._only(place, keys, {"$ref", *BOUNDS}, "$ref")
        reference = resolve(node["$ref"], self._home)
        bounds = own_bounds(node)
        if not bounds:
            return NamedShape(reference)
        return self._narrowed(reference, bounds, place)

    def _narrowed(self, reference: Reference, bounds: Node, place: Place) -> Shape:
        """Return a definition with more bounds: one type with all of them."""
        base = self._documents.definition(reference)
        twice = sorted(bounds.keys() & base.keys())
        if twice:
            what = f"{twice[0]} is said by {reference.name!r} already"
            self._fault(
                (*place, twice[0]), what, "Give the type with both a definition of its own."
            )
            return NamedShape(reference)
        if base.keys() & {"const", "enum", "shorthand"}:
            what = f"{reference.name!r} cannot be bounded here"
            self._fault(place, what, "Give the narrower type its own definition.")
            return NamedShape(reference)
        if base.keys() & {*_UNIONS}:
            return NamedShape(reference)  # another rule reports bounds that do not apply
        home, self._home = self._home, reference.protocol
        shape = self._type({**base, **bounds}, place)
        self._home = home
        return shape

    def _constants(self, node: Node, keys: set[str], place: Place) -> Shape:
        word = "const" if "const" in keys else "enum"
        self._only(place, keys, {word, "type", *BOUNDS}, word)
        values = [whole(value) for value in ([node["const"]] if word == "const" else node["enum"])]
        kinds = _kinds(node)
        for value in values if "type" in node else ():
            if _kind_of(value) not in kinds and not (type(value) is int and "number" in kinds):
                what = f"{value!r} is never of the type {' or '.join(kinds)}"
                self._fault((*place, word), what, "Correct the value or the type.")
        for value in values if keys & BOUNDS.keys() else ():
            if not keeps(value, node):
                what = f"{value!r} is never within the bounds next to it"
                self._fault((*place, word), what, "Correct the value or the bounds.")
        if len(values) == 1 and "default" in node:
            self._fault((*place, "default"), "a constant needs no default", "Remove it.")
        return ConstantShape(tuple(values))

    def _union(self, node: Node, keys: set[str], place: Place) -> Shape:
        word = "anyOf" if "anyOf" in keys else "oneOf"
        self._only(place, keys, {word, "discriminator", *BOUNDS}, word)  # another rule has bounds
        branches = []
        for index, branch in enumerate(node[word]):
            at = (*place, word, index)
            if is_group(branch):
                self._fault(at, "it asks for fields of an object without properties", "Add them.")
            branches.append(self._type(branch, at))
        tag = node["discriminator"]["propertyName"] if "discriminator" in node else None
        if word == "oneOf" and tag is None:
            self._unions.append((branches, place))
        if len(branches) == 1:
            return branches[0]
        return UnionShape(tuple(branches), tag)

    def _must_be_apart(self, branches: list[Shape], place: Place) -> None:
        for index, one in enumerate(branches):
            for other in range(index + 1, len(branches)):
                if not self._apart(one, branches[other]):
                    what = (
                        f"a value may fit the branches {index} and {other}, and then fits neither"
                    )
                    self._fault((*place, "oneOf"), what, "Write anyOf, or tell them apart.")

    def _by_kind(self, node: Node, keys: set[str], place: Place) -> Shape:
        kinds = _kinds(node)
        for key, kind in (("items", "array"), ("additionalProperties", "object")):
            if key in keys and kind not in kinds:
                what = f"{key} applies to the type {kind} only"
                self._fault((*place, key), what, f'Add "type": "{kind}", or remove it.')
        if "required" in keys:
            what = "it asks for fields of an object without properties"
            self._fault((*place, "required"), what, "Add them.")
        if not kinds:
            return AnyShape()
        shapes = [self._of_kind(kind, node, place) for kind in kinds]
        return shapes[0] if len(shapes) == 1 else UnionShape(tuple(shapes))

    def _of_kind(self, kind: str, node: Node, place: Place) -> Shape:
        bounds, faults = bounds_of(kind, node)
        for key, what, hint in faults:
            self._fault((*place, key), what, hint)
        if kind == "array":
            items = self._type(node["items"], (*place, "items")) if "items" in node else AnyShape()
            return ListShape(items, bounds, bool(node.get("uniqueItems")))
        if kind == "object":
            others = node.get("additionalProperties")
            at = (*place, "additionalProperties")
            return MapShape(self._type(others, at) if isinstance(others, dict) else AnyShape())
        return ScalarShape(kind, bounds)

    # -- objects with fields --

    def _object(self, node: Node, place: Place) -> Shape:
        made = ObjectParts(self._reader, self._home, self._type)
        made.add(node, place)
        if not made.says_object:
            what = "a value that is not an object fits it too"
            self._fault(place, what, 'Add "type": "object".')
        self.faults += made.faults
        for group in (group for groups in made.alternatives for group in groups):
            for wire in (wire for wire in group if wire not in made.members):
                what = f"{wire!r} is asked for but not a member"
                self._fault((*place, "anyOf"), what, "Add it to properties.")
        return ObjectShape(tuple(made.members.values()), tuple(made.alternatives))

    # -- what two shapes have in common --

    def _apart(self, one: Shape, other: Shape, depth: int = 0) -> bool:
        """Return whether no value fits both, as far as it can be seen."""
        one, other = self._reader.follow(one), self._reader.follow(other)
        for first, second in ((one, other), (other, one)):
            if isinstance(first, UnionShape):
                return all(self._apart(branch, second, depth) for branch in first.branches)
        if isinstance(one, ConstantShape) and isinstance(other, ConstantShape):
            return not {*map(_key, one.values)} & {*map(_key, other.values)}
        if not _json_kinds(one) & _json_kinds(other):
            return True
        if isinstance(one, ObjectShape) and isinstance(other, ObjectShape) and depth < 5:
            needed = {member.wire: member.shape for member in other.members if member.required}
            return any(
                self._apart(member.shape, needed[member.wire], depth + 1)
                for member in one.members
                if member.required and member.wire in needed
            )
        return False


def admits_null(reader: ShapeReader, shape: Shape) -> bool:
    """Return whether null fits a shape."""
    shape = reader.follow(shape)
    if isinstance(shape, UnionShape):
        return any(admits_null(reader, branch) for branch in shape.branches)
    return isinstance(shape, AnyShape) or shape == ScalarShape("null")


def followed(reader: ShapeReader, shape: Shape) -> Iterator[Shape]:
    """Yield what a shape says itself; of a union each branch."""
    shape = reader.follow(shape)
    if isinstance(shape, UnionShape):
        for branch in shape.branches:
            yield from followed(reader, branch)
    else:
        yield shape


def _kinds(node: Node) -> list[str]:
    kinds = node.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    return [kind for kind in kinds if kind != "integer" or "number" not in kinds]


def whole(value: Any) -> Any:
    """Return a constant as JSON means it: 1.0 is the integer 1."""
    return int(value) if isinstance(value, float) else value


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "integer" if isinstance(value, int) else "string"


def _key(value: Any) -> tuple[str, Any]:
    return _kind_of(value), value


def _json_kinds(shape: Shape) -> set[str]:
    """Return the kinds of JSON values that may fit a shape; every number is one kind."""
    match shape:
        case ScalarShape(kind=kind):
            return {"number" if kind == "integer" else kind}
        case ConstantShape(values=values):
            return {"number" if type(value) is int else _kind_of(value) for value in values}
        case ListShape():
            return {"array"}
        case MapShape() | ObjectShape():
            return {"object"}
    return {"null", "boolean", "number", "string", "array", "object"}
