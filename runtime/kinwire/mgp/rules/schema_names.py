"""Which arguments a tool's schema names."""

from __future__ import annotations

__all__ = ("has_argument",)

from collections.abc import Iterator, Sequence
from typing import Final, cast

from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

_MOST: Final = 1000  # schemas that are looked at: a peer's schema may be a circle
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_BRANCHES: Final = ("then", "else")


def has_argument(schema: JsonObject, path: Sequence[str]) -> bool:
    """Return whether `schema` names the property at `path` in any of its branches.

    Only `$ref` inside the schema is followed. What no branch names is not there, even if the
    schema allows further properties.
    """
    level: list[JsonObject] = [schema]
    for name in path:
        level = [
            found for one in _branches(level, schema) if (found := _property(one, name)) is not None
        ]
    return bool(level)


def _branches(schemas: Sequence[JsonObject], root: JsonObject) -> Iterator[JsonObject]:
    """Yield schemas and all that apply to the same value, each once."""
    waiting, seen = list(schemas), set[int]()
    while waiting and len(seen) < _MOST:
        schema = waiting.pop()
        if id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        waiting += _applied(schema, root)


def _applied(schema: JsonObject, root: JsonObject) -> Iterator[JsonObject]:
    for key in _LISTS:
        listed = schema.get(key)
        for one in cast("list[object]", listed) if isinstance(listed, list) else ():
            if is_object(one):
                yield one
    for key in _BRANCHES:
        one = schema.get(key)
        if is_object(one):
            yield one
    target = _target(schema.get("$ref"), root)
    if target is not None:
        yield target


def _target(reference: object, root: JsonObject) -> JsonObject | None:
    """Return the schema inside `root` that a `$ref` names."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found: object = root
    for step in reference[1:].split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if is_object(found) else None
    return found if is_object(found) else None


def _property(schema: JsonObject, name: str) -> JsonObject | None:
    """Return the schema of a property; an empty one for `true`, None if it is not named."""
    named = schema.get("properties")
    found = named.get(name) if is_object(named) else None
    if found is True:
        return {}
    return found if is_object(found) else None
