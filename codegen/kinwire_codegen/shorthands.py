"""Arrays with a short form: a string that is read as a list of one object.

The short form is what some peers send. It is read wherever such an array is, and never written:
JSON Schemas for others have only the array.
"""

from __future__ import annotations

__all__ = ("shorthands_fit", "with_shorthands")

import re
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.document import Document, Documents, Reference, members_of, resolve
from kinwire_codegen.findings import Fault, pointer
from kinwire_codegen.names import snake_name

Node = dict[str, Any]


def shorthands_fit(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield the short forms of `document` that cannot be read as an item of their array."""
    for node, place in document.types:
        if "shorthand" not in node:
            continue
        at = pointer(*place, "shorthand")
        if len(place) > 2 or node.get("type") != "array":
            hint = "Give the array a name in $defs, and write it there."
            yield at, "a short form belongs to an array in $defs", hint
            continue
        item = resolve(node["shorthand"]["$ref"], document.name)
        if item not in _items(documents, document.name, node):
            yield at, f"{item.name!r} is not an item of the array", "Name one of its items."
        elif not _is_made_of_text(documents, item, node["shorthand"]["member"]):
            what = f"a string does not make a whole {item.name!r}"
            hint = "Name its member of type string; the others have to be optional or constant."
            yield at, what, hint


def with_shorthands(document: Document, models: str, shared: str) -> str:
    """Return a module of models in which the arrays of `document` read their short forms.

    `shared` is the package that has the base class.
    """
    for name, node in document.definitions.items():
        if "shorthand" not in node:
            continue
        kind = resolve(node["shorthand"]["$ref"], document.name).name
        short = f'Shorthand({kind}, "{snake_name(node["shorthand"]["member"])}")'
        alias = rf'^({name} = TypeAliasType\(\s*"{name}",\s*)(.+?)(,?\s*\))$'
        made = rf"\1Annotated[\2, {short}]\3"
        models, count = re.subn(alias, made, models, count=1, flags=re.M | re.S)
        if not count:
            raise TypeError(f"the model generator made no alias of the array {name}")
        imports = f"from typing import Annotated\nfrom {shared}.base import Shorthand\n"
        models = re.sub(r"^(?=from )", imports, models, count=1, flags=re.M)
    return models


def _items(documents: Documents, home: str, node: Node) -> set[Reference]:
    """Return the types that an item of an array may be."""
    found: set[Reference] = set()
    waiting = [(node.get("items", {}), home)]
    while waiting:
        here, home = waiting.pop()
        if "$ref" in here:
            reference = resolve(here["$ref"], home)
            if reference not in found:
                found.add(reference)
                waiting.append((documents.definition(reference), reference.protocol))
        waiting += ((branch, home) for key in ("anyOf", "oneOf") for branch in here.get(key, ()))
    return found


def _is_made_of_text(documents: Documents, item: Reference, member: str) -> bool:
    members, required = members_of(documents, item)
    if member not in members or members[member][1].get("type") != "string":
        return False
    return all("const" in members[name][1] for name in required - {member})
