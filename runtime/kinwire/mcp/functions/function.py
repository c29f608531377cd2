"""Check that a user's function can be registered, and run it."""

from __future__ import annotations

__all__ = ("Function", "function_of", "must_be_function", "run_in_thread", "yields")

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio.to_thread

from kinwire.mcp.functions.parameters import place_of
from kinwire.rpc.errors import KinwireError
from kinwire.support.functions import name_of


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a user, async or plain."""

    call: Callable[..., Any]
    is_async: bool

    async def run(self, given: dict[str, Any]) -> Any:
        """Call the function with `given` and return its result; a plain one runs in a thread."""
        if self.is_async:
            return await self.call(**given)
        return await run_in_thread(self.call, given)


def function_of(function: Callable[..., Any], error_type: type[KinwireError]) -> Function:
    """Return `function` with the way it is called.

    Raises:
        KinwireError: an `error_type`: not a function or method, or a generator.
    """
    must_be_function(function, error_type)
    if yields(function):
        raise error_type(
            f"{place_of(function)}: expected a function that returns, got a generator. "
            "Return a list: only tools may yield."
        )
    return Function(function, inspect.iscoroutinefunction(function))


def must_be_function(function: Callable[..., Any], error_type: type[KinwireError]) -> None:
    """Check that `function` is one.

    Raises:
        KinwireError: an `error_type`: it is not a function or method.
    """
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise error_type(
            f"expected a function or a method, got {name_of(function)}. Wrap it in a typed `def`."
        )


def yields(function: Callable[..., Any]) -> bool:
    """Return whether `function` is a generator, asynchronous or plain."""
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


async def run_in_thread(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Call a plain function in a worker thread and return its result."""
    # The tuple is for a plain wrapper around an `async def`: trio refuses a coroutine as result.
    # When cancelled the thread is abandoned, because it cannot be stopped.
    (value,) = await anyio.to_thread.run_sync(lambda: (function(**given),), abandon_on_cancel=True)
    return await value if inspect.isawaitable(value) else value
