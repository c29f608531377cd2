"""Work that is for one connection, and ends with it."""

from __future__ import annotations

__all__ = ("must_stay_open", "while_open")

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio

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


@asynccontextmanager
async def must_stay_open(session: Session) -> AsyncGenerator[None]:
    """Cancel the block when the connection ends: a call does not wait for a person then.

    Raises:
        ConnectionClosedError: the connection has ended.
    """
    with anyio.CancelScope() as scope:
        async with background() as tasks:

            async def end() -> None:
                await session.wait_closed()
                scope.cancel()

            tasks.start_soon(end)
            yield
            tasks.cancel_scope.cancel()
    if session.closed_why is not None:
        raise session.closed_why
