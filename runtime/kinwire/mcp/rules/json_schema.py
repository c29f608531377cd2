"""A JSON Schema against a value, for tools whose schema is given and not made (2020-12).

What a tool's arguments need of it; a keyword beyond that is refused when the schema is read, so
that none is passed over in silence. References stay inside the schema. Patterns are matched in
linear time, so without look-around. `json_schema_keywords.py` has the keywords.
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

_DEPTH = 250  # schemas inside schemas: a reference may lead round in a circle
_MOST = 20  # problems that are looked for
_SHALLOW = 8  # schemas inside schemas up to which nothing is kept: most values end there
_KEPT = 100_000  # places


class JsonSchema:
    """One schema, checked when it is made."""

    def __init__(self, schema: JsonObject) -> None:
        """Read a schema.

        Raises:
            ValueError: it has a keyword that is not known here, or one of a wrong form.
        """
        self._root = schema
        self._read(schema, "")

    def problems(self, value: Any, pointer: str = "") -> list[Problem]:
        """Return what is wrong with `value`, which stands at `pointer`; at most 20 problems."""
        return list(islice(_Check(self.target).by(self._root, value, pointer, 0), _MOST))

    def target(self, reference: Any, where: str) -> Any:
        """Return the part of this schema that `reference`, which stands at `where`, names.

        Raises:
            ValueError: there is none.
        """
        here: Any = self._root
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
    """The check of one value, which keeps what it has found deep inside.

    Branches that each look at the whole rest would ask about its end very many times.
    """

    def __init__(self, target: Callable[[Any, str], Any]) -> None:
        self._target = target
        self._found: dict[tuple[int, int, str], Problem | None] = {}

    def by(self, schema: Any, value: Any, pointer: str, depth: int) -> Iterator[Problem]:
        """Yield what is wrong with `value` by `schema`; asked again, no more than the first."""
        if depth <= _SHALLOW:
            yield from self._anew(schema, value, pointer, depth)
            return
        place = (id(schema), id(value), pointer)  # both live longer than this
        if place not in self._found:
            problem = None
            for problem in self._anew(schema, value, pointer, depth):
                self._keep(place, problem)
                yield problem
            if problem is None:
                self._keep(place, None)
        elif (known := self._found[place]) is not None:
            yield known

    def _keep(self, place: tuple[int, int, str], problem: Problem | None) -> None:
        if len(self._found) < _KEPT:
            self._found.setdefault(place, problem)

    def _anew(self, schema: Any, value: Any, pointer: str, depth: int) -> Iterator[Problem]:
        if schema is True:
            return
        if schema is False:
            yield Problem(pointer, "no value", "one")
            return
        if depth > _DEPTH:
            yield Problem(pointer, "a value of a schema that ends", "a reference in a circle")
            return
        if "$ref" in schema:
            target = self._target(schema["$ref"], pointer)
            yield from self.by(target, value, pointer, depth + 1)
        for keyword, argument in schema.items():
            test = CHECKS.get(keyword)
            if test is not None:
                yield from test(argument, Here(self.by, schema, value, pointer, depth + 1))


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
    return ValueError(f"inputSchema#{where}: expected {expected}, got {got!r:.60}. Mend it.")
