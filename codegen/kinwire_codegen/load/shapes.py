"""Types of documents with everything followed: what each takes, and nothing left out.

`shape_reading.py` makes them. Whatever it cannot say with them, lint refuses.
"""

from __future__ import annotations

__all__ = (
    "AnyShape",
    "Bound",
    "ConstantShape",
    "ListShape",
    "MapShape",
    "MemberShape",
    "NamedShape",
    "ObjectShape",
    "ScalarShape",
    "Shape",
    "UnionShape",
)

from dataclasses import dataclass
from typing import Any

from kinwire_codegen.load.document import Reference

Bound = tuple[str, Any]
"""A bound by the name that pydantic gives it, such as `ge`, and its value."""


@dataclass(frozen=True, slots=True)
class AnyShape:
    """Any JSON."""


@dataclass(frozen=True, slots=True)
class ScalarShape:
    """A text, a number, a boolean or null."""

    kind: str
    """`null`, `boolean`, `integer`, `number` or `string`."""
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class ConstantShape:
    """One of some texts, integers and booleans."""

    values: tuple[str | int | bool, ...]


@dataclass(frozen=True, slots=True)
class ListShape:
    """An array."""

    items: Shape
    bounds: tuple[Bound, ...] = ()
    unique: bool = False


@dataclass(frozen=True, slots=True)
class MapShape:
    """An object with any fields, whose values have one type."""

    values: Shape


@dataclass(frozen=True, slots=True)
class NamedShape:
    """What a definition says."""

    reference: Reference


@dataclass(frozen=True, slots=True)
class UnionShape:
    """One of some shapes."""

    branches: tuple[Shape, ...]
    tag: str | None = None
    """The field whose constant distinguishes them."""


@dataclass(frozen=True, slots=True)
class MemberShape:
    """A field of an object."""

    wire: str
    shape: Shape
    required: bool
    node: dict[str, Any]
    """What else the document says of it."""
    home: str
    """The protocol whose document that is."""


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """An object with fields of its own and any others."""

    members: tuple[MemberShape, ...]
    alternatives: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Groups of fields, by their names on the wire: of each tuple one group must be whole."""


Shape = (
    AnyShape
    | ScalarShape
    | ConstantShape
    | ListShape
    | MapShape
    | NamedShape
    | UnionShape
    | ObjectShape
)
"""What a type takes."""
