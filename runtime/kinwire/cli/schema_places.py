"""What a JSON schema says of a place in a value: which types and which members it may have.

The schema may be a peer's, so nothing in it is taken for granted.
"""

from __future__ import annotations

__all__ = ("Place",)

from collections.abc import Iterable, Iterator
from typing import cast

from kinwire.json_pointer import steps_of
from kinwire.messages.jsonrpc import is_object
from kinwire_protocols.base import JsonObject

_TYPES: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
    "string": (str,),
}


class Place:
    """A place in a value, as all schemas that hold there describe it.

    `closed` says that members beside those with a name are slips, even where the schema lets them
    through: a protocol's own types do, so that later versions of it can be read.
    """

    def __init__(self, schemas: Iterable[object], root: JsonObject, *, closed: bool) -> None:
        self._root = root
        self._closed = closed
        self._branches = list(_branches(schemas, root))

    @property
    def kinds(self) -> set[str]:
        """The JSON types that the value may have, none if the schema is silent."""
        return {kind for branch in self._branches for kind in _own_kinds(branch)}

    @property
    def names(self) -> list[str]:
        """The members that have a name, in the order of the schema."""
        return list(dict.fromkeys(name for branch in self._branches for name in _members(branch)))

    def allows(self, value: object) -> bool:
        """Whether `value` has one of the types."""
        return any(type(value) in _TYPES.get(kind, ()) for kind in self.kinds)

    def may_have(self, name: str) -> bool:
        """Whether a member of this name is no slip."""
        names = self.names
        if not names or name in names:
            return True
        return not self._closed and any(
            branch.get("additionalProperties") or branch.get("patternProperties")
            for branch in self._branches
        )

    def member(self, name: str) -> Place:
        """Return the place that the member called `name` has in this one."""
        inner = [
            _members(branch).get(name, branch.get("additionalProperties"))
            for branch in self._branches
        ]
        # `_meta` is where anybody may put anything.
        return Place(inner, self._root, closed=self._closed and name != "_meta")


def _branches(schemas: Iterable[object], root: JsonObject) -> Iterator[JsonObject]:
    """Yield the schemas and those that they refer to or combine, each once."""
    waiting, seen = list(schemas), set[int]()
    for schema in waiting:  # grows meanwhile; ends, as a schema has so many parts only
        if not is_object(schema) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            waiting.append(_at(root, reference))
        for word in ("anyOf", "oneOf", "allOf"):
            waiting.extend(_list(schema.get(word)))


def _at(root: JsonObject, reference: str) -> object:
    found: object = root
    for name in steps_of(reference):
        found = found.get(name) if is_object(found) else None
    return found


def _members(branch: JsonObject) -> JsonObject:
    members = branch.get("properties")
    return members if is_object(members) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _own_kinds(schema: JsonObject) -> Iterator[str]:
    kind = schema.get("type")
    yield from [kind] if isinstance(kind, str) else map(str, _list(kind))
    for value in [schema["const"]] if "const" in schema else _list(schema.get("enum")):
        yield from (kind for kind, types in _TYPES.items() if type(value) in types)
