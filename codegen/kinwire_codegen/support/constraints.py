"""What JSON Schema asks for and Python's own types do not say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from .base import Message, to_wire

M = TypeVar("M", bound=Message)

__all__ = ("Exactly", "Unique", "adapter_of", "json_key", "must_have_one")

_KINDS: dict[type, CoreSchema] = {
    bool: core_schema.bool_schema(strict=True),
    int: core_schema.int_schema(strict=True),
    str: core_schema.str_schema(strict=True),
}


@dataclass(frozen=True, slots=True)
class Exactly:
    """Marks a literal of booleans or integers: in JSON, true is not 1."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        """Let a value of each kind pass only where the literal has one of its kind."""
        values: list[Any] = cast("dict[str, Any]", handler(source))["expected"]
        choices: list[CoreSchema | tuple[CoreSchema, str]] = []
        for kind, schema in _KINDS.items():
            expected = [value for value in values if type(value) is kind]
            if expected:
                literal = core_schema.literal_schema(expected)
                choices.append(core_schema.chain_schema([schema, literal]))
        return core_schema.union_schema(choices)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any, /) -> Any:
        """Return the JSON Schema with the values."""
        literals = [choice["steps"][-1] for choice in schema["choices"]]
        values = [value for literal in literals for value in literal["expected"]]
        return handler(core_schema.literal_schema(values))


@dataclass(frozen=True, slots=True)
class Unique:
    """Marks a list whose items all differ, as JSON compares them."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        """Compare the items of a list that is right otherwise."""
        return core_schema.no_info_after_validator_function(_all_differ, handler(source))

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: Any, /) -> Any:
        """Return the JSON Schema with the keyword."""
        return {**handler(core_schema), "uniqueItems": True}


def _all_differ(items: list[Any]) -> list[Any]:
    if len({json_key(item) for item in items}) < len(items):
        raise PydanticCustomError("unique_items", "Input should be items that all differ")
    return items


def json_key(value: Any) -> Any:
    """Return what two JSON values have in common if and only if they are equal in JSON."""
    if isinstance(value, Message):
        value = to_wire(value)
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return "object", frozenset((name, json_key(one)) for name, one in members.items())
    if isinstance(value, list):
        return "array", tuple(json_key(one) for one in cast("list[object]", value))
    return isinstance(value, bool), value


def must_have_one(message: M, *groups: tuple[str, ...]) -> M:
    """Return the message if all fields of one of the `groups` are there.

    Raises:
        pydantic_core.PydanticCustomError: of each group a field is absent.
    """
    if not any(all(_is_there(message, name) for name in group) for group in groups):
        fields = type(message).__pydantic_fields__
        wires = [[fields[name].alias or name for name in group] for group in groups]
        wanted = " or ".join(" and ".join(map(repr, group)) for group in wires)
        said = "Input should be an object with {wanted}"
        raise PydanticCustomError("fields_missing", said, {"wanted": wanted})
    return message


def _is_there(message: Message, name: str) -> bool:
    if name not in message.__pydantic_fields_set__:
        return False
    nullable = type(message).__pydantic_fields__[name].default is not None
    return nullable or getattr(message, name) is not None


@lru_cache(maxsize=1024)
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Return what reads and writes a type that is not a message."""
    return TypeAdapter(kind, config=ConfigDict(strict=True, allow_inf_nan=False))
