"""A task group that runs beside the body of a context manager and leaves its errors as they are."""

from __future__ import annotations

__all__ = ("background",)

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def background() -> AsyncGenerator[TaskGroup]:
    """Yield a task group; at the end wait for its tasks, or cancel them if the body failed.

    An error of the body comes out bare: `async with` blocks of users must not turn their own
    exceptions into groups.
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
