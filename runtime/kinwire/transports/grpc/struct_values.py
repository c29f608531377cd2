"""Values of JSON in a Struct of Protocol Buffers, and back, without a loss.

A Struct has doubles for numbers. So whole numbers come out of it as whole numbers again, and those
that a double may have rounded are refused: 2^53 can be what is left of 2^53 + 1. Decoders accept
about a hundred nested messages, which is what 32 nested objects need.

Each error is a ValueError whose text is a clause that begins with the place in the value.
"""

from __future__ import annotations

__all__ = ("DEPTH", "LARGEST", "fill_struct", "fill_value", "from_struct", "from_value")

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from google.protobuf.struct_pb2 import NULL_VALUE

from kinwire.support.json_values import pointer_below

if TYPE_CHECKING:
    from google.protobuf.struct_pb2 import ListValue, Struct, Value

DEPTH = 32
"""How many objects and arrays may be nested in one another."""

LARGEST = 2**53 - 1
"""The largest number, and without its sign the smallest."""


class _UnfitError(Exception):
    """A value that cannot go through; the steps to it are added on the way out."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.steps: list[str] = []

    def told(self) -> ValueError:
        place = ""
        for step in reversed(self.steps):
            place = pointer_below(place, step)
        return ValueError(f"{place or '/'}: {self.args[0]}")


def fill_struct(struct: Struct, value: Mapping[str, Any]) -> None:
    """Put the fields of `value` into the empty `struct`.

    Raises:
        ValueError: a number, text or the depth of `value` does not go through.
    """
    try:
        _fill_fields(struct, value, 1)
    except _UnfitError as refused:
        raise refused.told() from None


def fill_value(target: Value, value: object) -> None:
    """Put any value of JSON into the empty `target`.

    Raises:
        ValueError: as for `fill_struct`.
    """
    try:
        _fill(target, value, 0)
    except _UnfitError as refused:
        raise refused.told() from None


def from_struct(struct: Struct) -> dict[str, Any]:
    """Return the fields of `struct` as JSON.

    Raises:
        ValueError: a number is not one of JSON or too large, or the depth is.
    """
    try:
        return _fields(struct, 1)
    except _UnfitError as refused:
        raise refused.told() from None


def from_value(value: Value) -> Any:
    """Return what `value` holds as JSON; nothing is null.

    Raises:
        ValueError: as for `from_struct`.
    """
    try:
        return _plain(value, 0)
    except _UnfitError as refused:
        raise refused.told() from None


def _fill_fields(struct: Struct, value: Mapping[str, Any], level: int) -> None:
    fields = struct.fields
    for name, inner in value.items():
        try:
            _fill(fields[name], inner, level)
        except _UnfitError as refused:
            refused.steps.append(name)
            raise
        except (TypeError, UnicodeEncodeError):
            raise _UnfitError(f"expected text for a name, got {name!r:.60}") from None


def _fill(target: Value, value: Any, level: int) -> None:
    if isinstance(value, str):
        try:
            target.string_value = value
        except UnicodeEncodeError:
            raise _UnfitError("expected text of Unicode, got half of a surrogate pair") from None
    elif value is None:
        target.null_value = NULL_VALUE
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int | float):
        if not -LARGEST <= value <= LARGEST:
            raise _number_refused(value)
        target.number_value = value
    else:
        _fill_nested(target, value, level)


def _fill_nested(target: Value, value: Any, level: int) -> None:
    if level == DEPTH:
        raise _too_deep()
    if isinstance(value, dict):
        target.struct_value.SetInParent()  # or an empty one is absent
        _fill_fields(target.struct_value, cast("dict[str, Any]", value), level + 1)
    elif isinstance(value, list | tuple):
        target.list_value.SetInParent()
        _fill_items(target.list_value, cast("list[Any]", value), level + 1)
    else:
        raise _UnfitError(f"expected a value of JSON, got {type(value).__name__}")


def _fill_items(items: ListValue, value: list[Any], level: int) -> None:
    for index, inner in enumerate(value):
        try:
            _fill(items.values.add(), inner, level)
        except _UnfitError as refused:
            refused.steps.append(str(index))
            raise


def _fields(struct: Struct, level: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in struct.fields.items():
        try:
            found[name] = _plain(value, level)
        except _UnfitError as refused:
            refused.steps.append(name)
            raise
    return found


def _plain(value: Value, level: int) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return value.string_value
    if kind == "number_value":
        number = value.number_value
        if not -LARGEST <= number <= LARGEST:
            raise _number_refused(number)
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind is None or kind == "null_value":
        return None
    if level == DEPTH:
        raise _too_deep()
    if kind == "struct_value":
        return _fields(value.struct_value, level + 1)
    return _items(value.list_value, level + 1)


def _items(items: ListValue, level: int) -> list[Any]:
    found: list[Any] = []
    for index, value in enumerate(items.values):
        try:
            found.append(_plain(value, level))
        except _UnfitError as refused:
            refused.steps.append(str(index))
            raise
    return found


def _number_refused(number: float) -> _UnfitError:
    if isinstance(number, float) and not isfinite(number):
        return _UnfitError(f"expected a number that JSON has, got {number}")
    return _UnfitError(
        "expected a number of at most 2^53 - 1, as gRPC would round a larger one. Send it as text"
    )


def _too_deep() -> _UnfitError:
    return _UnfitError(f"expected at most {DEPTH} nested objects and arrays")
