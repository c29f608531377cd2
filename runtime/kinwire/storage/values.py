"""Values as JSON text: what is written is read again, and equal; tuples become lists."""

from __future__ import annotations

__all__ = ("DEPTH", "VALUE_SIZE", "decoded", "encoded", "unreadable")

import json
import re
from typing import Any, cast

from kinwire.storage.errors import StorageDamagedError, StorageInputError
from kinwire.storage.inputs import shown

VALUE_SIZE = 8 * 1024 * 1024
"""The longest value, in characters of JSON; a NATS server may allow less."""
DEPTH = 100
"""How deep arrays and objects may stand in one another."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
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
    _refuse_other_keys(value, place)
    if not text.isascii() and _SURROGATE.search(text):
        raise _refused(place, "Unicode text", "half of a surrogate pair")
    if len(text) > VALUE_SIZE:
        raise _refused(place, f"at most {VALUE_SIZE} characters of JSON", str(len(text)))
    if text.count("[") + text.count("{") > DEPTH and _depth(text) > DEPTH:
        raise _refused(place, f"at most {DEPTH} levels", "more")
    return text


def _refuse_other_keys(value: Any, place: str) -> None:
    """Refuse keys that JSON would make texts of, and so maybe one of two."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            members = cast("dict[object, Any]", part)
            for key in members:
                if not isinstance(key, str):
                    raise _refused(place, "texts as keys", f"one that is {shown(key)}")
            waiting.extend(members.values())
        elif isinstance(part, list | tuple):
            waiting.extend(cast("list[Any]", part))


def _depth(text: str) -> int:
    depth = deepest = 0
    for sign in _STRING.sub("", text):
        if sign in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "]}":
            depth -= 1
    return deepest


def _refused(place: str, expected: str, got: str) -> StorageInputError:
    return StorageInputError(
        f"value of {place!r}",
        expected=expected,
        got=got,
        mend="Store a summary, or a reference to where the whole is.",
    )
