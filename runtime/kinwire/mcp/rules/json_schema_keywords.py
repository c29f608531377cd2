"""The supported keywords of a JSON Schema, and the valid arguments of each (2020-12).

`json_schema_checks.py` has the checks of values.
"""

from __future__ import annotations

__all__ = (
    "FORMS",
    "SILENT",
    "TYPES",
    "WITH_SCHEMA",
    "WITH_SCHEMAS",
    "is_list",
    "is_number",
    "is_text",
    "pattern",
)

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from kinwire.rpc.codec import is_object

SILENT: Final = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("format", "contentEncoding", "contentMediaType", "$schema", "$id", "$comment"),
        *("then", "else", "minContains", "maxContains"),  # read by the checks of other keywords
    }
)
"""Keywords without a check of their own."""

WITH_SCHEMA: Final = frozenset(
    {"additionalProperties", "propertyNames", "items", "contains", "not", "if", "then", "else"}
)
"""Keywords whose argument is a schema."""

WITH_SCHEMAS: Final = frozenset(
    {
        *("properties", "patternProperties", "prefixItems", "allOf", "anyOf", "oneOf"),
        *("$defs", "definitions", "dependentSchemas"),
    }
)
"""Keywords whose argument is a list or an object of schemas."""


class Form(NamedTuple):
    """The valid arguments of a keyword."""

    holds: Callable[[Any], bool]
    expected: str


@cache
def pattern(text: str, where: str = "") -> Callable[[str], bool]:
    """Return a function that searches a string for the pattern `text` in linear time.

    Raises:
        ValueError: invalid pattern, or one with look-around or back references.
    """
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern=text))
    except SchemaError as error:
        raise ValueError(
            f"inputSchema#{where}: expected a pattern without look-around and back references, "
            f"got {text!r:.100}. Write it without ({str(error).splitlines()[-1].strip():.100})."
        ) from None

    def matches(value: str) -> bool:
        try:
            validator.validate_python(value)
        except ValidationError:
            return False
        return True

    return matches


def is_number(value: Any) -> bool:
    return type(value) in (int, float)


def is_list(value: Any) -> bool:
    return type(value) is list


def is_text(value: Any) -> bool:
    return type(value) is str


TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    "object": is_object,
    "array": is_list,
    "string": is_text,
    "boolean": lambda value: type(value) is bool,
    "null": lambda value: value is None,
    "number": is_number,
    "integer": lambda value: type(value) is int or (type(value) is float and value.is_integer()),
}
"""The test of each type that a schema can name."""


def _is_count(argument: Any) -> bool:
    return type(argument) is int and argument >= 0


def _is_step(argument: Any) -> bool:
    return is_number(argument) and argument > 0


def _are_texts(argument: Any) -> bool:
    return is_list(argument) and all(map(is_text, argument))


def _are_types(argument: Any) -> bool:
    names = argument if is_list(argument) else [argument]
    return all(is_text(name) and name in TYPES for name in names)


def _are_lists_of_texts(argument: Any) -> bool:
    return is_object(argument) and all(map(_are_texts, argument.values()))


_NUMBER = Form(is_number, "a number")
_COUNT = Form(_is_count, "a number of things")

FORMS: Final[dict[str, Form]] = {
    "type": Form(_are_types, f"one or more of {', '.join(TYPES)}"),
    "enum": Form(is_list, "a list of values"),
    "pattern": Form(is_text, "a pattern"),
    "required": Form(_are_texts, "a list of names"),
    "dependentRequired": Form(_are_lists_of_texts, "lists of names"),
    "multipleOf": Form(_is_step, "a number above 0"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _COUNT),
    **dict.fromkeys(("minProperties", "maxProperties", "minContains", "maxContains"), _COUNT),
}
"""The valid arguments of the keywords that take no schema."""
