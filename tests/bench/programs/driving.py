"""Makes calls when asked to on stdin. This file also runs where kinwire is not installed."""

from __future__ import annotations

__all__ = ("drive",)

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

Work = Callable[[], Coroutine[Any, Any, None]]


async def gather(work: Work, times: int) -> None:
    """Do the work that many times in parallel; a task group would cost as much as calls."""
    await asyncio.gather(*[work() for _ in range(times)])


async def drive(
    call: Callable[[str], Awaitable[object]],
    at_once: Callable[[Work, int], Awaitable[None]] = gather,
) -> None:
    """Do what each line of stdin asks for: how many calls, how many in parallel, and their size."""
    print("ready", flush=True)
    for line in sys.stdin:  # nothing else is to happen, so this may block the loop
        calls, workers, size = map(int, line.split())
        text = "x" * size
        if text not in str(await call(text)):
            raise SystemExit("the text did not come back")

        async def work(text: str = text, times: int = calls // workers) -> None:
            for _ in range(times):
                await call(text)

        await at_once(work, workers)
        print("done", flush=True)
