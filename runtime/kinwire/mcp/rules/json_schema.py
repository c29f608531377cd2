"""Validate a value by a JSON Schema, for tools that are registered with a schema (2020-12).

It covers the keywords that arguments of tools need. A schema with another keyword is rejected when
it is read, so that no keyword is ignored silently. References stay inside the schema. Patterns are
matched in linear time and therefore cannot have look-around. `json_schema_keywords.py` has the
keywords.
"""

from __future__ import annotations

__all__ = ("JsonSchema",)

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from kinwire.mcp.rules.json_schema_checks import CHECKS, Here
from kinwire.mcp.rules.json_schema_keywords import (
    FORMS,
    SILENT,
    WITH_SCHEMA,
    WITH_SCHEMAS,
    pattern,
)
from kinwire.rpc.codec import is_object
from kinwire.support.json_values import steps_of
from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import Problem

_MAX_DEPTH = 250  # schemas inside schemas: references may form a circle
_MAX_PROBLEMS = 20
_UNCACHED_DEPTH = 8  # schemas inside schemas; most values are not deeper
_MAX_CACHED = 100_000  # results


class JsonSchema:
    """One schema, checked when it is constructed."""

    def __init__(self, schema: JsonObject) -> None:
        """Read a schema.

        Raises:
            ValueError: unsupported keyword, or a keyword with an invalid argument.
        """
        self.root = schema
        try:
            self._read(schema, "")
        except RecursionError:
            raise _wrong("", "a schema that is not nested so deep", "a deeper one") from None

    def problems(
        self,
        value: Any,
        pointer: str = "",
        *,
        within: Any = None,
        spend: Callable[[int], None] | None = None,
    ) -> list[Problem]:
        """Return the problems of `value`, which is at `pointer`; at most 20.

        It is checked by the part `within` of this schema, or by the whole of it if that is None.
        `spend` is called with the cost of each keyword before it is evaluated, about a microsecond
        for 1, and may raise to end the validation.
        """
        schema = self.root if within is None else within
        check = _Check(self.target, spend)
        try:
            return list(islice(check.by(schema, value, pointer, 0), _MAX_PROBLEMS))
        except RecursionError:
            return [Problem(pointer, "a value that is not nested so deep", "a deeper one")]

    def target(self, reference: Any, where: str) -> Any:
        """Return the part of this schema that `reference`, found at `where`, points to.

        Raises:
            ValueError: the reference does not point to a part of this schema.
        """
        here: Any = self.root
        if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            for name in steps_of(reference):
                here = here.get(name) if is_object(here) else None
            if here is not None:
                return here
        raise ValueError(
            f"inputSchema#{where}: expected a reference to a part of this schema, "
            f"got {reference!r:.100}. Put the part into $defs."
        )

    def _read(self, schema: Any, where: str) -> None:
        if isinstance(schema, bool):
            return
        if not is_object(schema):
            raise _wrong(where, "a schema", schema)
        for keyword, argument in schema.items():
            self._read_keyword(keyword, argument, f"{where}/{keyword}")

    def _read_keyword(self, keyword: str, argument: Any, where: str) -> None:
        if keyword == "$ref":
            self.target(argument, where)
        elif keyword in WITH_SCHEMA:
            self._read(argument, where)
        elif keyword in WITH_SCHEMAS:
            for name, inner in _inner(argument, where):
                self._read(inner, f"{where}/{name}")
        elif keyword not in CHECKS and keyword not in SILENT:
            raise ValueError(
                f"inputSchema#{where}: this keyword cannot be checked here. "
                "Leave it out, and check what it says in the handler."
            )
        elif keyword in FORMS and not FORMS[keyword].holds(argument):
            raise _wrong(where, FORMS[keyword].expected, argument)
        for text in _patterns(keyword, argument):
            pattern(text, where)


class _Check:
    """The validation of one value, which caches the results of deep parts.

    Without a cache, branches that each include the rest of the value would validate its end
    exponentially often.
    """

    def __init__(
        self, target: Callable[[Any, str], Any], spend: Callable[[int], None] | None
    ) -> None:
        self._target = target
        self._spend = spend
        self._cache: dict[tuple[int, int, str], Problem | None] = {}

    def by(self, schema: Any, value: Any, pointer: str, depth: int) -> Iterator[Problem]:
        """Yield the problems of `value` by `schema`; a cached result has the first problem only."""
        if depth <= _UNCACHED_DEPTH:
            yield from self._evaluate(schema, value, pointer, depth)
            return
        key = (id(schema), id(value), pointer)  # both objects live longer than this one
        if key not in self._cache:
            problem = None
            for problem in self._evaluate(schema, value, pointer, depth):
                self._store(key, problem)
                yield problem
            if problem is None:
                self._store(key, None)
        elif (known := self._cache[key]) is not None:
            yield known

    def _store(self, key: tuple[int, int, str], problem: Problem | None) -> None:
        if len(self._cache) < _MAX_CACHED:
            self._cache.setdefault(key, problem)

    def _evaluate(self, schema: Any, value: Any, pointer: str, depth: int) -> Iterator[Problem]:
        if schema is True:
            return
        if schema is False:
            yield Problem(pointer, "no value", "one")
            return
        if depth > _MAX_DEPTH:
            yield Problem(pointer, "a value of a schema that ends", "a reference in a circle")
            return
        if "$ref" in schema:
            target = self._target(schema["$ref"], pointer)
            yield from self.by(target, value, pointer, depth + 1)
        for keyword, argument in schema.items():
            test = CHECKS.get(keyword)
            if test is not None:
                if self._spend is not None:
                    self._spend(_cost(keyword, argument, value))
                yield from test(argument, Here(self.by, schema, value, pointer, depth + 1))


def _cost(keyword: str, argument: Any, value: Any) -> int:
    """Return about how long a keyword takes by itself, without the schemas in it."""
    compared = 1 + (len(argument) if type(argument) in (list, dict) else 0)
    if keyword in ("patternProperties", "additionalProperties") and is_object(value):
        return compared * (1 + len(value))
    return compared + (len(value) // 10 if type(value) in (str, list, dict) else 0)


def _inner(argument: Any, where: str) -> Iterator[tuple[str, Any]]:
    if is_object(argument):
        yield from argument.items()
    elif isinstance(argument, list):
        yield from ((str(number), inner) for number, inner in enumerate(argument))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    else:
        raise _wrong(where, "schemas", argument)


def _patterns(keyword: str, argument: Any) -> list[str]:
    if keyword == "pattern":
        return [argument]
    return list(argument) if keyword == "patternProperties" else []


def _wrong(where: str, expected: str, got: Any) -> ValueError:
    return ValueError(f"inputSchema#{where}: expected {expected}, got {got!r:.60}. Fix it.")
