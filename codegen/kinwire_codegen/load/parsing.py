"""JSON: read more strictly than Python does (nothing twice, infinite, half, too deep), written."""

from __future__ import annotations

__all__ = (
    "DEEPEST",
    "TooDeepError",
    "json_text",
    "parse",
    "read_text",
    "refuse_what_json_lacks",
)

import json
from math import isinf
from pathlib import Path
from typing import Any

from pydantic_core import to_json

DEEPEST = 100
"""Arrays and objects, one inside the other. Walking a document needs Python's stack for each:
the check against the meta-schema fails near 250, and the deepest of our documents has 11."""


class TooDeepError(ValueError):
    """Arrays and objects are nested too deeply; `hint` says what to do."""

    hint = "Give inner types names under $defs."

    def __init__(self) -> None:
        super().__init__(f"arrays and objects are nested more than {DEEPEST} deep")


def read_text(path: Path) -> str:
    """Return the text of a file, with line ends as newlines.

    Raises:
        ValueError: it cannot be read, is not a regular file, or is not UTF-8.
    """
    try:
        if path.exists() and not path.is_file():  # nobody may ever write to a named pipe
            raise ValueError("it is not a regular file")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8, at byte {error.start + 1}") from None
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None


def parse(text: str) -> Any:
    """Return what a JSON text says.

    Raises:
        TooDeepError: it is nested more than `DEEPEST` deep.
        ValueError: it is not valid JSON, a member occurs twice in one object, a number is too
            large, or a string has half of a surrogate pair.
    """
    if text.startswith("\ufeff"):
        raise ValueError("it begins with a byte order mark; save it as UTF-8 without one")
    try:
        found = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refused,
            parse_float=_finite,
            parse_int=_whole,
        )
    except RecursionError:
        raise TooDeepError from None
    level, depth = [found], 0
    while level := [inner for node in level for inner in _inside(node)]:
        depth += 1
        if depth > DEEPEST:
            raise TooDeepError
    if "\\u" in text or not text.isascii():  # else it cannot have half of a pair
        refuse_what_json_lacks(found)
    return found


def refuse_what_json_lacks(found: Any) -> None:
    """Raise a ValueError if a string has half of a surrogate pair, or a number is infinite."""
    try:
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise ValueError(f"{half} is half of a surrogate pair, which is not a character") from None
    except ValueError:
        raise ValueError("a number is more than 1.8e308") from None


def json_text(value: Any, *, indent: int, ascii_only: bool = False) -> str:
    """Return what `parse` may have read as text of several lines, in the layout of `json.dumps`.

    `json.dumps` takes six times as long, as it indents in Python. What differs: here `1e-05` is
    `0.00001`, and ASCII includes DEL.
    """
    return to_json(value, indent=indent, ensure_ascii=ascii_only).decode()


def _inside(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the member {twice!r} stands twice in one object")
    return found


def _finite(number: str) -> float:
    found = float(number)
    if isinf(found):
        raise ValueError(f"{number} is more than 1.8e308")
    return found


def _whole(number: str) -> int:
    try:
        return int(number)
    except ValueError:  # Python's own limit, against attacks
        raise ValueError(f"a number has {len(number.lstrip('-'))} digits") from None


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
