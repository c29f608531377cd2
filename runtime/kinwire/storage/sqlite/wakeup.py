"""How a thread has something done on the event loop, and how a task waits for that."""

from __future__ import annotations

__all__ = ("Home", "Waiter")

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Protocol

import anyio


class Waiter(Protocol):
    """What one task awaits. Futures of asyncio are such, and cost half of what an event does."""

    def __await__(self) -> Generator[Any, Any, None]:
        """Wait until there is a result."""
        ...

    def done(self) -> bool:
        """Whether there is one, or nobody waits any more."""
        ...

    def set_result(self, result: None, /) -> None:
        """Let the task go on."""


class Home:
    """The event loop that runs where this is made."""

    def __init__(self) -> None:
        try:
            native = asyncio.current_task() is not None  # None below a trio guest of asyncio's loop
        except RuntimeError:
            native = False
        self.later: Callable[[Callable[[], None]], object]
        """Calls a function soon on the loop, from any thread; RuntimeError once that is over."""
        self.waiter: Callable[[], Waiter] = _Event
        """Makes one for a task of the loop."""
        if native:
            loop = asyncio.get_running_loop()
            self.later, self.waiter = loop.call_soon_threadsafe, loop.create_future
        else:
            from trio.lowlevel import current_trio_token

            self.later = current_trio_token().run_sync_soon


class _Event:
    def __init__(self) -> None:
        self._event = anyio.Event()
        self.done = self._event.is_set

    def __await__(self) -> Generator[Any, Any, None]:
        return self._event.wait().__await__()

    def set_result(self, result: None, /) -> None:
        self._event.set()
