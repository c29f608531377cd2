"""Most schemas of tools say only which arguments there are and of which types: a quick look.

Such a schema is recognized once. A value that it holds for needs no walk along the schema; any
other value takes one, which says what is wrong.
"""

from __future__ import annotations

__all__ = ("FlatSchema", "flat")

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

_TYPES: Final[Mapping[str, frozenset[type]]] = {
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
}
_IDLE: Final = frozenset({"$defs", "$schema", "default", "description", "examples", "title"})
"""Keywords that demand nothing of a value; without `$ref` that is so of `$defs`, too."""
_OF_OBJECT: Final = frozenset({"additionalProperties", "properties", "required", "type", *_IDLE})
_OF_VALUE: Final = frozenset({"type", *_IDLE})


class FlatSchema(NamedTuple):
    """An object whose members have plain types."""

    types: Mapping[str, frozenset[type]]
    required: frozenset[str]
    is_open: bool
    """Whether there may be other members."""

    def holds(self, value: JsonObject) -> bool:
        """Return whether the schema certainly holds for a value; False says nothing."""
        if not self.required <= value.keys():
            return False
        types, is_open = self.types, self.is_open
        for name, one in value.items():
            allowed = types.get(name)
            if allowed is None:
                if not is_open:
                    return False
            elif type(one) not in allowed:
                return False
        return True


def flat(schema: JsonObject) -> FlatSchema | None:
    """Return a schema that is flat; None for any other."""
    if schema.get("type") != "object" or not schema.keys() <= _OF_OBJECT:
        return None
    properties: Any = schema.get("properties", {})
    required: Any = schema.get("required", [])
    is_open: Any = schema.get("additionalProperties", True)
    if not (is_object(properties) and _are_names(required) and isinstance(is_open, bool)):
        return None
    types: dict[str, frozenset[type]] = {}
    for name, one in properties.items():
        found = _types_of(one)
        if found is None:
            return None
        types[name] = found
    return FlatSchema(types, frozenset(required), is_open)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, str) for one in cast("list[object]", value)
    )


def _types_of(schema: object) -> frozenset[type] | None:
    if not is_object(schema) or not schema.keys() <= _OF_VALUE:
        return None
    name: Any = schema.get("type")
    return _TYPES.get(name) if isinstance(name, str) else None
