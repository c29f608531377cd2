"""The check of each keyword of a JSON Schema (2020-12, Validation)."""

from __future__ import annotations

__all__ = ("CHECKS", "Here")

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import isfinite
from operator import ge, gt, le, lt
from typing import Any, Final, NamedTuple

from kinwire.mcp.rules.json_schema_keywords import TYPES, is_list, is_number, is_text, pattern
from kinwire.rpc.codec import is_object
from kinwire.support.json_values import pointer_below
from kinwire_protocols.base import JsonObject
from kinwire_protocols.nearest import nearest
from kinwire_protocols.problems import Problem, shown


class Here(NamedTuple):
    """The schema around a keyword, and the value that it is checked against."""

    check: Callable[[Any, Any, str, int], Iterator[Problem]]
    """Yields the problems of a value by a schema, at a pointer and depth."""
    schema: JsonObject
    value: Any
    at: str
    depth: int

    def problem(self, expected: str) -> Problem:
        """Return the problem of a value that is not `expected`."""
        return Problem(self.at, expected, shown(self.value))

    def by(self, schema: Any) -> Iterator[Problem]:
        """Yield the problems of the value by another schema."""
        return self.check(schema, self.value, self.at, self.depth)

    def fits(self, schema: Any) -> bool:
        """Return whether the value is valid by another schema."""
        return next(self.by(schema), None) is None

    def field(self, name: str, schema: Any) -> Iterator[Problem]:
        """Yield the problems of a property of the value."""
        return self.check(schema, self.value[name], pointer_below(self.at, name), self.depth)

    def item(self, number: int, schema: Any) -> Iterator[Problem]:
        """Yield the problems of an item of the value."""
        return self.check(schema, self.value[number], f"{self.at}/{number}", self.depth)


Check = Callable[[Any, Here], Iterator[Problem]]
"""Takes the argument of the keyword, and its place; yields problems."""


def _is_long(value: Any, least: int) -> bool:
    return len(value) >= least


def _is_short(value: Any, most: int) -> bool:
    return len(value) <= most


def _type(names: Any, here: Here) -> Iterator[Problem]:
    wanted: list[str] = [names] if isinstance(names, str) else names
    if not any(TYPES[name](here.value) for name in wanted):
        yield here.problem(" or ".join(wanted))


def _same(value: Any) -> Any:
    """Return a key that is equal for values that JSON Schema calls equal: 1 and 1.0, not true."""
    if is_object(value):
        return frozenset((name, _same(inner)) for name, inner in value.items())
    if is_list(value):
        return tuple(map(_same, value))
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return ("boolean", value) if isinstance(value, bool) else value
    # As bytes, which JSON does not have: a peer can choose numbers whose hashes are equal.
    is_whole = isinstance(value, int) or value.is_integer()
    return (hex(int(value)) if is_whole else repr(value)).encode()


def _enum(allowed: Any, here: Here) -> Iterator[Problem]:
    if _same(here.value) not in map(_same, allowed):
        yield here.problem(f"one of {', '.join(map(json.dumps, allowed))}")


def _const(only: Any, here: Here) -> Iterator[Problem]:
    if _same(here.value) != _same(only):
        yield here.problem(json.dumps(only))


def _bound(
    applies: Callable[[Any], bool], fits: Callable[[Any, Any], bool], expected: str
) -> Check:
    """Return the check of a keyword whose argument is a limit; `expected` formats the limit."""

    def check(limit: Any, here: Here) -> Iterator[Problem]:
        if applies(here.value) and not fits(here.value, limit):
            yield here.problem(expected.format(limit))

    return check


def _is_multiple(value: Any, step: Any) -> bool:
    # As decimal fractions: 0.3 is a multiple of 0.1, and integers have no limit.
    finite = type(value) is int or isfinite(value)
    return finite and _fraction(value) % _fraction(step) == 0


def _fraction(value: Any) -> Fraction:
    # Python does not write integers of thousands of digits.
    return Fraction(value if type(value) is int else str(value))


def _pattern(text: Any, here: Here) -> Iterator[Problem]:
    if is_text(here.value) and not pattern(text)(here.value):
        yield here.problem(f"a match of {text!r}")


def _required(names: Any, here: Here) -> Iterator[Problem]:
    for name in names if is_object(here.value) else ():
        if name not in here.value:
            yield Problem(pointer_below(here.at, name), "a value", "nothing")


def _dependent_required(names: Any, here: Here) -> Iterator[Problem]:
    for name, needed in names.items() if is_object(here.value) else ():
        if name in here.value:
            yield from _required(needed, here)


def _dependent_schemas(schemas: Any, here: Here) -> Iterator[Problem]:
    for name, schema in schemas.items() if is_object(here.value) else ():
        if name in here.value:
            yield from here.by(schema)


def _properties(schemas: Any, here: Here) -> Iterator[Problem]:
    for name, schema in schemas.items() if is_object(here.value) else ():
        if name in here.value:
            yield from here.field(name, schema)


def _pattern_properties(schemas: Any, here: Here) -> Iterator[Problem]:
    for text, schema in schemas.items() if is_object(here.value) else ():
        for name in filter(pattern(text), here.value):
            yield from here.field(name, schema)


def _additional_properties(schema: Any, here: Here) -> Iterator[Problem]:
    known = here.schema.get("properties", {})
    patterns = [pattern(text) for text in here.schema.get("patternProperties", ())]
    for name in here.value if is_object(here.value) else ():
        if name in known or any(matches(name) for matches in patterns):
            continue
        if schema is False:
            near = nearest(name, known)
            hint = f"did you mean {near!r}?" if near else f"known: {', '.join(known) or 'none'}"
            expected = f"no property of this name ({hint})"
            yield Problem(pointer_below(here.at, name), expected, shown(here.value[name]))
        else:
            yield from here.field(name, schema)


def _property_names(schema: Any, here: Here) -> Iterator[Problem]:
    for name in here.value if is_object(here.value) else ():
        yield from here.check(schema, name, pointer_below(here.at, name), here.depth)


def _items(schema: Any, here: Here) -> Iterator[Problem]:
    if is_list(here.value):
        for number in range(len(here.schema.get("prefixItems", ())), len(here.value)):
            yield from here.item(number, schema)


def _prefix_items(schemas: Any, here: Here) -> Iterator[Problem]:
    if is_list(here.value):
        for number, schema in enumerate(schemas[: len(here.value)]):
            yield from here.item(number, schema)


def _contains(schema: Any, here: Here) -> Iterator[Problem]:
    if is_list(here.value):
        found = sum(not any(here.item(number, schema)) for number in range(len(here.value)))
        least = here.schema.get("minContains", 1)
        most = here.schema.get("maxContains", len(here.value))
        if not least <= found <= most:
            yield Problem(here.at, f"{least} or more fitting items, at most {most}", str(found))


def _unique_items(wanted: Any, here: Here) -> Iterator[Problem]:
    if wanted and is_list(here.value) and len(set(map(_same, here.value))) < len(here.value):
        yield Problem(here.at, "items that differ", "equal ones")


def _all_of(schemas: Any, here: Here) -> Iterator[Problem]:
    for schema in schemas:
        yield from here.by(schema)


def _any_of(schemas: Any, here: Here) -> Iterator[Problem]:
    if not any(here.fits(schema) for schema in schemas):
        yield here.problem(f"a value of one of {len(schemas)} forms")


def _one_of(schemas: Any, here: Here) -> Iterator[Problem]:
    found = sum(here.fits(schema) for schema in schemas)
    if found != 1:
        yield Problem(here.at, f"a value of just one of {len(schemas)} forms", f"one of {found}")


def _not(schema: Any, here: Here) -> Iterator[Problem]:
    if here.fits(schema):
        yield here.problem("a value of another form")


def _if(schema: Any, here: Here) -> Iterator[Problem]:
    yield from here.by(here.schema.get("then" if here.fits(schema) else "else", True))


CHECKS: Final[dict[str, Check]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _bound(is_number, ge, "at least {}"),
    "maximum": _bound(is_number, le, "at most {}"),
    "exclusiveMinimum": _bound(is_number, gt, "more than {}"),
    "exclusiveMaximum": _bound(is_number, lt, "less than {}"),
    "multipleOf": _bound(is_number, _is_multiple, "a multiple of {}"),
    "minLength": _bound(is_text, _is_long, "{} characters or more"),
    "maxLength": _bound(is_text, _is_short, "{} characters or fewer"),
    "pattern": _pattern,
    "minItems": _bound(is_list, _is_long, "{} items or more"),
    "maxItems": _bound(is_list, _is_short, "{} items or fewer"),
    "uniqueItems": _unique_items,
    "items": _items,
    "prefixItems": _prefix_items,
    "contains": _contains,
    "minProperties": _bound(is_object, _is_long, "{} members or more"),
    "maxProperties": _bound(is_object, _is_short, "{} members or fewer"),
    "required": _required,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
}
"""The check of each keyword that a value can break."""
