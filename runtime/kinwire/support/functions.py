"""Functions of users: facts about them, and a call whose failure is only logged."""

from __future__ import annotations

__all__ = ("accepts", "call_back", "is_async", "name_of")

import inspect
from collections.abc import Callable
from logging import Logger
from types import FunctionType, MethodType
from typing import Any, TypeVar

T = TypeVar("T")


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling `function`, or what it wraps, returns an awaitable."""
    return _is_async(function) or _is_async(getattr(function, "__call__", None))  # noqa: B004


def name_of(value: object) -> str:
    """Return a name for `value` in messages: its own, or that of its type.

    Its `repr` would contain a memory address, and the arguments of a partial function.
    """
    kind = type(value)
    return str(getattr(value, "__qualname__", f"{kind.__module__}.{kind.__qualname__}"))


def accepts(function: Callable[..., Any], count: int) -> bool:
    """Return whether `function` accepts `count` positional arguments."""
    inner: Any = function.__func__ if isinstance(function, MethodType) else function
    if type(inner) is FunctionType and not inner.__dict__:  # it wraps nothing
        code = inner.__code__
        if not code.co_kwonlyargcount and not code.co_flags & inspect.CO_VARARGS:
            # What follows says the same and takes far longer; a session has dozens of these.
            most = code.co_argcount - (inner is not function)
            return most - len(inner.__defaults__ or ()) <= count <= most
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    return True


def call_back(function: Callable[[T], object], argument: T, logger: Logger, name: str) -> None:
    """Call `function`, and log what it raises, so that the connection goes on.

    `name` describes the function in the log. Only KeyboardInterrupt is raised.
    """
    try:
        function(argument)
    except KeyboardInterrupt:
        raise
    except BaseException:  # also the CancelledError of a future that it has read
        logger.exception("the %s failed", name)


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(function) if callable(function) else None)
