"""JSON values in Python: equality as JSON defines it, digests, size, pointers (RFC 6901).

Also the numbers that JSON does not have, NaN and the infinities: serializers write null for them.
"""

from __future__ import annotations

__all__ = (
    "depth",
    "digest",
    "json_size",
    "must_be_finite",
    "not_finite",
    "pointer_below",
    "same",
    "short_digest",
    "steps_of",
    "strict_text",
    "text",
)

import json
import marshal
from collections import deque
from collections.abc import Callable
from dataclasses import is_dataclass
from hashlib import sha256
from math import isfinite
from typing import Any, cast

from pydantic_core import from_json, to_json

_SHORT = 32  # characters, or 128 bits
_PART = 64 * 1024  # characters that are written at a time
_SEEN = 16  # values; of more than that the size is found faster by writing them
_END = object()

# Peers can send 1e999, which no double is: it has a text here, so that nothing fails by it.
text: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), sort_keys=True
).encode
"""Returns a value as compact JSON, the same for values that are equal but for 1 and 1.0."""
_strict_text = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
).encode


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
    return sha256("\n".join(map(text, values)).encode("utf-8", "surrogatepass")).hexdigest()


def short_digest(*values: Any) -> str:
    """Return the beginning of `digest(*values)` for a part of a key, in 32 characters."""
    written = "\n".join(map(text, values)).encode("utf-8", "surrogatepass")
    return sha256(written).hexdigest()[:_SHORT]


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


def json_size(value: Any, most: int) -> int:
    """Return the bytes of `value` as `text` writes it, in UTF-8; above `most`, any number above it.

    What is far too large is seen without writing it.
    """
    size, seen, levels = 0, 0, [iter((value,))]
    while levels and size <= most:
        one = next(levels[-1], _END)
        seen += 1
        if seen == _SEEN and (written := _written_size(value)) is not None:
            return written
        if one is _END:
            levels.pop()
        elif isinstance(one, dict | list):
            inner = cast("dict[str, Any] | list[Any]", one)
            size += max(1, len(inner)) + 1  # brackets, and commas between
            levels.append(iter(inner))
            if isinstance(inner, dict):
                size += len(inner)
                levels.append(iter(inner.values()))
        else:
            size += _scalar_size(one, most)
    return size


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


def must_be_finite(value: object, written: bytes) -> None:
    """Raise if `value` has a number that JSON does not have.

    `written` is the value as JSON, with names such as NaN for these numbers. Pydantic models write
    null all the same; what a serializer of the caller's own writes is accepted.

    Raises:
        ValueError: it has one; the text says where.
    """
    found = None
    if b"NaN" in written or b"Infinity" in written:  # or these are words of a text
        found = not_finite(from_json(written))
    if found is None and b"null" in written and not _is_plain(value):
        found = not_finite(value)
    if found is not None:
        raise ValueError(found)


def not_finite(value: Any) -> str | None:
    """Return where `value` has such a number, as an error says it; None if it has none."""
    waiting: deque[tuple[Any, str]] = deque([(value, "")])
    while waiting:
        value, place = waiting.popleft()
        if isinstance(value, float):
            if not isfinite(value):
                return (
                    f"{place or '/'}: expected a number that JSON has, got {value}. "
                    "Use None or text instead."
                )
        elif isinstance(value, dict):
            members = cast("dict[object, object]", value).items()
            waiting += [(inner, pointer_below(place, str(name))) for name, inner in members]
        elif isinstance(value, list | tuple | set | frozenset):
            items = cast("list[object]", value)
            waiting += [(inner, f"{place}/{index}") for index, inner in enumerate(items)]
        elif _is_record(value) and not _writes_itself(value):
            waiting.append((_fields_of(value), place))
    return None


def _written_size(value: Any) -> int | None:
    try:
        return len(to_json(value, inf_nan_mode="constants"))
    except ValueError:  # it has very many levels, or half of a surrogate pair
        return None


def _scalar_size(value: Any, most: int) -> int:
    if not isinstance(value, str):
        return len(text(value))
    if value.isascii() and value.isprintable():
        return 2 + len(value) + value.count('"') + value.count("\\")
    if len(value) > most:  # in JSON it has at least as many bytes
        return len(value)
    parts = (value[start : start + _PART] for start in range(0, len(value), _PART))
    return 2 + sum(len(text(part).encode("utf-8", "surrogatepass")) - 2 for part in parts)


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


def _is_plain(value: Any) -> bool:
    """Return whether there are no objects of classes, much faster than by a look at each value."""
    try:
        marshal.dumps(value)
    except ValueError:
        return False
    return True


def _is_record(value: object) -> bool:
    return is_dataclass(value) or hasattr(value, "__pydantic_fields__")


def _fields_of(value: Any) -> dict[str, object]:
    return {**getattr(value, "__dict__", {}), **(getattr(value, "model_extra", None) or {})}


def _writes_itself(value: Any) -> bool:
    """Return whether a pydantic class decides itself how its numbers are written."""
    config = getattr(value, "model_config", None) or getattr(value, "__pydantic_config__", {})
    decorators = getattr(value, "__pydantic_decorators__", None)
    return config.get("ser_json_inf_nan", "null") != "null" or bool(
        decorators and (decorators.field_serializers or decorators.model_serializers)
    )
