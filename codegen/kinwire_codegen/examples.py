"""Do the examples and defaults of a document fit the types they stand on?"""

from __future__ import annotations

__all__ = ("examples_that_do_not_fit",)

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from kinwire_codegen.document import Document, Documents, Place
from kinwire_codegen.findings import Fault, pointer


def _registry(documents: Documents) -> Registry[Any]:
    resources = [(d.file, DRAFT202012.create_resource(d.content)) for d in documents]
    return Registry[Any]().with_resources(resources)


def examples_that_do_not_fit(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield a fault for each example or default that breaks its own type."""
    registry = _registry(documents)
    for node, place in document.types():
        kind = Draft202012Validator(
            {"$ref": f"{document.file}#{pointer(*place)}"}, registry=registry
        )
        for where, value in _values(node):
            for error in kind.iter_errors(value):
                what = f"it does not fit the type: {error.message}"
                at = pointer(*place, *where, *error.absolute_path)
                yield at, what, "Mend the value or the type."


def _values(node: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
    if "default" in node:
        yield ("default",), node["default"]
    for index, value in enumerate(node.get("examples", ())):
        yield ("examples", index), value
