"""News that wait for a reader: each once, however often they came."""

from __future__ import annotations

__all__ = ("Feed",)

from collections.abc import AsyncIterator, Callable
from typing import Generic, Self, TypeVar

import anyio
import anyio.lowlevel

from kinwire.rpc.errors import ConnectionClosedError

T = TypeVar("T")


class Feed(AsyncIterator[T], Generic[T]):
    """What a reader has not fetched yet. `add` changes what waits; it decides what is kept."""

    def __init__(self, add: Callable[[dict[T, None], T], None]) -> None:
        self._add = add
        self._waiting: dict[T, None] = {}  # a set in order
        self._changed = anyio.Event()
        self._ended = False
        self._why: ConnectionClosedError | None = None

    def put(self, item: T) -> None:
        """Have the reader get `item`."""
        self._add(self._waiting, item)
        self._changed.set()

    def end(self, why: ConnectionClosedError | None = None) -> None:
        """Let the reader end after what waits; `why` is an error that it gets then."""
        self._ended = True
        self._why = self._why or why
        self._changed.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        await anyio.lowlevel.checkpoint()
        while not self._waiting:
            if self._why is not None:
                raise self._why.again()
            if self._ended:
                raise StopAsyncIteration
            self._changed = anyio.Event() if self._changed.is_set() else self._changed
            await self._changed.wait()
        item = next(iter(self._waiting))
        del self._waiting[item]
        return item
