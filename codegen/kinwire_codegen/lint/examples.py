"""Do the examples and defaults of a document fit the types they stand on?"""

from __future__ import annotations

__all__ = ("examples_that_do_not_fit", "misfits")

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import pydantic_core
from jsonschema import Draft202012Validator, ValidationError, validators
from pydantic_core import SchemaError, SchemaValidator, core_schema
from referencing import Registry

from kinwire_codegen.load.document import Document, Documents, resolve
from kinwire_codegen.load.findings import Fault, Place, pointer


def _pattern(
    validator: Any, pattern: str, value: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    """Match in linear time, as the bindings do: `re` hangs on some patterns and values."""
    if isinstance(value, str) and not _matches(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _matches(pattern: str, value: str) -> bool:
    try:
        _compiled(pattern).validate_python(value)
    except SchemaError:
        return True  # another rule reports the pattern
    except pydantic_core.ValidationError:
        return False
    return True


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> SchemaValidator:
    return SchemaValidator(core_schema.str_schema(pattern=pattern))


_Validator = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": _pattern}
)


class _Resolved(NamedTuple):
    contents: dict[str, Any]
    resolver: _Resolver


class _Resolver(NamedTuple):
    """Finds what `$ref` names. That of `referencing` would take a third of the validator's time."""

    documents: Documents
    home: str

    def lookup(self, ref: str) -> _Resolved:
        there = resolve(ref, self.home)
        return _Resolved(
            self.documents.definition(there), _Resolver(self.documents, there.protocol)
        )

    def in_subresource(self, _: Any) -> _Resolver:
        return self  # no type has an `$id`


def examples_that_do_not_fit(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield a fault for each example, default or row of a table that breaks its own type."""
    for place, error in misfits(document, documents):
        what = f"it does not fit the type: {error.message}"
        yield pointer(*place, *error.absolute_path), what, "Correct the value or the type."


def misfits(document: Document, documents: Documents) -> Iterator[tuple[Place, ValidationError]]:
    """Yield the place of each example, default or row that breaks its own type, with the error."""
    validator = _Validator({}, registry=Registry())  # reads nothing outside the documents
    resolver = _Resolver(documents, document.name)
    for node, place, value in _values(document):
        for error in validator.descend(value, node, resolver=resolver):
            yield place, error


def _values(document: Document) -> Iterator[tuple[dict[str, Any], Place, Any]]:
    """Yield each value that stands in the document, with the type that it must fit."""
    for node, place in document.types:
        if "default" in node:
            yield node, (*place, "default"), node["default"]
        for index, value in enumerate(node.get("examples", ())):
            yield node, (*place, "examples", index), value
    for name, table in document.table("tables").items():
        protocol, kind_name = resolve(table["type"], document.name)
        kind = {"$ref": f"{protocol}.json#/$defs/{kind_name}"}
        for index, row in enumerate(table["rows"]):
            yield kind, ("tables", name, "rows", index), row
