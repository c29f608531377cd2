"""What is wrong with a tool's `inputSchema`, and what some clients cannot do with it.

By the keywords of JSON Schema 2020-12. Others are let through: a schema may have more than
are known. Left out: whether a default or an example fits.
"""

from __future__ import annotations

__all__ = ("schema_findings",)

import re
from collections.abc import Iterator
from typing import Any, cast

from kinwire.cli.inspection.finding import Finding
from kinwire.cli.schema_places import referred
from kinwire.gates import at_path
from kinwire.json_pointer import pointer_below
from kinwire.mcp.rules.json_schema_keywords import FORMS, WITH_SCHEMA, WITH_SCHEMAS
from kinwire.messages.jsonrpc import is_object
from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import shown

_DEPTH = 50  # schemas inside schemas
_CHOICES = ("anyOf", "oneOf", "allOf")


def schema_findings(schema: JsonObject, where: str) -> Iterator[Finding]:
    """Yield what is to be said of `schema`, which stands at `where`."""
    for keyword in _CHOICES:
        if keyword in schema:
            text = "stands at the top, where some model providers refuse it."
            yield Finding("warning", f"{where}/{keyword}", text, "List the members in properties.")
    yield from _Reader(schema).read(schema, where, 0)


class _Reader:
    """Reads one schema; references lead into its root."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root

    def read(self, schema: Any, where: str, depth: int) -> Iterator[Finding]:
        """Yield what is wrong with a schema and those inside it."""
        if isinstance(schema, bool) or depth > _DEPTH:
            return
        if not is_object(schema):
            yield _wrong(where, "a schema", schema)
            return
        for keyword, argument in schema.items():
            place = pointer_below(where, keyword)
            yield from self._keyword(keyword, argument, place)
            for inner, at in _inner(keyword, argument, place):
                yield from self.read(inner, at, depth + 1)
        yield from _unknown_names(schema, where)

    def _keyword(self, keyword: str, argument: Any, where: str) -> Iterator[Finding]:
        if keyword == "$ref":
            yield from self._reference(argument, where)
        elif keyword in FORMS and not FORMS[keyword].holds(argument):
            yield _wrong(where, FORMS[keyword].expected, argument)
        elif keyword == "pattern":
            yield from _pattern(argument, where)
        elif keyword in WITH_SCHEMAS and not isinstance(argument, (dict, list)):
            yield _wrong(where, "schemas", argument)

    def _reference(self, reference: Any, where: str) -> Iterator[Finding]:
        if not isinstance(reference, str):
            yield _wrong(where, "a reference", reference)
        elif not reference.startswith("#"):
            text = f"refers to {shown(reference)}, which clients do not fetch."
            yield Finding("warning", where, text, "Put the part into $defs.")
        elif reference != "#" and not self._leads_somewhere(reference):
            text = f"refers to {shown(reference)}, which is not there."
            yield Finding("error", where, text, "Put the part into $defs.")

    def _leads_somewhere(self, reference: str) -> bool:
        if not reference.startswith("#/"):
            return True  # an anchor
        return referred(self._root, reference) is not None


def _inner(keyword: str, argument: Any, where: str) -> Iterator[tuple[Any, str]]:
    if keyword in WITH_SCHEMA:
        yield argument, where
    elif keyword in WITH_SCHEMAS and is_object(argument):
        yield from ((inner, pointer_below(where, name)) for name, inner in argument.items())
    elif keyword in WITH_SCHEMAS and isinstance(argument, list):
        items = cast("list[object]", argument)
        yield from ((inner, f"{where}/{number}") for number, inner in enumerate(items))


def _unknown_names(schema: JsonObject, where: str) -> Iterator[Finding]:
    required, known = schema.get("required"), at_path(schema, "properties")
    if not isinstance(required, list) or (known is not None and not is_object(known)):
        return
    for name in cast("list[object]", required):
        if isinstance(name, str) and name not in (known or {}) and not _is_open(schema):
            text = f"asks for {shown(name)}, which is not in properties."
            yield Finding("warning", f"{where}/required", text, "Describe it, or leave it out.")


def _is_open(schema: JsonObject) -> bool:
    # The member may be described elsewhere.
    return any(word in schema for word in (*_CHOICES, "patternProperties", "$ref"))


def _pattern(text: str, where: str) -> Iterator[Finding]:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        said = f"{shown(text)} may be no pattern: {error}."
        yield Finding("warning", where, said, "Write it as ECMA-262 has it.")


def _wrong(where: str, expected: str, got: Any) -> Finding:
    return Finding("error", where, f"expected {expected}, got {shown(got)}.", "Mend the schema.")
