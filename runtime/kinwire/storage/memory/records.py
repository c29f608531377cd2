"""Records in memory."""

from __future__ import annotations

__all__ = ("MemoryRecords",)

from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from typing import Any

from anyio.lowlevel import checkpoint

from kinwire.storage.clock import Clock
from kinwire.storage.errors import ConflictError, CursorLostError
from kinwire.storage.following import Following, Polling, Signal
from kinwire.storage.life import Life
from kinwire.storage.records import (
    REMOVALS_KEPT,
    Change,
    Record,
    checked_expiry,
    checked_key,
    checked_prefix,
    checked_revision,
)
from kinwire.storage.values import decoded, encoded


@dataclass(frozen=True, slots=True)
class _Row:
    revision: int
    text: str | None
    """None: what was here is removed."""
    expires_at: float | None


class MemoryRecords:
    """Records of one process."""

    def __init__(self, name: str, life: Life, now: Clock) -> None:
        self._name, self._life, self._clock = name, life, now
        self._rows: dict[str, _Row] = {}  # by rising revision: a change moves a key to the end
        self._last = 0
        self._expiries: list[tuple[float, str, int]] = []  # a heap: when, key, revision
        self._removals: deque[tuple[float, str, int]] = deque()  # when, key, revision
        self._forgotten = 0  # the newest removal that no watch can be told any more
        self._signal = Signal()

    async def get(self, key: str) -> Record | None:
        checked_key(key)
        await self._turn()
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
            heappush(self._expiries, (expires_at, key, self._last))
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

    async def scan(self, prefix: str = "") -> AsyncIterator[Record]:
        checked_prefix(prefix)
        for key in sorted(self._rows):
            if key.startswith(prefix) and (record := await self.get(key)) is not None:
                yield record

    def watch(self, prefix: str = "") -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        checked_prefix(prefix)

        async def opened() -> Polling[Change]:
            await self._turn()
            return Polling(partial(self._changes, prefix, self._last), self._signal, 0)

        return Following(opened)

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
        """Let others have their turn; remove what has expired; return the time."""
        self._life.check()
        await checkpoint()
        now = self._clock()
        while self._expiries and self._expiries[0][0] <= now:
            _, key, revision = heappop(self._expiries)
            row = self._rows.get(key)
            if row is not None and row.revision == revision:
                self._remove(key, now)
        while self._removals and self._removals[0][0] <= now - REMOVALS_KEPT:
            _, key, revision = self._removals.popleft()
            if self._rows[key].revision == revision:
                del self._rows[key]
                self._forgotten = revision
        return now

    def _found(self, key: str) -> int:
        """Return the revision of the record, 0 if there is none."""
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
