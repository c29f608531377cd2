"""A task group for the body of a context manager, which raises the errors of the body unchanged."""

from __future__ import annotations

__all__ = ("background",)

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


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
