"""Read a schema of any draft as one of 2020-12 that `JsonSchema` can check.

What cannot be checked is left out, and so is what is not valid. A part that lost a keyword accepts
more values. In a schema that has such a part `not` and `if` are left out, too, and `oneOf` is read
as `anyOf`: no value is refused that the whole schema would accept.
"""

from __future__ import annotations

__all__ = ("readable",)

import re
from collections.abc import Iterator
from typing import Any, Final, TypeGuard
from urllib.parse import unquote

from kinwire.mcp.rules.json_schema_checks import CHECKS
from kinwire.mcp.rules.json_schema_keywords import (
    FORMS,
    WITH_SCHEMA,
    WITH_SCHEMAS,
    pattern,
)
from kinwire.rpc.codec import is_object
from kinwire.support.json_values import pointer_below, steps_of
from kinwire_protocols.base import JsonObject

_OLD: Final = re.compile(r"https?://json-schema\.org/draft-0[3-7]/")
_UNCHECKED: Final = frozenset(
    {"$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties"}
)
_WEAK: Final = frozenset({"not", "if", "then", "else", "maxContains"})
"""Keywords that refuse more if a part accepts more."""
_COUNTS: Final = frozenset(
    f"{end}{what}"
    for end in ("min", "max")
    for what in ("Length", "Items", "Properties", "Contains")
)
_PARTS: Final = ("$defs", "definitions")
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_BOUNDS: Final = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_REPEAT: Final = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_MOST_PATTERNS = 200
_LONGEST_PATTERN = 500  # characters
_MOST_REPEATED = 1000  # all counts in one pattern multiplied: a pattern is compiled written out


def readable(schema: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """Return the schema as `JsonSchema` reads it, and what is left out: pointers with the reason.

    Raises:
        ValueError: a reference leads out of the schema.
    """
    reader = _Reader(schema, weak=False)
    plain = reader.whole()
    unchecked = reader.unchecked
    if unchecked:
        plain = _Reader(schema, weak=True).whole()
    return plain, tuple(dict.fromkeys(unchecked))


class _Reader:
    def __init__(self, root: JsonObject, *, weak: bool) -> None:
        self._root = root
        self._weak = weak
        self._ref_stands_alone = _OLD.match(str(root.get("$schema", ""))) is not None
        self._names = dict(_names(root))
        self._has_resources = any(not name.startswith("#") for name in self._names)
        self._patterns = 0
        self._parts: dict[str, JsonObject | bool | None] = {}  # referred to: by pointer
        self.unchecked: list[str] = []

    def whole(self) -> JsonObject:
        """Return the schema; each part that is referred to stands in its `$defs`."""
        made: Any = self.read(self._root, "#")
        while waiting := [pointer for pointer, part in self._parts.items() if part is None]:
            for pointer in waiting:
                self._parts[pointer] = self.read(self._target(pointer), pointer)
        places = enumerate(self._parts.values())
        return {**made, "$defs": {str(number): part for number, part in places}}

    def read(self, schema: Any, where: str) -> Any:
        """Return a schema that can be checked."""
        if isinstance(schema, bool):
            return schema
        if not is_object(schema):
            self._leave_out(where, "it is not a schema")
            return True
        made: JsonObject = {}
        for keyword, argument in self._counted(_of_draft(schema)):
            at = pointer_below(where, keyword)
            if keyword in _UNCHECKED:
                self._leave_out(at, "it cannot be checked here")
            elif self._can_be_read(keyword, argument, at):
                self._add(made, keyword, argument, at)
        self._drop_rest(made, schema)
        return made

    def _counted(self, schema: JsonObject) -> Iterator[tuple[str, Any]]:
        """Yield the keywords that count: until draft 7, `$ref` stood alone."""
        alone = self._ref_stands_alone and "$ref" in schema
        for keyword, argument in schema.items():
            weak = self._weak and keyword in _WEAK
            if not weak and keyword not in _PARTS and (not alone or keyword == "$ref"):
                yield keyword, argument

    def _can_be_read(self, keyword: str, argument: Any, at: str) -> bool:
        """Return whether the argument of a keyword is valid, if the keyword is known."""
        if keyword in WITH_SCHEMAS:
            valid = isinstance(argument, list if keyword in _LISTS else dict)
        else:
            valid = keyword not in FORMS or FORMS[keyword].holds(argument)
        if not valid:
            self._leave_out(at, "its argument is not valid")
        return valid and (keyword != "pattern" or self._has_pattern(argument, at))

    def _add(self, made: JsonObject, keyword: str, argument: Any, at: str) -> None:
        if keyword == "$ref":
            made[keyword] = self._reference(argument, at)
        elif keyword in WITH_SCHEMA:
            made[keyword] = self.read(argument, at)
        elif keyword in WITH_SCHEMAS and _is_array(argument):
            parts = [self.read(inner, f"{at}/{number}") for number, inner in enumerate(argument)]
            _add_parts(made, "anyOf" if self._weak and keyword == "oneOf" else keyword, parts)
        elif keyword in WITH_SCHEMAS:
            made[keyword] = {
                name: self.read(inner, pointer_below(at, name))
                for name, inner in argument.items()
                if keyword != "patternProperties" or self._has_pattern(name, at)
            }
        elif keyword in CHECKS or keyword in FORMS:
            made[keyword] = argument

    def _drop_rest(self, made: JsonObject, schema: JsonObject) -> None:
        """Drop what holds for the rest of an object, if a part of it was left out."""
        patterns = schema.get("patternProperties")
        if patterns is not None and len(made.get("patternProperties", ())) != len(patterns):
            made.pop("additionalProperties", None)

    def _has_pattern(self, text: str, at: str) -> bool:
        """Return whether a pattern can be matched in linear time, and compiled in short time."""
        self._patterns += 1
        repeated = 1
        for found in _REPEAT.finditer(text[:_LONGEST_PATTERN]):
            repeated *= max(int(one[:6] or 0) for one in (found[1], found[2] or "")) or 1
        if (
            self._patterns > _MOST_PATTERNS
            or len(text) > _LONGEST_PATTERN
            or repeated > _MOST_REPEATED
        ):
            self._leave_out(at, "the pattern is too large")
            return False
        try:
            pattern(text)
        except ValueError:
            self._leave_out(at, "the pattern has look-around or is not valid")
            return False
        return True

    def _reference(self, reference: Any, at: str) -> str:
        """Return a reference to a part in the `$defs` that are made.

        Raises:
            ValueError: it leads to another document, or to nothing.
        """
        pointer = None
        if isinstance(reference, str):
            pointer = self._names.get(reference)
            plain = not self._has_resources and (reference == "#" or reference.startswith("#/"))
            if pointer is None and plain:
                pointer = unquote(reference)
        if pointer is None or self._target(pointer) is None:
            raise ValueError(
                f"{at}: expected a reference to a part of the same schema, "
                f"got {reference!r:.100}. Nothing is fetched."
            )
        self._parts.setdefault(pointer, None)
        return f"#/$defs/{list(self._parts).index(pointer)}"

    def _target(self, pointer: str) -> Any:
        here: Any = self._root
        for name in steps_of(pointer):
            if _is_array(here):
                known = name.isdecimal() and int(name[:6]) < len(here)
                here = here[int(name)] if known else None
            else:
                here = here.get(name) if is_object(here) else None
        return here

    def _leave_out(self, at: str, reason: str) -> None:
        self.unchecked.append(f"{at}: {reason}")


def _of_draft(schema: JsonObject) -> JsonObject:
    """Return a schema in the keywords of 2020-12."""
    made = dict(schema)
    if isinstance(made.get("items"), list):
        made["prefixItems"] = made.pop("items")
        if "additionalItems" in made:
            made["items"] = made["additionalItems"]
    dependencies = made.pop("dependencies", None)
    if is_object(dependencies):
        _split(made, dependencies)
    _bounds(made)
    for keyword in _COUNTS & made.keys():
        if isinstance(made[keyword], float) and made[keyword].is_integer():
            made[keyword] = int(made[keyword])
    return made


def _bounds(made: JsonObject) -> None:
    """Replace what drafts 3 and 4 wrote as true and false."""
    for exclusive, bound in _BOUNDS.items():
        if isinstance(made.get(exclusive), bool) and made.pop(exclusive) and bound in made:
            made[exclusive] = made.pop(bound)
    if isinstance(made.get("required"), bool):
        del made["required"]


def _split(made: JsonObject, dependencies: JsonObject) -> None:
    names = {name: one for name, one in dependencies.items() if _is_array(one)}
    schemas = {name: one for name, one in dependencies.items() if name not in names}
    if names:
        made["dependentRequired"] = {**names, **made.get("dependentRequired", {})}
    if schemas:
        made["dependentSchemas"] = {**schemas, **made.get("dependentSchemas", {})}


def _add_parts(made: JsonObject, keyword: str, parts: list[Any]) -> None:
    if keyword == "allOf" or keyword not in made:
        made[keyword] = [*made.get(keyword, ()), *parts]
    else:
        made["allOf"] = [*made.get("allOf", ()), {keyword: parts}]


def _names(root: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield how parts of the schema may be referred to by name, with the pointer to each."""
    todo: list[tuple[Any, str]] = [(root, "#")]
    while todo:
        here, at = todo.pop()
        if is_object(here):
            if isinstance(anchor := here.get("$anchor"), str):
                yield f"#{anchor}", at
            if isinstance(name := here.get("$id"), str) and (at != "#" or name.startswith("#")):
                yield name, at
            todo += [(inner, pointer_below(at, key)) for key, inner in here.items()]
        elif _is_array(here):
            todo += [(inner, f"{at}/{number}") for number, inner in enumerate(here)]


def _is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
