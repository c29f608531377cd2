"""Descriptions of fields, from the docstrings of classes, for those that ask for them.

A class names its fields below `Attributes:` in its docstring, which `help` shows. What pydantic
would make of it at import, and few programs need, is made on demand.
"""

from __future__ import annotations

import re
from inspect import Signature, cleandoc
from typing import Any

from pydantic import BaseModel, PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo

__all__ = ("describe_schema", "described_fields", "signature_of")

_HEADING = "\n\nAttributes:\n"
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n {8}.*|\n(?=\n| {8}))*)", re.MULTILINE)


def described_fields(owner: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields of a class by name, each with its description."""
    fields = owner.__pydantic_fields__
    if any(field.description is None for field in fields.values()):
        texts = _texts_of(owner)
        for name, field in fields.items():
            field.description = field.description or texts.get(name)
    return fields


def signature_of(owner: type[BaseModel]) -> Signature:
    """Build a class, which sets its signature, and return that.

    Raises:
        AttributeError: the class cannot be built yet.
    """
    try:
        owner.model_rebuild()
    except PydanticUndefinedAnnotation as error:
        raise AttributeError("__signature__") from error
    built: Any = owner.__dict__["__signature__"]
    made: Signature = built.__get__(None, owner)
    return made


def describe_schema(schema: dict[str, Any], owner: type[BaseModel]) -> None:
    """Move the descriptions of the fields from that of the class to the properties."""
    if "description" in schema:
        schema["description"] = _divided(schema["description"])[0]
    properties: dict[str, dict[str, Any]] = schema.get("properties", {})
    for name, field in described_fields(owner).items():
        found = properties.get(field.alias or name, properties.get(name))
        if found is not None and field.description is not None:
            found.setdefault("description", field.description)


def _texts_of(owner: type[BaseModel]) -> dict[str, str]:
    found: dict[str, str] = {}
    for kind in reversed(owner.__mro__):
        _, listed = _divided(cleandoc(kind.__doc__ or ""))
        found |= {name: cleandoc(text) for name, text in _ATTRIBUTE.findall(listed)}
    return found


def _divided(docstring: str) -> tuple[str, str]:
    """Return what a docstring says of the class, and the lines about its fields."""
    about, heading, listed = docstring.rpartition(_HEADING)
    return (about, listed) if heading else (docstring, "")
