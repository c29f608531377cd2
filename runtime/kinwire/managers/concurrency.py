"""Work of one key: one after the other (`KeyedLock`), or shared by its callers (`InFlight`)."""

from __future__ import annotations

__all__ = ("InFlight", "KeyedLock")

from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager
from functools import partial
from typing import Generic, TypeVar

import anyio

from kinwire.support.background import start_detached

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class KeyedLock(Generic[K]):
    """A lock for each key: `async with locks.of(key):`.

    Waiters get the lock in the order in which they came. A key takes memory only while its lock is
    held or awaited. Locks of several keys that one task takes can deadlock: take them in one order.
    """

    def __init__(self) -> None:
        self._locks: dict[K, anyio.Lock] = {}

    def __len__(self) -> int:
        """Return the number of keys whose lock is held or awaited."""
        return len(self._locks)

    def __contains__(self, key: K) -> bool:
        """Return whether the lock of `key` is held or awaited."""
        return key in self._locks

    @asynccontextmanager
    async def of(self, key: K) -> AsyncGenerator[None]:
        """Hold the lock of `key` while the block lasts."""
        await self.acquire(key)
        try:
            yield
        finally:
            self.release(key)

    async def acquire(self, key: K) -> None:
        """Take the lock of `key`; then the same task must `release` it."""
        lock = self._locks.get(key)
        if lock is None:  # a free lock is taken without a switch of tasks
            lock = self._locks[key] = anyio.Lock(fast_acquire=True)
        try:
            await lock.acquire()
        except BaseException:
            # Another task that was cancelled, or that had the lock since, may have removed it.
            if self._locks.get(key) is lock and not lock.locked():
                del self._locks[key]
            raise

    def release(self, key: K) -> None:
        """Give the lock of `key` to the task that has waited longest."""
        lock = self._locks[key]
        lock.release()
        if not lock.locked():
            del self._locks[key]


class InFlight(Generic[K, T]):
    """Work under way, by key: callers of equal work await the same run of it.

    The work runs in a task of its own, in a copy of the context of its first caller. A caller that
    is cancelled leaves the others waiting; the work is cancelled when no caller is left. An error
    of the work is raised to all its callers. Nothing is remembered after the work has ended.
    """

    def __init__(self) -> None:
        self._flights: dict[K, _Flight[T]] = {}

    def __contains__(self, key: K) -> bool:
        """Return whether work of `key` is under way."""
        return key in self._flights

    async def run(self, key: K, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of the work of `key` that is under way, else of `work`.

        Raises:
            Exception: what the work raised.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight[T]()
            start_detached(partial(self._run, key, flight, work))
        flight.callers += 1
        try:
            await flight.ended.wait()
        finally:
            flight.callers -= 1
            if not flight.callers:
                flight.scope.cancel()
                self._remove(key, flight)
        if flight.error is not None:
            raise flight.error
        return flight.results[0]

    async def _run(self, key: K, flight: _Flight[T], work: Callable[[], Awaitable[T]]) -> None:
        try:
            with flight.scope:
                flight.results.append(await work())
        except Exception as error:
            flight.error = error
        finally:
            if not flight.results and flight.error is None:
                flight.error = RuntimeError("the work was cancelled: the event loop ends")
            self._remove(key, flight)
            flight.ended.set()

    def _remove(self, key: K, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:  # else equal work was begun since
            del self._flights[key]


class _Flight(Generic[T]):
    """One run of work, and those that await it."""

    def __init__(self) -> None:
        self.callers = 0
        self.results: list[T] = []  # empty until the work has returned
        self.error: Exception | None = None
        self.ended = anyio.Event()
        self.scope = anyio.CancelScope()
