"""Keywords of third-party JSON Schemas whose values are of a wrong kind."""

from __future__ import annotations

__all__ = ("MalformedSchemaError", "check_keywords")

from collections.abc import Callable
from typing import Any

_KINDS = ("null", "boolean", "integer", "number", "string", "array", "object")


class MalformedSchemaError(ValueError):
    """A schema is not valid; the message names the type, the keyword and what was expected."""


def check_keywords(node: Any, owner: str) -> None:
    """Refuse a schema with a keyword of a wrong kind; inner schemas are not looked into.

    Raises:
        MalformedSchemaError: `owner`, the type with this schema, has to be corrected.
    """
    if not _is_schema(node):
        raise MalformedSchemaError(f"{owner}: {_shown(node)} is not a schema, which is an object")
    for key, value in node.items() if isinstance(node, dict) else ():
        what, fits = _FORMS.get(key, ("", _is_anything))
        if not fits(value):
            raise MalformedSchemaError(f"{owner} {key}: {_shown(value)} is not {what}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_anything(_: Any) -> bool:
    return True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_number_or_flag(value: Any) -> bool:
    return isinstance(value, int | float)  # a flag in draft 4


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_names(value: Any) -> bool:
    return isinstance(value, bool) or (_is_list(value) and all(map(_is_text, value)))


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _is_schemas(value: Any) -> bool:
    return _is_list(value) and bool(value) and all(map(_is_schema, value))


def _is_fields(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_schema, value.values()))


def _is_items(value: Any) -> bool:
    return _is_schema(value) or (_is_list(value) and all(map(_is_schema, value)))


def _is_type(value: Any) -> bool:
    kinds = value if _is_list(value) else [value]
    return bool(kinds) and all(_is_text(kind) and kind in _KINDS for kind in kinds)


_FORMS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    **dict.fromkeys(("$ref", "description", "pattern", "format"), ("text", _is_text)),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), ("a number", _is_number)),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), ("a number", _is_number_or_flag)),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
        ("a whole number that is not negative", _is_count),
    ),
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), ("a list of schemas", _is_schemas)),
    **dict.fromkeys(("additionalProperties", "not"), ("a schema", _is_schema)),
    "type": (f"one of {', '.join(_KINDS)}, or a list of them", _is_type),
    "enum": ("a list", _is_list),
    "required": ("a list of names", _is_names),  # a flag in draft 3
    "properties": ("an object with a schema for each field", _is_fields),
    "items": ("a schema or a list of schemas", _is_items),
    "prefixItems": ("a list of schemas", _is_schemas),
}
