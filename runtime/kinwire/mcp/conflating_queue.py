"""A queue for one reader that holds each item once, however often it is put."""

from __future__ import annotations

__all__ = ("ConflatingQueue",)

from collections.abc import AsyncIterator, Callable
from typing import Generic, Self, TypeVar

import anyio
import anyio.lowlevel

from kinwire.rpc.errors import ConnectionClosedError

T = TypeVar("T")


class ConflatingQueue(AsyncIterator[T], Generic[T]):
    """The items that the reader has not fetched yet.

    `add` puts an item into the ordered set of pending items; it may also replace items there.
    """

    def __init__(self, add: Callable[[dict[T, None], T], None]) -> None:
        self._add = add
        self._pending: dict[T, None] = {}  # a set in order
        self._changed = anyio.Event()
        self._closed = False
        self._error: ConnectionClosedError | None = None

    def put(self, item: T) -> None:
        """Add `item` for the reader."""
        self._add(self._pending, item)
        self._changed.set()

    def close(self, error: ConnectionClosedError | None = None) -> None:
        """End the iteration after the pending items; the reader gets `error` then, if given."""
        self._closed = True
        self._error = self._error or error
        self._changed.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        await anyio.lowlevel.checkpoint()
        while not self._pending:
            if self._error is not None:
                raise self._error.again()
            if self._closed:
                raise StopAsyncIteration
            self._changed = anyio.Event() if self._changed.is_set() else self._changed
            await self._changed.wait()
        item = next(iter(self._pending))
        del self._pending[item]
        return item
