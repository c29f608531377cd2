"""What can be said of a user's function before it is ever called."""

from __future__ import annotations

__all__ = ("accepts", "is_async", "name_of")

import inspect
from collections.abc import Callable
from typing import Any


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling `function`, or what it wraps, gives something to await."""
    return _is_async(function) or _is_async(getattr(function, "__call__", None))  # noqa: B004


def name_of(value: object) -> str:
    """Return what to call `value` in messages: its name, or its type's.

    Its text would have an address in it, and what a partial function holds.
    """
    kind = type(value)
    return str(getattr(value, "__qualname__", f"{kind.__module__}.{kind.__qualname__}"))


def accepts(signature: inspect.Signature, count: int) -> bool:
    """Whether `count` positional arguments fit."""
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(function) if callable(function) else None)
