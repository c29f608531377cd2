"""What is wrong with a tool's `inputSchema`, and what some clients cannot do with it.

By the keywords of JSON Schema 2020-12, and the tuples of the drafts before it where `$schema` names
one. Others are let through: a schema may have more than are known. Left out: whether a default or
an example fits.
"""

from __future__ import annotations

__all__ = ("schema_problems",)

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast
from urllib.parse import urldefrag, urljoin

from kinwire.mcp.rules.json_schema_keywords import FORMS, WITH_SCHEMA, WITH_SCHEMAS
from kinwire.rpc.codec import is_object
from kinwire.support.json_values import pointer_below
from kinwire_cli.inspection.problem import ServerProblem
from kinwire_cli.schema_places import referred
from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import shown

_DEPTH = 50  # schemas inside schemas
_CHOICES = ("anyOf", "oneOf", "allOf")
_SAME_VALUE = frozenset({*_CHOICES, "not", "if", "then", "else", "dependentSchemas"})
# Until 2020-12, which has prefixItems, a list of schemas stood in items.
_HAS_TUPLES = re.compile(r"https?://json-schema\.org/(draft-0[467]|draft/2019-09)/schema#?")


def schema_problems(schema: JsonObject, where: str) -> Iterator[ServerProblem]:
    """Yield what is to be said of `schema`, which stands at `where`."""
    for keyword in _CHOICES:
        if keyword in schema:
            text = "stands at the top, where some model providers refuse it."
            yield ServerProblem(
                "warning", f"{where}/{keyword}", text, "List the members in properties."
            )
    yield from _SchemaReader(schema).read(schema, where, 0)


class _Described(NamedTuple):
    """What schemas that hold for one value say of its members, all together."""

    names: set[str]
    more: bool
    """Whether some may be described elsewhere."""


class _SchemaReader:
    """Reads one schema; references lead into its root."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        own, dialect = root.get("$id"), root.get("$schema")
        self._id = own if isinstance(own, str) else ""
        self._tuples = isinstance(dialect, str) and _HAS_TUPLES.fullmatch(dialect) is not None

    def read(
        self, schema: Any, where: str, depth: int, around: _Described | None = None
    ) -> Iterator[ServerProblem]:
        """Yield what is wrong with a schema and those inside it.

        `around` is what it and those around it say of the same value; None if it is the outermost.
        """
        if isinstance(schema, bool) or depth > _DEPTH:
            return
        if not is_object(schema):
            yield _wrong(where, "a schema", schema)
            return
        known = around or self._described(schema)
        for keyword, argument in schema.items():
            place = pointer_below(where, keyword)
            yield from self._keyword(keyword, argument, place)
            same = known if keyword in _SAME_VALUE else None
            for inner, at in self._inner(keyword, argument, place):
                yield from self.read(inner, at, depth + 1, same)
        yield from _unknown_names(schema, known, where)

    def _described(self, schema: JsonObject) -> _Described:
        names: set[str] = set()
        more = False
        level = [schema]
        for _ in range(_DEPTH):
            for one in level:
                properties = one.get("properties", {})
                names.update(properties if is_object(properties) else ())
                more = more or not is_object(properties)
                more = more or "patternProperties" in one or "$ref" in one
            level = [inner for one in level for inner in self._of_same_value(one)]
        return _Described(names, more or bool(level))

    def _of_same_value(self, schema: JsonObject) -> Iterator[JsonObject]:
        for keyword in _SAME_VALUE & schema.keys():
            for inner, _ in self._inner(keyword, schema[keyword], ""):
                if is_object(inner):
                    yield inner

    def _keyword(self, keyword: str, argument: Any, where: str) -> Iterator[ServerProblem]:
        if keyword == "$ref":
            yield from self._reference(argument, where)
        elif keyword in FORMS and not FORMS[keyword].holds(argument):
            yield _wrong(where, FORMS[keyword].expected, argument)
        elif keyword == "pattern":
            yield from _pattern(argument, where)
        elif keyword in WITH_SCHEMAS and not isinstance(argument, (dict, list)):
            yield _wrong(where, "schemas", argument)

    def _reference(self, reference: Any, where: str) -> Iterator[ServerProblem]:
        if not isinstance(reference, str):
            yield _wrong(where, "a reference", reference)
        elif (local := self._local(reference)) is None:
            text = f"refers to {shown(reference)}, which clients do not fetch."
            yield ServerProblem("warning", where, text, "Put the part into $defs.")
        elif local != "#" and not self._leads_somewhere(local):
            text = f"refers to {shown(reference)}, which is not there."
            yield ServerProblem("error", where, text, "Put the part into $defs.")

    def _local(self, reference: str) -> str | None:
        """Return the fragment that `reference` leads to in this schema, None if it leads out."""
        if reference.startswith("#"):
            return reference
        try:
            target, fragment = urldefrag(urljoin(self._id, reference))
            own = urldefrag(self._id).url
        except ValueError:  # no address
            return None
        return f"#{fragment}" if target == own else None

    def _leads_somewhere(self, reference: str) -> bool:
        if not reference.startswith("#/"):
            return True  # an anchor
        return referred(self._root, reference) is not None

    def _inner(self, keyword: str, argument: Any, where: str) -> Iterator[tuple[Any, str]]:
        many = keyword in WITH_SCHEMAS or (self._tuples and keyword == "items")
        if many and isinstance(argument, list):
            items = cast("list[object]", argument)
            yield from ((inner, f"{where}/{number}") for number, inner in enumerate(items))
        elif keyword in WITH_SCHEMA:
            yield argument, where
        elif many and is_object(argument):
            yield from ((inner, pointer_below(where, name)) for name, inner in argument.items())


def _unknown_names(schema: JsonObject, known: _Described, where: str) -> Iterator[ServerProblem]:
    required = schema.get("required")
    if not isinstance(required, list) or known.more:
        return
    for name in cast("list[object]", required):
        if isinstance(name, str) and name not in known.names:
            text = f"asks for {shown(name)}, which is not in properties."
            yield ServerProblem(
                "warning", f"{where}/required", text, "Describe it, or leave it out."
            )


def _pattern(text: str, where: str) -> Iterator[ServerProblem]:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        said = f"{shown(text)} may not be a valid pattern: {error}."
        yield ServerProblem("warning", where, said, "Write it as ECMA-262 has it.")


def _wrong(where: str, expected: str, got: Any) -> ServerProblem:
    return ServerProblem(
        "error", where, f"expected {expected}, got {shown(got)}.", "Fix the schema."
    )
