"""The store in memory: for tests, and for data that may be lost when the process ends.

There is no await between reading and writing, so every call is atomic.
"""

from __future__ import annotations

__all__ = ("open_memory",)

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Any

from anyio.lowlevel import checkpoint

from kinwire.storage.clock import Clock
from kinwire.storage.errors import ConflictError, CursorLostError
from kinwire.storage.inputs import decoded, encoded
from kinwire.storage.local_log import LocalLog, Row
from kinwire.storage.log import (
    Appended,
    Log,
    Retention,
    checked_id,
    checked_page,
    checked_retention,
    encoded_entries,
)
from kinwire.storage.records import (
    REMOVALS_KEPT,
    Change,
    Record,
    Records,
    checked_expiry,
    checked_key,
    checked_prefix,
    checked_revision,
)
from kinwire.storage.store import Kind, OpenGuard, Store, StoreEntry
from kinwire.storage.store_url import checked_name
from kinwire.storage.subjects import checked_subject
from kinwire.storage.subscription import PollingSource, StoreSubscription, WriteSignal

_SPARE = 1000  # notes of when something expires, beyond twice as many as there are records


@asynccontextmanager
async def open_memory(now: Clock) -> AsyncGenerator[Store]:
    """Yield a new store."""
    guard = OpenGuard("store 'memory:'")
    try:
        yield _MemoryStore(guard, now)
    finally:
        guard.close()


class _MemoryStore:
    def __init__(self, guard: OpenGuard, now: Clock) -> None:
        self._guard, self._now = guard, now
        self._entries: dict[tuple[Kind, str], StoreEntry] = {}
        self._records: dict[str, MemoryRecords] = {}
        self._logs: dict[str, MemoryLog] = {}

    async def records(self, name: str, *, durable: bool = True) -> Records:
        self._guard.ensure_open()
        entry = StoreEntry(kind="records", name=checked_name(name), durable=durable)
        self._entries["records", name] = entry
        if name not in self._records:
            self._records[name] = MemoryRecords(name, self._guard, self._now)
        return self._records[name]

    async def log(
        self, name: str, *, durable: bool = True, retention: Retention | None = None
    ) -> Log:
        self._guard.ensure_open()
        if retention is not None:
            checked_retention(retention)
        if checked_name(name) not in self._logs:
            self._logs[name] = MemoryLog(name, self._guard, self._now)
        log = self._logs[name]
        log.retention = retention or log.retention
        entry = StoreEntry(kind="log", name=name, durable=durable, retention=log.retention)
        self._entries["log", name] = entry
        return log

    async def entries(self) -> list[StoreEntry]:
        self._guard.ensure_open()
        return [self._entries[key] for key in sorted(self._entries)]

    async def check(self) -> list[str]:
        self._guard.ensure_open()
        return []


@dataclass(frozen=True, slots=True)
class _Row:
    revision: int
    text: str | None
    """None: what was here is removed."""
    expires_at: float | None


class MemoryRecords:
    """Records of one process."""

    def __init__(self, name: str, guard: OpenGuard, now: Clock) -> None:
        self._name, self._guard, self._clock = name, guard, now
        self._rows: dict[str, _Row] = {}  # by rising revision: a change moves a key to the end
        self._last = 0
        self._expiries: list[tuple[float, str, int]] = []  # a heap: when, key, revision
        self._removals: deque[tuple[float, str, int]] = deque()  # when, key, revision
        self._forgotten = 0  # the newest removal that a watch cannot report any more
        self._signal = WriteSignal()

    async def get(self, key: str) -> Record | None:
        checked_key(key)
        await self._turn()
        row = self._rows.get(key)
        return None if row is None else _record(key, row)

    def at_hand(self, key: str) -> Record | None:
        """Return what `get` returns for a valid key, without yielding to other tasks."""
        self._guard.ensure_open()
        if self._expiries or self._removals:
            self._remove_expired()
        row = self._rows.get(key)
        return None if row is None else _record(key, row)

    async def put(
        self,
        key: str,
        value: Any,
        *,
        revision: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        checked_key(key)
        checked_revision(revision)
        checked_expiry(expires_in)
        text = encoded(value, key)
        now = await self._turn()
        self._expect(key, revision)
        expires_at = None if expires_in is None else now + expires_in
        self._write(key, text, expires_at)
        if expires_at is not None:
            self._expire(expires_at, key)
        return self._last

    async def delete(self, key: str, *, revision: int | None = None) -> bool:
        checked_key(key)
        checked_revision(revision)
        now = await self._turn()
        self._expect(key, revision)
        if self._found(key) == 0:
            return False
        self._remove(key, now)
        return True

    async def forget(self, key: str) -> None:
        """Delete a record without a trace: no watch hears of it."""
        checked_key(key)
        await self._turn()
        self._rows.pop(key, None)

    async def scan(self, prefix: str = "") -> AsyncIterator[Record]:
        checked_prefix(prefix)
        for key in sorted(self._rows):
            if key.startswith(prefix) and (record := await self.get(key)) is not None:
                yield record

    def watch(self, prefix: str = "") -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        checked_prefix(prefix)

        async def opened() -> PollingSource[Change]:
            await self._turn()
            return PollingSource(partial(self._changes, prefix, self._last), self._signal, 0)

        return StoreSubscription(opened)

    async def _changes(self, prefix: str, begun: int, after: int) -> tuple[list[Change], int]:
        """Return what changed after a revision; removals only if later than `begun`."""
        await self._turn()
        if 0 < after < self._forgotten:
            raise CursorLostError(f"records {self._name!r}", after=after, first=self._last + 1)
        found: list[Change] = []
        for key, row in reversed(self._rows.items()):
            if row.revision <= after:
                break
            if key.startswith(prefix) and (row.text is not None or row.revision > begun):
                found.append(Change(key, row.revision, _record(key, row)))
        found.reverse()
        return found, self._last

    async def _turn(self) -> float:
        """Yield to other tasks, remove expired records, and return the time."""
        self._guard.ensure_open()
        await checkpoint()
        return self._remove_expired()

    def _remove_expired(self) -> float:
        """Remove expired records, and return the time."""
        now = self._clock()
        while self._expiries and self._expiries[0][0] <= now:
            _, key, revision = heappop(self._expiries)
            row = self._rows.get(key)
            if row is not None and row.revision == revision:
                self._remove(key, now)
        while self._removals and self._removals[0][0] <= now - REMOVALS_KEPT:
            _, key, revision = self._removals.popleft()
            row = self._rows.get(key)
            if row is not None and row.revision == revision:
                del self._rows[key]
                self._forgotten = revision
        return now

    def _expire(self, when: float, key: str) -> None:
        """Have the newest change expire. What was noted of records that changed since goes."""
        heappush(self._expiries, (when, key, self._last))
        if len(self._expiries) > 2 * len(self._rows) + _SPARE:
            rows = self._rows.items()
            times = [(one.expires_at, key, one.revision) for key, one in rows]
            self._expiries = [(at, key, number) for at, key, number in times if at is not None]
            heapify(self._expiries)

    def _found(self, key: str) -> int:
        """Return the revision of the record, 0 if it does not exist."""
        row = self._rows.get(key)
        return 0 if row is None or row.text is None else row.revision

    def _expect(self, key: str, revision: int | None) -> None:
        if revision is not None and revision != self._found(key):
            raise ConflictError(key, revision, self._found(key))

    def _remove(self, key: str, now: float) -> None:
        self._write(key, None, None)
        self._removals.append((now, key, self._last))

    def _write(self, key: str, text: str | None, expires_at: float | None) -> None:
        self._last += 1
        self._rows.pop(key, None)
        self._rows[key] = _Row(self._last, text, expires_at)
        self._signal.fire()


def _record(key: str, row: _Row) -> Record | None:
    if row.text is None:
        return None
    return Record(key, decoded(row.text, repr(key)), row.revision, row.expires_at)


class MemoryLog(LocalLog):
    """A log of one process."""

    def __init__(self, name: str, guard: OpenGuard, now: Clock) -> None:
        super().__init__(name, WriteSignal())
        self.retention = Retention()
        self._guard, self._clock = guard, now
        self._entries: list[Row] = []
        self._gone = 0  # entries at the head of the list that count as removed
        self._ids: dict[str, tuple[int, float]] = {}  # sequence and time, the oldest first

    async def append(self, subject: str, value: Any, *, id: str | None = None) -> Appended:
        checked_subject(subject)
        checked_id(id)
        text = encoded(value, subject)
        self._guard.ensure_open()
        await checkpoint()
        now = self._clock()
        self._forget_ids(now)
        if id is not None and id in self._ids:
            return Appended(self._ids[id][0], duplicate=True)
        sequence = self._last() + 1
        self._entries.append((sequence, subject, text, now, id))
        if id is not None:
            self._ids[id] = sequence, now
        self._trim(now)
        self._signal.fire()
        return Appended(sequence)

    async def append_after(self, sequence: int, entries: Sequence[tuple[str, Any]]) -> int:
        checked_page(sequence)
        rows = encoded_entries(entries)
        self._guard.ensure_open()
        await checkpoint()
        if sequence != self._last():
            return 0
        now = self._clock()
        self._entries += [
            (number, subject, text, now, None)
            for number, (subject, text) in enumerate(rows, sequence + 1)
        ]
        self._trim(now)
        self._signal.fire()
        return len(rows)

    async def bounds(self) -> tuple[int, int]:
        self._guard.ensure_open()
        return self._first(), self._last()

    async def _rows(self, after: int, count: int) -> list[Row]:
        self._guard.ensure_open()
        await checkpoint()
        begin = self._gone + max(0, after + 1 - self._first())
        return self._entries[begin : begin + count]

    def _last(self) -> int:
        return self._entries[-1][0] if self._entries else 0

    def _first(self) -> int:
        if self._gone < len(self._entries):
            return self._entries[self._gone][0]
        return self._last() + 1

    def _forget_ids(self, now: float) -> None:
        while self._ids:
            oldest = next(iter(self._ids))
            if now - self._ids[oldest][1] < self.retention.dedup_window:
                return
            del self._ids[oldest]

    def _trim(self, now: float) -> None:
        entries, kept = self._entries, self.retention
        if kept.max_entries is not None:
            self._gone = max(self._gone, len(entries) - kept.max_entries)
        if kept.max_age is not None:
            while self._gone < len(entries) and now - entries[self._gone][3] > kept.max_age:
                self._gone += 1
        if self._gone > max(1000, len(entries) // 2):  # seldom: it moves all that is kept
            del entries[: self._gone]
            self._gone = 0
