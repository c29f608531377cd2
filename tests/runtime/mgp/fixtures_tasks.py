"""How many tasks there are on the event loop of a test."""

from __future__ import annotations

__all__ = ("tasks_now",)

import asyncio

from kinwire.support.background import running_loop


def tasks_now() -> int:
    """Return how many tasks are not over."""
    if running_loop() is not None:
        return len(asyncio.all_tasks())
    import trio  # it is what runs

    return int(trio.lowlevel.current_statistics().tasks_living)
