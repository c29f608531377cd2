"""Calls a function of the user within a time limit, and distinguishes the ways in which it ends.

Around such a function, `except TimeoutError` would take an exception of the function itself, as of
a call that it makes, for the end of its time: its traceback would be lost, and the caller would
report a slow function where one has failed.
"""

from __future__ import annotations

__all__ = ("Answer", "Failed", "Late", "ask", "log_failure")

from asyncio import CancelledError, current_task
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from logging import Logger
from math import inf
from types import UnionType
from typing import Generic, TypeVar

import anyio

from kinwire.support.errors import KinwireError
from kinwire.support.sanitize import sanitize_for_log
from kinwire.support.validation import expect_type

A = TypeVar("A")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """The function returned `value`, which has the expected type."""

    value: T


@dataclass(frozen=True, slots=True)
class Late:
    """The function did not return within `seconds`, and was cancelled."""

    seconds: float

    @property
    def reason(self) -> str:
        """Why there is no answer, as a clause."""
        return "it was late"


@dataclass(frozen=True, slots=True)
class Failed:
    """The function raised `error`, or returned a value of another type (`TypeError`).

    Log it with its traceback: `logger.error("...", exc_info=failed.error)`.
    """

    error: Exception

    @property
    def reason(self) -> str:
        """Why there is no answer, on one line: a peer may have written the text of the error."""
        return sanitize_for_log(self.error) or type(self.error).__name__


async def ask(
    callback: Callable[[A], Awaitable[T]],
    argument: A,
    *,
    name: str,
    timeout: float | None,
    expects: type | UnionType,
) -> Answer[T] | Late | Failed:
    """Call `callback` with `argument`, and return how it ended.

    `name` is the name of the function in the error about its type: "Scopes.ask". `timeout` is in
    seconds; None for no limit. `expects` is the type of a value, or a union of types; `object` for
    any value. Nothing is logged here.

    A function that returns or raises after its time is over, because it did not wait or caught its
    cancellation, has answered or failed: the result of its work counts, and not the clock. A
    cancellation of the caller is raised; asyncio's `CancelledError` of something else that the
    function awaits, such as a task that was cancelled, is a failure (`RuntimeError`).
    """
    try:
        with anyio.move_on_after(timeout):
            called = callback(argument)
            if not hasattr(called, "__await__"):
                raise _not_async(name)
            return Answer(expect_type(name, await called, expects))
    except Exception as error:  # outside the scope, which may leave only a part of a group
        return Failed(error)
    except CancelledError as error:
        if _is_cancelled():
            raise
        failure = RuntimeError(f"{name}: something that it awaits was cancelled")
        failure.__cause__ = error
        return Failed(failure)
    assert timeout is not None  # else nothing could have ended the block
    return Late(timeout)


def _not_async(name: str) -> TypeError:
    """Return the error for a callback that has returned no awaitable."""
    return TypeError(
        f"{name}: expected an async function, got a plain one. Define it with `async def`."
    )


def _is_cancelled() -> bool:
    """Return whether the current task of asyncio is being cancelled, natively or by a scope."""
    task = current_task()
    natively = task is not None and task.cancelling() > 0
    return natively or anyio.current_effective_deadline() == -inf


def log_failure(logger: Logger, outcome: Late | Failed, text: str, *arguments: object) -> None:
    """Warn that a call to a peer failed, with the reason behind `text`.

    The traceback is logged as well if the error is not one of ours: then a function of the user,
    such as an interceptor, has raised it.
    """
    error = outcome.error if isinstance(outcome, Failed) else None
    bug = None if isinstance(error, KinwireError) else error
    logger.warning(f"{text}: %s", *arguments, outcome.reason, exc_info=bug)
