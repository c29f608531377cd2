"""The numbers that JSON does not have, NaN and the infinities: serializers write null for them."""

from __future__ import annotations

__all__ = ("must_be_finite", "not_finite")

import marshal
from collections import deque
from dataclasses import is_dataclass
from math import isfinite
from typing import Any, cast

from pydantic_core import from_json

from kinwire.support.json_values import pointer_below


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
