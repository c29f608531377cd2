"""Work that is for one connection, and ends with it."""

from __future__ import annotations

__all__ = ("while_open",)

from collections.abc import Callable, Coroutine
from typing import Any

from kinwire.rpc.session import Session
from kinwire.support.background import background


async def while_open(session: Session, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `function`, and cancel it as soon as the connection has ended.

    Tasks of `Session.start_soon` get time to finish then, and the end of the connection waits for
    them. So work that waits for something that may never come starts with this.
    """
    async with background() as tasks:

        async def end() -> None:
            await session.wait_closed()
            tasks.cancel_scope.cancel()

        tasks.start_soon(end)
        await function()
        tasks.cancel_scope.cancel()
