"""Faults of users' functions: all that they raise, but not the end of the task that calls them."""

from __future__ import annotations

__all__ = ("ends_task",)

from asyncio import CancelledError, current_task

import anyio

from kinwire.support.background import running_loop


def ends_task(error: BaseException) -> bool:
    """Return whether `error` ends the running task, or the program.

    All else is a fault of the function that was called: also SystemExit, GeneratorExit, and the
    CancelledError of a future that it has read, while nobody has cancelled this task.
    """
    if isinstance(error, Exception):
        return False
    if isinstance(error, CancelledError) and running_loop() is not None:
        task = current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt | anyio.get_cancelled_exc_class())
