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
    """1, or more after attempts that failed or were cancelled."""
    recovered: bool
    """Whether it was recorded by an earlier process, which may have delivered it."""

    @property
    def may_be_repeated(self) -> bool:
        """Whether an earlier attempt may have delivered it."""
        return self.recovered or self.attempt > 1


@dataclass(slots=True)
class _QueuedEntry:
    sequence: int
    value: Any
    recovered: bool = False
    attempts: int = 0


class _Lane:
    """The entries of one key."""

    def __init__(self) -> None:
        self.entries: deque[_QueuedEntry] = deque()
        self.writing = anyio.Lock()  # producers come in one after the other
        self.producers = 0
        self.has_room = anyio.Event()  # for the producer that writes
        self.is_worked_on = False

    def remove_first(self) -> None:
        self.entries.popleft()
        self.has_room.set()
        self.has_room = anyio.Event()


class RetryQueue:
    """Items that are delivered in the order of their key, and tried again until they are done.

    `deliver` returns True when an item is done, whether it was delivered or refused for good, and
    False if it must be tried again after a delay. An exception of it is logged and counts as
    False. Items of different keys are delivered concurrently.

    A key has at most `limit` items; then `put` waits. With `records`, items are kept under `prefix`
    until they are done, also over restarts. Only one queue may use the same prefix at a time.
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
        """Prepare a queue; items are delivered within `running`.

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
        self._pending = 0
        self._tasks: TaskGroup | None = None
        self._opening = anyio.Lock()
        self._is_open = records is None
        self._idle = anyio.Event()

    @property
    def pending(self) -> int:
        """The number of items that are not done."""
        return self._pending

    def pending_of(self, key: str) -> int:
        """Return the number of items of `key` that are not done."""
        lane = self._lanes.get(key)
        return 0 if lane is None else len(lane.entries)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Deliver items until the block is left, then cancel the deliveries that are under way.

        Items that are not done stay in the queue.

        Raises:
            StorageError: the recorded items cannot be read.
        """
        await self._open()
        async with background() as tasks:
            self._tasks = tasks
            for key, lane in self._lanes.items():
                self._start(key, lane)
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    async def put(self, key: str, value: Any) -> None:
        """Add an item, a JSON value, behind those of its key; return when it is recorded.

        Wait while the key has `limit` items. If this is cancelled, the item may have been added.

        Raises:
            StorageError: the item cannot be recorded; `outcome_unknown` says if it may have been.
        """
        await self._open()
        lane = self._lanes.setdefault(key, _Lane())
        lane.producers += 1
        try:
            async with lane.writing:
                while len(lane.entries) >= self._limit:
                    await lane.has_room.wait()
                await self._add(key, lane, value)
        finally:
            lane.producers -= 1
            self._remove_unused(key, lane)

    async def drain(self) -> None:
        """Wait until all items are done."""
        await self._open()
        while self._pending:
            await self._idle.wait()

    async def _add(self, key: str, lane: _Lane, value: Any) -> None:
        self._last += 1
        entry = _QueuedEntry(self._last, value)
        with anyio.CancelScope(shield=True):  # what is recorded is also queued
            if self._records is not None:
                kept = {"key": key, "value": value}
                await self._records.put(self._place(entry), kept, revision=0)
        lane.entries.append(entry)
        self._pending += 1
        self._start(key, lane)

    def _start(self, key: str, lane: _Lane) -> None:
        if self._tasks is not None and lane.entries and not lane.is_worked_on:
            lane.is_worked_on = True
            self._tasks.start_soon(self._work, key, lane)

    async def _work(self, key: str, lane: _Lane) -> None:
        try:
            while lane.entries:
                await self._finish(key, lane.entries[0])
                await self._forget(lane.entries[0])
                lane.remove_first()
                self._pending -= 1
        finally:
            lane.is_worked_on = False
        self._remove_unused(key, lane)

    async def _finish(self, key: str, entry: _QueuedEntry) -> None:
        """Try until the item is done."""
        failures = 0
        while not await self._try(key, entry):
            failures += 1
            await self._sleep(self._backoff.delay(failures, jitter=self._draw()))

    async def _try(self, key: str, entry: _QueuedEntry) -> bool:
        entry.attempts += 1
        item = QueuedItem(key, entry.value, entry.attempts, entry.recovered)
        try:
            return await self._deliver(item)
        except Exception:
            place = sanitize_for_log(key)
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

    async def _open(self) -> None:
        """Read what is recorded, once."""
        if self._records is None or self._is_open:
            return
        async with self._opening:
            if not self._is_open:
                await self._recover(self._records)
                self._is_open = True

    async def _recover(self, records: Records) -> None:
        found = {record.key: record.value async for record in records.scan(self._prefix)}
        for place in sorted(found):
            self._restore(place.removeprefix(self._prefix), found[place])

    def _restore(self, number: str, kept: Any) -> None:
        self._last = int(number) if number.isdecimal() else self._last
        match kept:
            case {"key": str(key), "value": value} if number.isdecimal():
                lane = self._lanes.setdefault(key, _Lane())
                lane.entries.append(_QueuedEntry(self._last, value, recovered=True))
                self._pending += 1
            case _:
                logger.warning("ignored a record below %r that is not an item", self._prefix)

    def _remove_unused(self, key: str, lane: _Lane) -> None:
        if not lane.entries and not lane.producers and self._lanes.get(key) is lane:
            del self._lanes[key]
        if not self._pending:
            self._idle.set()
            self._idle = anyio.Event()

    def _place(self, entry: _QueuedEntry) -> str:
        return f"{self._prefix}{entry.sequence:016d}"
