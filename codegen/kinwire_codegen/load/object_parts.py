"""The fields of an object, gathered from itself and from the types that it extends."""

from __future__ import annotations

__all__ = ("ALONE", "ObjectParts", "is_group")

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kinwire_codegen.load.bounds import BOUNDS
from kinwire_codegen.load.document import resolve
from kinwire_codegen.load.findings import Fault, Place, pointer
from kinwire_codegen.load.notes import constraining
from kinwire_codegen.load.shapes import MemberShape, NamedShape, ObjectShape, Shape

if TYPE_CHECKING:
    from kinwire_codegen.load.shape_reading import ShapeReader

Node = dict[str, Any]

ALONE = "Give each its own name under $defs, or remove one of the two."


def is_group(branch: Node) -> bool:
    """Return whether a branch of a union is a group of fields of the object around it."""
    return constraining(branch) == {"required"}


class ObjectParts:
    """Gathers the fields of an object from itself and from the types that it extends."""

    def __init__(
        self, reader: ShapeReader, home: str, read: Callable[[Node, Place], Shape]
    ) -> None:
        self._reader = reader
        self._home = home
        self._type = read
        self._required: set[str] = set()
        self.members: dict[str, MemberShape] = {}
        self.alternatives: list[tuple[tuple[str, ...], ...]] = []
        self.says_object = False
        """Whether it says that a value is an object."""
        self.faults: list[Fault] = []

    def _fault(self, place: Place, what: str, hint: str) -> None:
        self.faults.append((pointer(*place), what, hint))

    def add(self, node: Node, place: Place) -> None:
        """Add a whole definition; the types that it extends come first."""
        for index, branch in enumerate(node.get("allOf", ())):
            at = (*place, "allOf", index)
            if "$ref" in branch:
                self._base(branch, at)
            else:
                self.add(branch, at)
        self._own(node, place)
        self.members = {
            wire: MemberShape(wire, one.shape, wire in self._required, one.node, one.home)
            for wire, one in self.members.items()
        }

    def _own(self, node: Node, place: Place) -> None:
        known = {"type", "properties", "required", "additionalProperties", "allOf", "anyOf"}
        for key in sorted(constraining(node) - known - {*BOUNDS}):
            self._fault((*place, key), f"{key} next to properties cannot be kept", ALONE)
        if "type" in node:
            self.says_object = True
            if node["type"] != "object":
                what = "it has the fields of an object and may be something else"
                self._fault((*place, "type"), what, "Write a union of it and a named object.")
        for wire, member in node.get("properties", {}).items():
            shape = self._type(member, (*place, "properties", wire))
            self.members[wire] = MemberShape(wire, shape, False, member, self._home)
        self._required |= {*node.get("required", ())}
        if "anyOf" in node:
            self._alternatives(node["anyOf"], place)
        others = node.get("additionalProperties")
        if isinstance(others, dict) and others and not node.keys() & {"properties", "allOf"}:
            what = "it does not apply next to properties: an unknown field may have any value"
            self._fault((*place, "additionalProperties"), what, "Remove it.")

    def _alternatives(self, branches: list[Node], place: Place) -> None:
        groups = []
        for index, branch in enumerate(branches):
            at = (*place, "anyOf", index)
            if not is_group(branch):
                what = "a union next to properties cannot be kept: both would have to hold"
                self._fault(
                    at, what, "Give each alternative its own object, and make a union of them."
                )
                return
            groups.append(tuple(branch["required"]))
        self.alternatives.append(tuple(groups))

    def _base(self, branch: Node, place: Place) -> None:
        for key in sorted(constraining(branch) - {"$ref"}):
            self._fault((*place, key), f"{key} next to $ref cannot be kept", ALONE)
        reference = resolve(branch["$ref"], self._home)
        base = self._reader.follow(NamedShape(reference))
        if not isinstance(base, ObjectShape):
            what = f"{reference.name!r} is not an object with properties, so it cannot be extended"
            self._fault(place, what, "Refer to it from a field, or name an object.")
            return
        self.says_object = True
        for one in base.members:
            self.members[one.wire] = one
            self._required |= {one.wire} if one.required else set()
        self.alternatives += base.alternatives
