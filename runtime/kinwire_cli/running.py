"""Runs what a verb does in an event loop that hears every signal and says nothing of Ctrl-C."""

from __future__ import annotations

__all__ = ("run",)

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, TypeVarTuple, cast

import anyio

from kinwire.support.signals import heard_by_the_loop

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def run(function: Callable[[*Ts], Awaitable[T]], *arguments: *Ts) -> T:
    """Return what `function` returns, once it has ended."""

    async def heard() -> T:
        asyncio.get_running_loop().set_exception_handler(_tell)
        with heard_by_the_loop():
            return await function(*arguments)

    return anyio.run(heard)


def _tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if not _is_interruption(context.get("exception")):
        loop.default_exception_handler(context)


def _is_interruption(error: BaseException | None) -> bool:
    if isinstance(error, BaseExceptionGroup):  # a task group was where Ctrl-C came
        group = cast("BaseExceptionGroup[BaseException]", error)
        return all(map(_is_interruption, group.exceptions))
    return isinstance(error, KeyboardInterrupt)
