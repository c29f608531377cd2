"""What a program does that makes calls when it is told to. It also runs where kinwire is not."""

from __future__ import annotations

__all__ = ("drive",)

import sys
from collections.abc import Awaitable, Callable

import anyio


async def drive(call: Callable[[str], Awaitable[object]]) -> None:
    """Do what each line of stdin asks for: how many calls, how many at once, and their size."""
    print("ready", flush=True)
    for line in sys.stdin:  # nothing else is to happen meanwhile, so this may block the loop
        calls, at_once, size = map(int, line.split())
        text = "x" * size
        if text not in str(await call(text)):
            raise SystemExit("the text did not come back")
        async with anyio.create_task_group() as tasks:
            for _ in range(at_once):
                tasks.start_soon(_repeat, call, text, calls // at_once)
        print("done", flush=True)


async def _repeat(call: Callable[[str], Awaitable[object]], text: str, times: int) -> None:
    for _ in range(times):
        await call(text)
