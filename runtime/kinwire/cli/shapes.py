"""A JSON schema in a few words: what type a value has, and within which limits."""

from __future__ import annotations

__all__ = ("limits_of", "shape_of")

import json
from typing import Any

_LIMITS = (
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
)


def shape_of(schema: Any, definitions: Any = None) -> str:
    """Return the type: `integer`, `Tool[]`, `"a" | "b"`; what a peer sent may hold anything.

    A reference is its name, or the values where `definitions` say that it has certain ones only.
    """
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            return _values_of(name, definitions) or name
        case {"const": constant}:
            return json.dumps(constant, ensure_ascii=False)
        case {"enum": [*choices]}:
            return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
        case {"anyOf": [*choices]} | {"oneOf": [*choices]}:
            return " | ".join(shape_of(choice, definitions) for choice in choices)
        case {"type": "array", "items": {**items}}:
            return f"{_grouped(shape_of(items, definitions))}[]"
        case {"type": str(kind)}:
            return kind
        case {"type": [*kinds]}:
            return " | ".join(map(str, kinds))
        case _:
            return "any"


def _values_of(name: str, definitions: Any) -> str | None:
    """Return the values of the type of that name if it has certain ones only."""
    match definitions:
        case {**named}:
            found = named.get(name)
        case _:
            return None
    match found:
        case {"enum": _} | {"const": _}:
            return shape_of(found)
        case _:
            return None


def limits_of(schema: dict[str, Any]) -> list[str]:
    """Return each limit as the schema words it: `minimum 0`, `default "utf-8"`."""
    return [
        f"{word} {json.dumps(schema[word], ensure_ascii=False)}"
        for word in _LIMITS
        if word in schema
    ]


def _grouped(shape: str) -> str:
    return f"({shape})" if " | " in shape else shape
