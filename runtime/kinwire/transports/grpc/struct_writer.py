"""JSON as the bytes of a Struct, and single fields of a message (Protocol Buffers, Encoding).

By hand: an object of the library for each value of a result costs more than the rest of its call.
What a peer sends is read by the library.

Each error is a ValueError whose text is a clause that begins with the place in the value.
"""

from __future__ import annotations

__all__ = ("count_field", "encoded_struct", "encoded_value", "message_field", "text_field")

from collections.abc import Mapping
from struct import Struct as Layout
from typing import Any, cast

from kinwire.transports.grpc.struct_rules import (
    DEPTH,
    LARGEST,
    UnfitError,
    number_unfit,
    too_deep,
)

_double = Layout("<d").pack
_NULL, _FALSE, _TRUE = b"\x08\x00", b"\x20\x00", b"\x20\x01"
_SMALL = 2048  # bytes: below it, what says how many there are is looked up
_TEXT, _OBJECT, _ARRAY, _ENTRY, _HELD = b"\x1a", b"\x2a", b"\x32", b"\x0a", b"\x12"


def encoded_struct(value: Mapping[str, Any]) -> bytes:
    """Return `value` as a Struct.

    Raises:
        ValueError: a number, text or the depth of `value` does not go through.
    """
    try:
        return _struct(value, 1)
    except UnfitError as error:
        raise error.located() from None


def encoded_value(value: object) -> bytes:
    """Return any value of JSON as a Value.

    Raises:
        ValueError: as for `encoded_struct`.
    """
    try:
        return _value(value, 0)
    except UnfitError as error:
        raise error.located() from None


def message_field(number: int, encoded: bytes) -> bytes:
    """Return the field `number` with a message, also an empty one."""
    return _framed(_TAGS[number], encoded)


def text_field(number: int, text: str) -> bytes:
    """Return the field `number` with a text; nothing for an empty one.

    Raises:
        ValueError: it is not Unicode.
    """
    try:
        return message_field(number, text.encode()) if text else b""
    except UnicodeEncodeError:
        raise ValueError("/: expected text of Unicode, got half of a surrogate pair") from None


def count_field(number: int, count: int) -> bytes:
    """Return the field `number` with a whole number from 0; nothing for 0."""
    return _COUNT_TAGS[number] + _varint(count) if count else b""


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


_LENGTHS = [_varint(length) for length in range(_SMALL)]
_TAGS = [_varint(number << 3 | 2) for number in range(256)]
_COUNT_TAGS = [_varint(number << 3) for number in range(256)]


def _framed(tag: bytes, encoded: bytes) -> bytes:
    length = len(encoded)
    return tag + (_LENGTHS[length] if length < _SMALL else _varint(length)) + encoded


def _text_value(size: int) -> bytes:
    """Return the beginning of the field of an entry that holds a text of that many bytes."""
    text = _TEXT + _varint(size)
    return _HELD + _varint(len(text) + size) + text


_ITEMS = [_ENTRY + length for length in _LENGTHS]
_TEXT_VALUES = [_text_value(size) for size in range(_SMALL)]
_USUAL = "_meta code content data error isError message name partial query text type uri url"
_KEYS = {name: _framed(_ENTRY, name.encode()) for name in _USUAL.split()}
"""The keys of most entries."""


def _value(value: Any, level: int) -> bytes:
    kind: object = type(value)  # pyright: ignore[reportUnknownVariableType]
    if kind is str:
        return _framed(_TEXT, _utf8(value))
    if kind is int or kind is float:
        return _number(value)
    if kind is dict:
        return _framed(_OBJECT, _struct(value, level + 1))
    if kind is list:
        return _framed(_ARRAY, _list(value, level + 1))
    return _NULL if value is None else _other(value, level)


def _other(value: object, level: int) -> bytes:
    """Return a boolean, or a value of a class that is based on one of Python's own."""
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    if isinstance(value, str):
        return _value(str.__str__(value), level)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, dict):
        return _value({**cast("dict[str, Any]", value)}, level)
    if isinstance(value, list | tuple):
        return _value([*cast("list[Any]", value)], level)
    raise UnfitError(f"expected a value of JSON, got {type(value).__name__}")


def _number(value: float) -> bytes:
    if not -LARGEST <= value <= LARGEST:
        raise number_unfit(value)
    return b"\x11" + _double(value)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _half_a_pair() from None


def _half_a_pair() -> UnfitError:
    return UnfitError("expected text of Unicode, got half of a surrogate pair")


def _struct(value: Mapping[str, Any], level: int) -> bytes:
    if level > DEPTH:
        raise too_deep()
    found: list[bytes] = []
    for name, inner in value.items():
        key = _KEYS.get(name) or _key(name)
        try:
            if type(inner) is str:  # most values are; a function for them costs more
                text = inner.encode()
                size = len(text)
                entry = key + (_TEXT_VALUES[size] if size < _SMALL else _text_value(size)) + text
            else:
                entry = key + _framed(_HELD, _value(inner, level))
        except (UnfitError, UnicodeEncodeError) as error:
            unfit = error if isinstance(error, UnfitError) else _half_a_pair()
            unfit.steps.append(name)
            raise unfit from None
        size = len(entry)
        found.append((_ITEMS[size] if size < _SMALL else _ENTRY + _varint(size)) + entry)
    return b"".join(found)


def _key(name: object) -> bytes:
    if not isinstance(name, str):
        raise UnfitError(f"expected text for a name, got {name!r:.60}")
    return _framed(_ENTRY, _utf8(name))


def _list(value: list[Any], level: int) -> bytes:
    if level > DEPTH:
        raise too_deep()
    found: list[bytes] = []
    for index, inner in enumerate(value):
        try:
            encoded = _value(inner, level)
        except UnfitError as error:
            error.steps.append(str(index))
            raise
        found.append(_framed(_ENTRY, encoded))
    return b"".join(found)
