"""Values as JSON text. What is written can be read again, and is equal then."""

from __future__ import annotations

__all__ = ("DEPTH", "VALUE_SIZE", "decoded", "encoded")

import json
import re
from typing import Any

from kinwire.storage.errors import StorageInputError

VALUE_SIZE = 8 * 1024 * 1024
"""The longest value, in characters of JSON; a NATS server may allow less."""
DEPTH = 100
"""How deep arrays and objects may stand in one another."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_SURROGATE = re.compile("[\ud800-\udfff]")

decoded = json.loads


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
    if text.count("[") + text.count("{") > DEPTH and _depth(text) > DEPTH:
        raise _refused(place, f"at most {DEPTH} levels", "more")
    return text


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
