"""Facts about a user's function before it is called."""

from __future__ import annotations

__all__ = ("accepts", "is_async", "name_of")

import inspect
from collections.abc import Callable
from typing import Any


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling `function`, or what it wraps, returns an awaitable."""
    return _is_async(function) or _is_async(getattr(function, "__call__", None))  # noqa: B004


def name_of(value: object) -> str:
    """Return a name for `value` in messages: its own, or that of its type.

    Its `repr` would contain a memory address, and the arguments of a partial function.
    """
    kind = type(value)
    return str(getattr(value, "__qualname__", f"{kind.__module__}.{kind.__qualname__}"))


def accepts(signature: inspect.Signature, count: int) -> bool:
    """Return whether the signature accepts `count` positional arguments."""
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(function) if callable(function) else None)
