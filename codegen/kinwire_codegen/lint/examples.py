"""Do the examples and defaults of a document fit the types they stand on?"""

from __future__ import annotations

__all__ = ("examples_that_do_not_fit", "misfits")

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import SchemaValidator, ValidationError, core_schema

from kinwire_codegen.load.compiled import compiled
from kinwire_codegen.load.document import Document, Documents, resolve
from kinwire_codegen.load.findings import Fault, Place, pointer
from kinwire_codegen.load.patterns import PatternError, translated

if TYPE_CHECKING:
    from jsonschema import ValidationError as Misfit


@cache
def _validator_class() -> Any:
    """Return the class of validators that read patterns as the bindings do.

    `re` has other character classes, and hangs on some patterns and values.
    """
    from jsonschema import Draft202012Validator, ValidationError as Misfit, validators

    def pattern(_: Any, pattern: str, value: Any, __: Mapping[str, Any]) -> Iterator[Misfit]:
        if isinstance(value, str) and not _matches(pattern, value):
            yield Misfit(f"{value!r} does not match {pattern!r}")

    extended: Any = validators.extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {"pattern": pattern}
    )
    return extended


def _matches(pattern: str, value: str) -> bool:
    try:
        _pattern(pattern).validate_python(value)
    except PatternError:
        return True  # another rule reports it
    except ValidationError:
        return False
    return True


@lru_cache(maxsize=256)
def _pattern(pattern: str) -> SchemaValidator:
    return SchemaValidator(core_schema.str_schema(pattern=translated(pattern)))


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


def misfits(document: Document, documents: Documents) -> Iterator[tuple[Place, Misfit]]:
    """Yield the place of each example, default or row that breaks its own type, with the error."""
    found = [*_values(document)]
    types = {"$defs": document.definitions, "prefixItems": [node for node, _, _ in found]}
    values = [value for _, _, value in found]
    if not found or compiled(types, documents.registry, _matches)(values):
        return
    from referencing import Registry

    validator = _validator_class()({}, registry=Registry())  # reads nothing outside the documents
    resolver = _Resolver(documents, document.name)
    for node, place, value in found:
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
