"""Do the examples and defaults of a document fit the types they stand on?"""

from __future__ import annotations

__all__ = ("examples_that_do_not_fit",)

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from kinwire_codegen.document import Document, Documents, resolve
from kinwire_codegen.findings import Fault, Place, pointer


def _registry(documents: Documents) -> Registry[Any]:
    resources = [(d.file, DRAFT202012.create_resource(d.content)) for d in documents]
    return Registry[Any]().with_resources(resources)


def examples_that_do_not_fit(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield a fault for each example, default or row of a table that breaks its own type."""
    registry = _registry(documents)
    for reference, place, value in _values(document):
        for error in Draft202012Validator(reference, registry=registry).iter_errors(value):
            what = f"it does not fit the type: {error.message}"
            at = pointer(*place, *error.absolute_path)
            yield at, what, "Correct the value or the type."


def _values(document: Document) -> Iterator[tuple[dict[str, str], Place, Any]]:
    """Yield each value that stands in the document, with the type that it must fit."""
    for node, place in document.types:
        kind = {"$ref": f"{document.file}#{pointer(*place)}"}
        if "default" in node:
            yield kind, (*place, "default"), node["default"]
        for index, value in enumerate(node.get("examples", ())):
            yield kind, (*place, "examples", index), value
    for name, table in document.table("tables").items():
        protocol, kind_name = resolve(table["type"], document.name)
        kind = {"$ref": f"{protocol}.json#/$defs/{kind_name}"}
        for index, row in enumerate(table["rows"]):
            yield kind, ("tables", name, "rows", index), row
