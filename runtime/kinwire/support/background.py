"""Tasks in the background: of a context manager's body, or detached from any task."""

from __future__ import annotations

__all__ = (
    "CallSoon",
    "background",
    "call_soon",
    "movable_background",
    "running_loop",
    "start_detached",
)

import asyncio
from asyncio import AbstractEventLoop, Task
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from contextvars import copy_context
from typing import Any

import anyio
from anyio.abc import TaskGroup

running_loop: Callable[[], AbstractEventLoop | None] = asyncio._get_running_loop
"""Return asyncio's loop, None where trio runs. Every request over HTTP asks."""

CallSoon = Callable[[Callable[[], object]], object]
"""Has a function called in an event loop soon; threads and signal handlers may call it."""

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


@asynccontextmanager
async def movable_background() -> AsyncGenerator[TaskGroup]:
    """Yield a task group as `background` does; the block may end in another task than it began in.

    A task group belongs to the task that entered it, so a detached task enters it here. If a task
    of the group fails, the others are cancelled, and the error is raised at the end of the block.
    """
    owner = _GroupOwner()
    try:
        yield await owner.open()
    except BaseException:
        owner.cancel()
        raise
    finally:
        await owner.close()


class _GroupOwner:
    """The detached task that has entered a task group."""

    def __init__(self) -> None:
        self._opened = anyio.Event()
        self._closing = anyio.Event()
        self._over = anyio.Event()
        self._error: Exception | None = None
        self._tasks: TaskGroup | None = None

    async def open(self) -> TaskGroup:
        """Return the group."""
        start_detached(self._run)
        with anyio.CancelScope(shield=True):  # it takes one turn of the loop
            await self._opened.wait()
        assert self._tasks is not None
        return self._tasks

    def cancel(self) -> None:
        """Cancel the tasks of the group."""
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()

    async def close(self) -> None:
        """Wait for the tasks of the group, and raise what one of them has raised."""
        self._closing.set()
        if self._tasks is not None:
            await self._wait_over()
        if self._error is not None:
            raise self._error

    async def _wait_over(self) -> None:
        """Wait for the end of the group. No scope holds `Task.cancel` back, so that ends it."""
        try:
            with anyio.CancelScope(shield=True):
                await self._over.wait()
        except anyio.get_cancelled_exc_class():
            self.cancel()
            await self._wait_over()
            raise

    async def _run(self) -> None:
        try:
            async with anyio.create_task_group() as self._tasks:
                self._opened.set()
                await self._closing.wait()
        except Exception as error:  # also the group of errors that tasks have raised
            self._error = error
        finally:
            self._over.set()


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


def call_soon() -> CallSoon:
    """Return what has functions called in the loop that runs here."""
    loop = running_loop()
    if loop is not None:
        return loop.call_soon_threadsafe
    import trio  # it is what runs

    return trio.lowlevel.current_trio_token().run_sync_soon
