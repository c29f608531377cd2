"""Python names for what documents name."""

from __future__ import annotations

__all__ = ("class_name", "constant_name", "nearest", "snake_name")

import keyword
import re
from collections.abc import Iterable
from difflib import get_close_matches

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[0-9]+")


def snake_name(wire: str) -> str:
    """Return the attribute for a method: `logging/setLevel` is `logging_set_level`."""
    name = "_".join(word.lower() for word in _WORDS.findall(wire))
    if not name or name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def constant_name(wire: str) -> str:
    """Return the constant for a method's row: `tools/call` is `TOOLS_CALL`."""
    return snake_name(wire).upper()


def class_name(error: str) -> str:
    """Return an error's class: `InvalidParams` is `InvalidParamsError`, `ParseError` stays."""
    return error if error.endswith("Error") else f"{error}Error"


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return which of `known` is nearest to `name`, None if none is as near as `cutoff`."""
    close = get_close_matches(name, list(known), cutoff=cutoff)
    swapped = (one for one in close if sorted(one) == sorted(name))  # the likelier slip
    return next(swapped, next(iter(close), None))
