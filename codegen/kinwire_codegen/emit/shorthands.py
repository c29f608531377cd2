"""Arrays with a short form: a string that is read as a list of one object.

The short form is what some peers send. It is read wherever such an array is, and never written:
JSON Schemas for others have only the array.
"""

from __future__ import annotations

__all__ = ("with_shorthands",)

import re

from kinwire_codegen.load.document import Document, resolve
from kinwire_codegen.load.names import snake_name


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
