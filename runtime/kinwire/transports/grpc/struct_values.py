"""JSON from a Struct of Protocol Buffers; `struct_writer.py` has the way into one.

Each error is a ValueError whose text is a clause that begins with the place in the value.
"""

from __future__ import annotations

__all__ = ("from_struct", "from_value")

from typing import TYPE_CHECKING, Any

from kinwire.transports.grpc.struct_rules import (
    DEPTH,
    LARGEST,
    UnfitError,
    number_unfit,
    too_deep,
)

if TYPE_CHECKING:
    from google.protobuf.struct_pb2 import ListValue, Struct, Value


def from_struct(struct: Struct) -> dict[str, Any]:
    """Return the fields of `struct` as JSON.

    Raises:
        ValueError: a number is not one of JSON or too large, or the depth is.
    """
    try:
        return _fields(struct, 1)
    except UnfitError as error:
        raise error.located() from None


def from_value(value: Value) -> Any:
    """Return what `value` holds as JSON; nothing is null.

    Raises:
        ValueError: as for `from_struct`.
    """
    try:
        return _plain(value, 0)
    except UnfitError as error:
        raise error.located() from None


def _fields(struct: Struct, level: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    fields = struct.fields
    for name in fields:  # `items` is a view written in Python
        value = fields[name]
        try:
            # Text is what most values are; all others have none.
            found[name] = value.string_value or _plain(value, level)
        except UnfitError as error:
            error.steps.append(name)
            raise
    return found


def _plain(value: Value, level: int) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return value.string_value
    if kind == "number_value":
        number = value.number_value
        if not -LARGEST <= number <= LARGEST:
            raise number_unfit(number)
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind is None or kind == "null_value":
        return None
    if level == DEPTH:
        raise too_deep()
    if kind == "struct_value":
        return _fields(value.struct_value, level + 1)
    return _items(value.list_value, level + 1)


def _items(items: ListValue, level: int) -> list[Any]:
    found: list[Any] = []
    for index, value in enumerate(items.values):
        try:
            found.append(_plain(value, level))
        except UnfitError as error:
            error.steps.append(str(index))
            raise
    return found
