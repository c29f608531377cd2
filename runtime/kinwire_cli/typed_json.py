"""JSON that a user has written: what would not arrive as it stands there is refused."""

from __future__ import annotations

__all__ = ("json_from",)

import json
from collections.abc import Iterator
from math import isinf
from typing import Any, cast

from pydantic_core import from_json

from kinwire.support.json_values import pointer_below
from kinwire_cli.failure import UsageError
from kinwire_protocols.base import JsonObject


def json_from(where: str, text: str | bytes) -> object:
    """Return the value that `text` is; `where` it stands is said where it is refused.

    Raises:
        ValueError: it is no JSON.
        UsageError: a name occurs twice in an object, a number is too large, or half of a
            surrogate pair is missing.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        _refuse_half_a_pair(where, text)
        raise
    place = next(_infinite(value, ""), None)
    if place is not None:  # it would go out as null
        at = f" at {place}" if place else ""
        raise UsageError(
            f"{where}: expected a number of at most 1.8e308{at}.",
            "Larger ones can be sent as text, in quotes.",
        )
    _refuse_repeated(where, text)
    return value


def _refuse_repeated(where: str, text: str | bytes) -> None:
    def look(pairs: list[tuple[str, object]]) -> None:
        seen = set[str]()
        for name, _ in pairs:
            if name in seen:
                raise UsageError(f"{where}: {name!r} is given twice in one object.")
            seen.add(name)

    # Of the values nothing is needed, and Python reads no integer of very many digits.
    json.loads(text, object_pairs_hook=look, parse_int=str, parse_float=str)


def _refuse_half_a_pair(where: str, text: str | bytes) -> None:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise UsageError(
            f"{where}: {half} is half of a surrogate pair, which is no character.",
            "Write both halves, as in \\ud83d\\ude00, or the character itself.",
        ) from None
    except (ValueError, RecursionError):
        return  # it is no JSON for another reason


def _infinite(value: Any, place: str) -> Iterator[str]:
    """Yield where in `value` a number was too large to be read."""
    if isinstance(value, float) and isinf(value):
        yield place
    elif isinstance(value, dict):
        for name, inner in cast("JsonObject", value).items():
            yield from _infinite(inner, pointer_below(place, name))
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", cast(object, value))):
            yield from _infinite(inner, f"{place}/{index}")
