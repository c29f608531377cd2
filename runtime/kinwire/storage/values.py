"""Values as JSON text: what is written is read again, and equal; tuples become lists."""

from __future__ import annotations

__all__ = ("DEPTH", "VALUE_SIZE", "decoded", "encoded", "unreadable")

import json
import re
from collections.abc import Iterable
from typing import Any

from kinwire.storage.errors import StorageDamagedError, StorageInputError
from kinwire.storage.inputs import shown

VALUE_SIZE = 8 * 1024 * 1024
"""The longest value, in characters of JSON; a NATS server may allow less."""
DEPTH = 100
"""How deep arrays and objects may stand in one another."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_OBJECTS: tuple[type[Any], ...] = (dict,)
_ARRAYS: tuple[type[Any], ...] = (list, tuple)
_SCALARS = frozenset({str, int, float, bool, type(None)})
_TEXTS = frozenset({str})
_SURROGATE = re.compile("[\ud800-\udfff]")


def decoded(text: str | bytes, place: str) -> Any:
    """Return the value that `text` is.

    Raises:
        StorageDamagedError: it is not what `encoded` gave.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise unreadable(place, error) from None


def unreadable(place: str, error: Exception) -> StorageDamagedError:
    """Return the error for what no kinwire has written like that."""
    return StorageDamagedError(
        place,
        expected="what was written there",
        got=f"something else ({error})",
        mend="Put a backup in its place, or write it anew.",
    )


def encoded(value: Any, place: str) -> str:
    """Return `value` as JSON.

    Raises:
        StorageInputError: JSON cannot hold it, or it is too long or too deep.
    """
    try:
        text = _encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(place, "what JSON can hold", f"{type(error).__name__}: {error}") from None
    if not text.isascii() and _SURROGATE.search(text):
        raise _refused(place, "Unicode text", "half of a surrogate pair")
    if len(text) > VALUE_SIZE:
        raise _refused(place, f"at most {VALUE_SIZE} characters of JSON", str(len(text)))
    _check_levels(value, place)
    return text


def _check_levels(value: Any, place: str) -> None:
    """Refuse what is too deep, and keys that JSON would make texts of, and so maybe one of two."""
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
            raise _refused(place, f"at most {DEPTH} levels", "more")
        level = below


def _check_keys(keys: Iterable[object], place: str) -> None:
    for key in keys:
        if not isinstance(key, str):
            raise _refused(place, "texts as keys", f"one that is {shown(key)}")


def _refused(place: str, expected: str, got: str) -> StorageInputError:
    return StorageInputError(
        f"value of {place!r}",
        expected=expected,
        got=got,
        mend="Store a summary, or a reference to where the whole is.",
    )
