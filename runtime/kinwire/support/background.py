"""Tasks in the background: of a context manager's body, or detached from any task."""

from __future__ import annotations

__all__ = ("background", "running_loop", "start_detached")

import asyncio
from asyncio import AbstractEventLoop, Task
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import copy_context
from typing import Any

import anyio
from anyio.abc import TaskGroup

_detached: set[Task[None]] = set()  # a loop itself keeps no task alive


@asynccontextmanager
async def background() -> AsyncGenerator[TaskGroup]:
    """Yield a task group; at the end wait for its tasks, or cancel them if the body failed.

    An error of the body is not wrapped: `async with` blocks of users must not turn their own
    exceptions into exception groups.
    """
    tasks = anyio.create_task_group()
    await tasks.__aenter__()
    try:
        yield tasks
    except BaseException:
        tasks.cancel_scope.cancel()
        raise
    finally:
        await tasks.__aexit__(None, None, None)


def running_loop() -> AbstractEventLoop | None:
    """Return asyncio's loop, None where trio runs."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def start_detached(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `work` in a task that is cancelled only when the event loop ends.

    It runs in a copy of the caller's context, and must not raise.
    """
    loop = running_loop()
    if loop is None:
        import trio  # it is what runs

        trio.lowlevel.spawn_system_task(work, context=copy_context())
        return
    task = loop.create_task(work())
    _detached.add(task)
    task.add_done_callback(_detached.discard)
