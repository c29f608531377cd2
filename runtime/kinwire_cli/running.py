"""Run a subcommand in an event loop that hears every signal; report when a server is slow."""

from __future__ import annotations

__all__ = ("patience_with", "run")

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, TypeVar, TypeVarTuple, cast

import anyio

from kinwire.support.background import background
from kinwire.support.signals import heard_by_the_loop
from kinwire_cli.status_line import takes_status, watched_stderr

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
SILENCE = 5.0  # seconds until a line in a pipe or a file
STATUS_AFTER = 2.0  # seconds until a status on a terminal
_TICK = 0.5  # seconds


def run(function: Callable[[*Ts], Awaitable[T]], *arguments: *Ts) -> T:
    """Return what `function` returns, once it has ended."""

    async def heard() -> T:
        asyncio.get_running_loop().set_exception_handler(_handle)
        with heard_by_the_loop():
            return await function(*arguments)

    return anyio.run(heard)


def _handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if not _is_interruption(context.get("exception")):
        loop.default_exception_handler(context)


def _is_interruption(error: BaseException | None) -> bool:
    if isinstance(error, BaseExceptionGroup):  # a task group was where Ctrl-C came
        group = cast("BaseExceptionGroup[BaseException]", error)
        return all(map(_is_interruption, group.exceptions))
    return isinstance(error, KeyboardInterrupt)


@asynccontextmanager
async def patience_with(method: str) -> AsyncGenerator[None]:
    """Show what is waited for, if the block is silent for some seconds.

    A terminal shows it with the seconds until the block ends or prints something. Elsewhere it is
    printed once.
    """
    wait = _show_wait if takes_status(sys.stderr) else _report_wait
    async with background() as tasks:
        tasks.start_soon(wait, method)
        yield
        tasks.cancel_scope.cancel()


async def _show_wait(method: str) -> None:
    began = monotonic()
    with watched_stderr() as line:
        while True:
            left = STATUS_AFTER - (monotonic() - line.last_text)
            if left <= 0:
                seconds = round(monotonic() - began)
                line.show(f"waiting {seconds} s for the server to answer {method}")
            await anyio.sleep(left if left > 0 else _TICK)


async def _report_wait(method: str) -> None:
    await anyio.sleep(SILENCE)
    print(f"waiting for the server to answer {method} ...", file=sys.stderr)
