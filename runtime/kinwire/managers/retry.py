"""Work that is tried again: one call, and a queue of items that are delivered in order."""

from __future__ import annotations

__all__ = ("QueuedItem", "RetryQueue", "retry")

import logging
import random
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
from anyio.abc import TaskGroup

from kinwire.storage.errors import StorageError
from kinwire.storage.records import Records
from kinwire.support.background import background
from kinwire.support.backoff import Backoff
from kinwire.support.sanitize import sanitize_for_log
from kinwire.support.validation import checked_count

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[object]]
Random = Callable[[], float]

logger = logging.getLogger("kinwire.managers")


async def retry(
    attempt: Callable[[int], Awaitable[T]],
    *,
    attempts: int,
    again: Callable[[T], bool],
    errors: type[Exception] | tuple[type[Exception], ...] = (),
    backoff: Backoff,
    draw: Random = random.random,
    sleep: Sleep = anyio.sleep,
) -> T:
    """Call `attempt` with 1, 2, ... until its result is final, and return the last result.

    An attempt failed if it raises one of `errors`, or if `again` returns True for its result.
    After `attempts` attempts the result is returned, or the error raised, as it is.
    """
    for number in range(1, attempts):
        try:
            result = await attempt(number)
        except errors:
            pass
        else:
            if not again(result):
                return result
        await sleep(backoff.delay(number, jitter=draw()))
    return await attempt(attempts)


@dataclass(frozen=True, slots=True)
class QueuedItem:
    """An item of a `RetryQueue`, as it is handed over to be delivered."""

    key: str
    value: Any
    """The JSON value that was put into the queue."""
    attempt: int
    """1, or more after attempts that failed."""
    recovered: bool
    """Whether it was recorded by an earlier run, which may have delivered it."""

    @property
    def may_be_repeated(self) -> bool:
        """Whether an earlier attempt may have delivered it."""
        return self.recovered or self.attempt > 1


@dataclass(frozen=True, slots=True)
class _QueuedEntry:
    sequence: int
    value: Any
    recovered: bool


class _Lane:
    """The entries of one key."""

    def __init__(self) -> None:
        self.entries: deque[_QueuedEntry] = deque()
        self.writing = anyio.Lock()  # producers come in one after the other
        self.producers = 0
        self.changed = anyio.Event()
        self.is_worked_on = False

    def wake(self) -> None:
        """Wake the producer that waits for room."""
        self.changed.set()
        self.changed = anyio.Event()


class RetryQueue:
    """Items that are delivered in the order of their key, and tried again until they are done.

    `deliver` returns True when an item is done, whether it was delivered or refused for good, and
    False if it must be tried again after a delay. An exception of it is logged and counts as
    False. Items of different keys are delivered concurrently.

    A key has at most `limit` items; then `put` waits. With `records`, items are kept under `prefix`
    until they are done, also over restarts. Only one queue at a time may use the same prefix.
    Without records, items that are left when the queue stops are lost.
    """

    def __init__(
        self,
        deliver: Callable[[QueuedItem], Awaitable[bool]],
        *,
        records: Records | None = None,
        prefix: str = "queue/",
        limit: int = 1000,
        backoff: Backoff | None = None,
        draw: Random = random.random,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        """Prepare a queue; it works within `running`.

        Raises:
            ValueError: `limit` is out of range.
        """
        checked_count("RetryQueue: limit", limit, least=1)
        self._deliver = deliver
        self._records, self._prefix = records, prefix
        self._limit = limit
        self._backoff = backoff or Backoff()
        self._draw, self._sleep = draw, sleep
        self._lanes: dict[str, _Lane] = {}
        self._last = 0
        self._tasks: TaskGroup | None = None
        self._pending = 0
        self._idle = anyio.Event()

    @property
    def pending(self) -> int:
        """The number of items that are not done."""
        return self._pending

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Deliver items until the block is left. Deliveries that are under way are cancelled.

        Raises:
            StorageError: the recorded items cannot be read.
        """
        await self._recover()
        async with background() as tasks:
            self._tasks = tasks
            for key, lane in self._lanes.items():
                self._start(key, lane)
            try:
                yield
            finally:
                self._stop(tasks)

    async def put(self, key: str, value: Any) -> None:
        """Add an item, a JSON value, behind those of its key; return when it is recorded.

        Wait while the key has `limit` items. If this is cancelled, the item may have been added.

        Raises:
            RuntimeError: the queue does not run.
            StorageError: the item cannot be recorded; `outcome_unknown` says if it may have been.
        """
        lane = self._lane(key)
        lane.producers += 1
        try:
            async with lane.writing:
                await self._room(lane)
                await self._add(key, lane, value)
        finally:
            lane.producers -= 1
            self._remove_unused(key, lane)

    async def drain(self) -> None:
        """Wait until all items are done, or the queue stops."""
        while self._pending and self._tasks is not None:
            await self._idle.wait()

    async def _room(self, lane: _Lane) -> None:
        while len(lane.entries) >= self._limit and self._tasks is not None:
            await lane.changed.wait()
        if self._tasks is None:
            raise RuntimeError("The queue does not run. Put items within queue.running().")

    async def _add(self, key: str, lane: _Lane, value: Any) -> None:
        self._last += 1
        entry = _QueuedEntry(self._last, value, False)
        with anyio.CancelScope(shield=True):  # what is recorded is also queued
            if self._records is not None:
                kept = {"key": key, "value": value}
                await self._records.put(self._place(entry), kept, revision=0)
        self._enqueue(lane, entry)
        if self._tasks is not None and not lane.is_worked_on:
            self._start(key, lane)

    def _start(self, key: str, lane: _Lane) -> None:
        assert self._tasks is not None
        lane.is_worked_on = True
        self._tasks.start_soon(self._work, key, lane)

    async def _work(self, key: str, lane: _Lane) -> None:
        while lane.entries:
            await self._finish(key, lane.entries[0])
            await self._forget(lane.entries[0])
            lane.entries.popleft()
            self._pending -= 1
            lane.wake()
        lane.is_worked_on = False
        self._remove_unused(key, lane)

    async def _finish(self, key: str, entry: _QueuedEntry) -> None:
        """Try until the item is done."""
        attempt = 1
        while not await self._try(QueuedItem(key, entry.value, attempt, entry.recovered)):
            await self._sleep(self._backoff.delay(attempt, jitter=self._draw()))
            attempt += 1

    async def _try(self, item: QueuedItem) -> bool:
        try:
            return await self._deliver(item)
        except Exception:
            place = sanitize_for_log(item.key)
            logger.exception("attempt %d for %s failed; it is repeated", item.attempt, place)
            return False

    async def _forget(self, entry: _QueuedEntry) -> None:
        if self._records is None:
            return
        try:
            with anyio.CancelScope(shield=True):
                await self._records.delete(self._place(entry))
        except StorageError as error:
            problem = sanitize_for_log(error)
            logger.warning("an item that is done may come again after a restart: %s", problem)

    async def _recover(self) -> None:
        self._lanes, self._pending = {}, 0
        if self._records is None:
            return
        found = {record.key: record.value async for record in self._records.scan(self._prefix)}
        for place in sorted(found):
            self._restore(place.removeprefix(self._prefix), found[place])

    def _restore(self, number: str, kept: Any) -> None:
        self._last = int(number) if number.isdecimal() else self._last
        match kept:
            case {"key": str(key), "value": value} if number.isdecimal():
                self._enqueue(self._lane(key), _QueuedEntry(self._last, value, True))
            case _:
                logger.warning("ignored a record below %r that is not an item", self._prefix)

    def _enqueue(self, lane: _Lane, entry: _QueuedEntry) -> None:
        lane.entries.append(entry)
        self._pending += 1

    def _lane(self, key: str) -> _Lane:
        return self._lanes.setdefault(key, _Lane())

    def _stop(self, tasks: TaskGroup) -> None:
        tasks.cancel_scope.cancel()
        self._tasks = None
        if self._records is None and self._pending:
            logger.warning("%d items were not delivered and are lost", self._pending)
        for lane in self._lanes.values():
            lane.wake()
        self._wake_drain()

    def _remove_unused(self, key: str, lane: _Lane) -> None:
        if not lane.entries and not lane.producers and self._lanes.get(key) is lane:
            del self._lanes[key]
        if not self._pending:
            self._wake_drain()

    def _wake_drain(self) -> None:
        self._idle.set()
        self._idle = anyio.Event()

    def _place(self, entry: _QueuedEntry) -> str:
        return f"{self._prefix}{entry.sequence:016d}"
