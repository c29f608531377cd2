"""Readers that stay: what a watch and a follower are, and how they learn that there is more."""

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

POLL = 0.25  # seconds after which one looks unasked: for expiries, and for other processes

Page = Callable[[int], Awaitable[tuple[list[T], int]]]
"""Returns what comes after a position, and the position that is reached with it."""


class WriteSignal:
    """Tells those who wait that something was written here."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._asked = False

    def next(self) -> anyio.Event:
        """Return what is set by the next write. Ask before looking, so that none is missed."""
        self._asked = True
        return self._event

    def fire(self) -> None:
        """Something was written."""
        if self._asked:
            self._asked = False
            self._event.set()
            self._event = anyio.Event()


class SubscriptionSource(Protocol[T]):
    """Where a reader that stays has it from."""

    async def more(self) -> list[T]:
        """Wait for more and return it; nothing when it is time to be asked again."""
        ...

    async def aclose(self) -> None:
        """Give back what the source holds."""
        ...


class PollingSource(Generic[T]):
    """A source that looks again after each signal, and now and then without."""

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
