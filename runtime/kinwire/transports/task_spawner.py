"""Tasks on behalf of callbacks: a task group of anyio cannot be used in those of asyncio."""

from __future__ import annotations

__all__ = ("TaskSpawner", "task_spawner")

from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager

import anyio

Work = Callable[[], Coroutine[object, object, object]]


@asynccontextmanager
async def task_spawner() -> AsyncGenerator[TaskSpawner]:
    """Yield a `TaskSpawner`, and cancel its tasks when the block is left.

    A cancellation from outside reaches only the block: what it does in its `finally` can still use
    what the tasks do.
    """
    spawner = TaskSpawner()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(spawner.run)
        try:
            yield spawner
        finally:
            spawner.scope.cancel()


class TaskSpawner:
    """Tasks that live as long as the block of `task_spawner`."""

    def __init__(self) -> None:
        self._waiting: deque[Work] = deque()
        self._news = anyio.Event()
        self.scope = anyio.CancelScope(shield=True)

    def spawn(self, work: Work) -> None:
        """Run `work` in a task of its own, from the next turn of the loop."""
        self._waiting.append(work)
        self._news.set()

    async def run(self) -> None:
        """Start the tasks that were requested."""
        with self.scope:
            async with anyio.create_task_group() as tasks:
                while True:
                    while self._waiting:
                        tasks.start_soon(self._waiting.popleft())
                    self._news = anyio.Event()
                    await self._news.wait()
