"""Refuses inference that the answer to a hook would wait for, before it is sent (MCPL 10.7).

Everything that a handler starts inherits a context variable, which has the task of the handler. The
answer waits for this task, and for the tasks of groups that it has opened (anyio's task groups,
trio's nurseries), since a group ends before the task does. Any other task works in the background
and may infer, also one that the handler has started in a group of the program.

On asyncio a handler can also wait for tasks of `asyncio.create_task`, `asyncio.gather` or
`asyncio.TaskGroup`. These know no parent, so they count as background.
"""

from __future__ import annotations

__all__ = ("refuse_in_hook", "serve_hook")

from contextvars import ContextVar
from typing import Any

import anyio

from kinwire.mcp.extension import Next
from kinwire.mcpl.rules.open_hooks import nested_inference
from kinwire.rpc.request import Request
from kinwire_protocols.mcpl.models import InferenceRequestParams
from kinwire_protocols.peer import Method


class _Handler:
    """The handler of a hook; `task` is the id of its task, and None when it has ended."""

    def __init__(self) -> None:
        self.task: int | None = anyio.get_current_task().id


_current = ContextVar[_Handler | None]("kinwire_hook", default=None)


async def serve_hook(params: Any, request: Request, go_on: Next[Any, Any]) -> Any:
    """Serve a hook, as an interceptor; nobody waits for the answer to a notification."""
    if request.id is None:
        return await go_on(params)
    handler = _Handler()
    token = _current.set(handler)
    try:
        return await go_on(params)
    finally:
        handler.task = None  # what it has started and left running is background from now on
        _current.reset(token)


def refuse_in_hook(params: InferenceRequestParams, method: Method[Any, Any]) -> None:
    """Raise if the answer to a hook waits for this request.

    Raises:
        InvalidRequestError: it does; `data["retryable"]` is True.
    """
    handler = _current.get()
    if handler is not None and _belongs_to(handler.task):
        raise nested_inference(
            "expected it outside of the handler of a hook, whose answer would wait for it. Start "
            "a task in a task group of your program, and request inference there."
        )


def _belongs_to(owner: int | None) -> bool:
    """Return whether the current task is `owner`, or in a task group below it; None has no task."""
    task = anyio.get_current_task()
    if task.id == owner:
        return True
    parents = {one.id: one.parent_id for one in anyio.get_running_tasks()}
    above = task.parent_id
    while above is not None and above != owner:
        above = parents.get(above)
    return above is not None
