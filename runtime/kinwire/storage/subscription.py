"""Subscriptions: how a watch and a follower wait for more, and how writes wake them."""

from __future__ import annotations

__all__ = ("POLL", "Page", "PollingSource", "StoreSubscription", "WriteSignal")

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Generic, Protocol, TypeVar

import anyio

from kinwire.storage.errors import StorageUnavailableError

T = TypeVar("T")

POLL = 0.25  # seconds between looks without a signal: for expiries and writes of other processes

Page = Callable[[int], Awaitable[tuple[list[T], int]]]
"""Returns what comes after a position, and the position that is reached with it."""


class WriteSignal:
    """Wakes the readers that wait for a write in this process."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._asked = False

    def next(self) -> anyio.Event:
        """Return the event that the next write sets. Get it before looking, to miss no write."""
        self._asked = True
        return self._event

    def fire(self) -> None:
        """Report a write."""
        if self._asked:
            self._asked = False
            self._event.set()
            self._event = anyio.Event()


class SubscriptionSource(Protocol[T]):
    """Where a subscription gets its items."""

    async def more(self) -> list[T]:
        """Wait for more items and return them; [] asks to be called again."""
        ...

    async def aclose(self) -> None:
        """Release the resources of the source."""
        ...


class PollingSource(Generic[T]):
    """A source that looks again after each signal, and every `POLL` seconds without one."""

    def __init__(self, page: Page[T], signal: WriteSignal, position: int) -> None:
        self._page, self._signal, self._position = page, signal, position

    async def more(self) -> list[T]:
        written = self._signal.next()
        before = self._position
        found: list[T] = []
        with suppress(StorageUnavailableError):  # the reader waits anyway: it is asked again
            found, self._position = await self._page(before)
        if not found and self._position == before:
            with anyio.move_on_after(POLL):
                await written.wait()
        return found

    async def aclose(self) -> None:
        return


class StoreSubscription(Generic[T]):
    """An async iterator over a source, and the context manager that closes it."""

    def __init__(self, opened: Callable[[], Awaitable[SubscriptionSource[T]]]) -> None:
        self._opened = opened
        self._source: SubscriptionSource[T] | None = None
        self._ready: deque[T] = deque()

    async def __aenter__(self) -> AsyncIterator[T]:
        self._source = await self._opened()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        source, self._source = self._source, None
        self._ready.clear()
        if source is not None:
            await source.aclose()

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        while not self._ready:
            if self._source is None:
                raise StopAsyncIteration
            self._ready.extend(await self._source.more())
        return self._ready.popleft()
