"""What every engine takes: texts, counts, seconds, and values as JSON text.

Other inputs are refused before anything is sent. They often come from a peer's JSON, so what a type
checker would find is refused here as well. A value is read as it was written; tuples become lists.
"""

from __future__ import annotations

__all__ = (
    "DEPTH",
    "VALUE_SIZE",
    "JsonText",
    "checked_count",
    "checked_seconds",
    "checked_text",
    "decoded",
    "encoded",
    "refused",
    "unreadable",
)

import json
import re
from collections.abc import Iterable
from typing import Any

from kinwire.storage.errors import StorageDamagedError, StorageInputError
from kinwire.support.validation import LONGEST, MOST, is_count, is_number, shown_number

VALUE_SIZE = 8 * 1024 * 1024
"""The longest value, in characters of JSON; a NATS server may allow less."""
DEPTH = 100
"""How deep arrays and objects may stand in one another."""


class JsonText(str):
    """A value that is encoded already: valid JSON with text as keys, of at most `DEPTH` levels."""

    __slots__ = ()


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_OBJECTS: tuple[type[Any], ...] = (dict,)
_ARRAYS: tuple[type[Any], ...] = (list, tuple)
_SCALARS = frozenset({str, int, float, bool, type(None)})
_TEXTS = frozenset({str})
_SURROGATE = re.compile("[\ud800-\udfff]")


def checked_text(text: object, place: str, longest: int) -> bytes:
    """Return `text` in UTF-8.

    Raises:
        StorageInputError: it is not text, empty, too long, or has half of a surrogate pair.
    """
    encoded, got = b"", type(text).__name__
    if isinstance(text, str):
        try:
            encoded, got = text.encode(), "none"
        except UnicodeEncodeError:
            got = "half of a surrogate pair"
    if 0 < len(encoded) <= longest:
        return encoded
    got = str(len(encoded)) if encoded else got
    hint = "Hash longer values." if encoded else "Pass a string that is not empty."
    raise refused(place, f"1 to {longest} bytes of UTF-8", got, hint)


def checked_count(value: object, place: str, hint: str, *, least: int = 0) -> None:
    """Raise if `value` is not a valid count, sequence or revision.

    Raises:
        StorageInputError: it is not a whole number from `least` to `MOST`.
    """
    if not is_count(value, least):
        raise refused(place, f"a whole number from {least} to {MOST}", shown_number(value), hint)


def checked_seconds(
    value: object, place: str, hint: str, *, least: float = 0.0, most: float = LONGEST
) -> None:
    """Raise if `value` is not a valid time in seconds.

    Raises:
        StorageInputError: it is not a number above 0 and from `least` to `most`.
    """
    if not (is_number(value) and value > 0 and least <= value <= most):
        span = f"from {least:g} to {most:.0f}" if least else f"above 0, at most {most:.0f}"
        raise refused(place, f"seconds {span}", shown_number(value), hint)


def refused(place: str, expected: str, got: str, hint: str) -> StorageInputError:
    """Return the error for an invalid input."""
    return StorageInputError(place, expected=expected, got=got, hint=hint)


def decoded(text: str | bytes, place: str) -> Any:
    """Return the value of JSON `text`.

    Raises:
        StorageDamagedError: `text` is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise unreadable(place, error) from None


def unreadable(place: str, error: Exception) -> StorageDamagedError:
    """Return the error for stored data that cannot be read."""
    return StorageDamagedError(
        place,
        expected="the data that was written",
        got=f"unreadable data ({error})",
        hint="Restore a backup, or write it again.",
    )


def encoded(value: Any, place: str) -> str:
    """Return `value` as JSON.

    Raises:
        StorageInputError: JSON cannot hold it, or it is too long or too deep.
    """
    if type(value) is JsonText and len(value) <= VALUE_SIZE:
        return value
    try:
        text = _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused_value(place, "a JSON value", f"{type(error).__name__}: {error}") from None
    if not text.isascii() and _SURROGATE.search(text):
        raise _refused_value(place, "Unicode text", "half of a surrogate pair")
    if len(text) > VALUE_SIZE:
        raise _refused_value(place, f"at most {VALUE_SIZE} characters of JSON", str(len(text)))
    _check_levels(value, place)
    return text


def _check_levels(value: Any, place: str) -> None:
    """Raise if `value` is too deep or has a key that is not text: JSON would merge 1 and "1"."""
    depth = 0
    level: list[Any] = [value]
    while level := [part for part in level if type(part) not in _SCALARS]:
        below: list[Any] = []
        nested = False
        for part in level:
            if isinstance(part, _OBJECTS):
                nested = True
                if not _TEXTS.issuperset(map(type, part)):
                    _check_keys(part, place)
                below.extend(part.values())
            elif isinstance(part, _ARRAYS):
                nested = True
                below.extend(part)
        depth += nested
        if depth > DEPTH:
            raise _refused_value(place, f"at most {DEPTH} levels", "more")
        level = below


def _check_keys(keys: Iterable[object], place: str) -> None:
    for key in keys:
        if not isinstance(key, str):
            raise _refused_value(place, "strings as keys", f"a key that is {shown_number(key)}")


def _refused_value(place: str, expected: str, got: str) -> StorageInputError:
    return StorageInputError(
        f"value of {place!r}",
        expected=expected,
        got=got,
        hint="Store a summary, or a reference to the whole value.",
    )
