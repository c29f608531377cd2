"""Lenient readings of arguments by a JSON Schema, for tools that are registered with a schema.

`5.0` becomes 5 where the schema wants an integer, and an empty array becomes an empty object where
it wants an object and no array.
"""

from __future__ import annotations

__all__ = ("corrected",)

from collections.abc import Iterable
from typing import Any

from kinwire.mcp.rules.json_schema import JsonSchema
from kinwire.rpc.codec import is_object

_MAX_DEPTH = 100  # schemas inside schemas: references may form a circle
_MAX_STEPS = 10_000  # of one value: branches inside branches may be tried very often
_STEPS_OF_CHECK = 50
_NEVER_CHANGED = frozenset({str, int, bool, type(None)})


def corrected(schema: JsonSchema, value: Any) -> Any:
    """Return `value` with its lenient readings replaced; the same object if it has none."""
    if not _has_candidates(value):  # as a rule: this costs a tenth of the walk along the schema
        return value
    return _Correction(schema).by(schema.root, value, 0)


def _has_candidates(value: Any) -> bool:
    """Return whether there is a number or an array in `value` that a schema could change."""
    left: list[Any] = [[value]]
    while left:
        one = left.pop()
        if one == [] or (isinstance(one, float) and one.is_integer()):
            return True
        if not isinstance(one, float):
            inner: Iterable[Any] = one.values() if is_object(one) else one
            left += [each for each in inner if type(each) not in _NEVER_CHANGED]
    return False


class _Correction:
    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema
        self._steps_left = _MAX_STEPS

    def by(self, schema: Any, value: Any, depth: int) -> Any:
        """Return `value` as read by `schema`."""
        if not _may_be_lenient(value) or not is_object(schema):
            return value
        self._steps_left -= 1
        if self._steps_left < 0 or depth > _MAX_DEPTH:
            return value
        if "$ref" in schema:
            value = self.by(self._schema.target(schema["$ref"], ""), value, depth + 1)
        for part in schema.get("allOf", ()):
            value = self.by(part, value, depth + 1)
        for branches in (schema.get("anyOf"), schema.get("oneOf")):
            if branches:
                value = self._by_one(branches, value, depth + 1)
        if value and isinstance(value, list | dict):
            return self._inner(schema, value, depth + 1)
        return _plain(_types(schema), value)

    def _by_one(self, branches: list[Any], value: Any, depth: int) -> Any:
        if type(value) is not float and any(self._fits(branch, value) for branch in branches):
            return value
        read = (self.by(branch, value, depth) for branch in branches)
        changed = zip(branches, read, strict=True)
        return next(
            (new for branch, new in changed if new is not value and self._fits(branch, new)), value
        )

    def _fits(self, schema: Any, value: Any) -> bool:
        self._steps_left -= _STEPS_OF_CHECK
        return self._steps_left > 0 and not self._schema.problems(value, within=schema)

    def _inner(self, schema: Any, value: Any, depth: int) -> Any:
        made: Any
        if is_object(value):
            known, other = schema.get("properties", {}), schema.get("additionalProperties")
            made = {
                name: self.by(known.get(name, other), inner, depth) for name, inner in value.items()
            }
            same = all(made[name] is value[name] for name in made)
        else:
            first, other = schema.get("prefixItems", ()), schema.get("items")
            made = [
                self.by(first[number] if number < len(first) else other, inner, depth)
                for number, inner in enumerate(value)
            ]
            same = all(map(lambda new, old: new is old, made, value))
        return value if same else made


def _may_be_lenient(value: object) -> bool:
    return isinstance(value, float | list | dict)


def _types(schema: Any) -> list[str]:
    names = schema.get("type", [])
    return [names] if isinstance(names, str) else names


def _plain(wanted: list[str], value: Any) -> Any:
    if value == []:
        return {} if "object" in wanted and "array" not in wanted else value
    if type(value) is float and value.is_integer():
        return int(value) if "integer" in wanted and "number" not in wanted else value
    return value
