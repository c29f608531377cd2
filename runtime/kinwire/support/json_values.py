"""JSON values in Python: equality as JSON defines it, digests, size, and pointers (RFC 6901)."""

from __future__ import annotations

__all__ = (
    "depth",
    "digest",
    "pointer_below",
    "same",
    "short_digest",
    "steps_of",
    "strict_text",
    "text",
)

import json
from hashlib import sha256
from typing import Any, cast

_SHORT = 32  # characters, or 128 bits

# Peers can send 1e999, which no double is: it has a text here, so that nothing fails by it.
_text = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode
_strict_text = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
).encode


def text(value: Any) -> str:
    """Return `value` as compact JSON, the same for values that are equal but for 1 and 1.0."""
    return _text(value)


def strict_text(value: Any) -> str:
    """Return `text(value)` if it is valid JSON.

    Raises:
        ValueError: it is not; the text is a clause.
    """
    try:
        return _strict_text(value)
    except (RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"expected a JSON value, got something else: {error}") from None


def digest(*values: Any) -> str:
    """Return a digest of these values, in 64 characters."""
    return sha256("\n".join(map(_text, values)).encode("utf-8", "surrogatepass")).hexdigest()


def short_digest(*values: Any) -> str:
    """Return a digest of these values for a part of a key, in 32 characters."""
    return digest(*values)[:_SHORT]


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal JSON (RFC 6902, 4.6): 1 is 1.0, but not true."""
    waiting: list[tuple[Any, Any]] = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            ours, theirs = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
            if ours.keys() != theirs.keys():
                return False
            waiting += [(ours[key], theirs[key]) for key in ours]
        elif isinstance(left, list) and isinstance(right, list):
            some, others = cast("list[object]", left), cast("list[object]", right)
            if len(some) != len(others):
                return False
            waiting += zip(some, others, strict=True)
        elif isinstance(left, bool) is not isinstance(right, bool) or left != right:
            return False
    return True


def depth(value: Any) -> int:
    """Return how many arrays and objects are nested in one another at the deepest place."""
    level, layer = 0, _inside([value])
    while layer is not None:
        level += 1
        layer = _inside(layer)
    return level


def pointer_below(pointer: str, name: str) -> str:
    """Return the JSON pointer to the field `name` of the value at `pointer`."""
    return f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"


def steps_of(pointer: str) -> list[str]:
    """Return the names and indexes in `pointer`, which may begin with a `#`."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _inside(values: list[Any]) -> list[Any] | None:
    """Return the contents of the arrays and objects in `values`, or None without any."""
    found: list[Any] | None = None
    for value in values:
        if isinstance(value, dict):
            found = [] if found is None else found
            found += cast("dict[str, Any]", value).values()
        elif isinstance(value, list):
            found = [] if found is None else found
            found += cast("list[object]", value)
    return found
