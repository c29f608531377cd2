"""Records in a file."""

from __future__ import annotations

__all__ = ("SqliteRecords",)

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

from kinwire.storage.clock import Clock
from kinwire.storage.errors import ConflictError, CursorLostError
from kinwire.storage.inputs import decoded, encoded
from kinwire.storage.records import (
    Change,
    Record,
    checked_expiry,
    checked_key,
    checked_prefix,
    checked_revision,
)
from kinwire.storage.sqlite.reader import SqliteReader
from kinwire.storage.sqlite.transaction import Transaction
from kinwire.storage.sqlite.writer import SqliteWriter
from kinwire.storage.subscription import PollingSource, StoreSubscription

_PAGE = 200  # rows read in one go

_GET = "SELECT value, revision, expires_at FROM records WHERE space = ? AND key = ?"
_FIRST = (
    "SELECT key, value, revision, expires_at FROM records WHERE space = ? AND key >= ?"
    " ORDER BY key LIMIT ?"
)
_NEXT = _FIRST.replace(">=", ">")
_CHANGED = (
    "SELECT key, value, revision, expires_at FROM records WHERE space = ? AND revision > ?"
    " ORDER BY revision LIMIT ?"
)
_EXPIRED = "SELECT 1 FROM records WHERE expires_at <= ? LIMIT 1"
_LAST = "SELECT last, forgotten FROM spaces WHERE id = ?"


class SqliteRecords:
    """Named records of a file."""

    def __init__(
        self,
        name: str,
        space: int,
        durable: bool,
        writer: SqliteWriter,
        reader: SqliteReader,
        now: Clock,
    ) -> None:
        self._name, self._space, self._durable = name, space, durable
        self._writer, self._reader, self._now = writer, reader, now

    async def get(self, key: str) -> Record | None:
        checked_key(key)
        for text, revision, expires_at in await self._reader.query(_GET, self._space, key):
            return self._record(key, text, revision, expires_at)
        return None

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
        put = _Put(self._space, key, encoded(value, key), revision, expires_in)
        return await self._writer.write(put, durable=self._durable)

    async def delete(self, key: str, *, revision: int | None = None) -> bool:
        checked_key(key)
        checked_revision(revision)
        delete = _Delete(self._space, key, revision)
        return await self._writer.write(delete, durable=self._durable)

    async def scan(self, prefix: str = "") -> AsyncIterator[Record]:
        statement, after = _FIRST, checked_prefix(prefix)
        while True:
            rows = await self._reader.query(statement, self._space, after, _PAGE)
            for key, text, revision, expires_at in rows:
                if not key.startswith(prefix):
                    return
                record = self._record(key, text, revision, expires_at)
                if record is not None:
                    yield record
            if len(rows) < _PAGE:
                return
            statement, after = _NEXT, rows[-1][0]

    def watch(self, prefix: str = "") -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        checked_prefix(prefix)

        async def opened() -> PollingSource[Change]:
            [(last, _)] = await self._reader.query(_LAST, self._space)
            return PollingSource(partial(self._changes, prefix, last), self._writer.signal, 0)

        return StoreSubscription(opened)

    async def _changes(self, prefix: str, begun: int, after: int) -> tuple[list[Change], int]:
        """Return what changed after a revision; removals only if later than `begun`."""
        if await self._reader.query(_EXPIRED, self._now()):
            self._writer.sweep_soon()
        [(last, forgotten)] = await self._reader.query(_LAST, self._space)
        if 0 < after < forgotten:
            raise CursorLostError(f"records {self._name!r}", after=after, first=last + 1)
        rows = await self._reader.query(_CHANGED, self._space, after, _PAGE)
        found: list[Change] = []
        for key, text, revision, expires_at in rows:
            after = revision
            if not key.startswith(prefix):
                continue
            record = self._record(key, text, revision, expires_at)
            # An expiry is reported once the record is removed.
            if record is not None or (text is None and revision > begun):
                found.append(Change(key, revision, record))
        return found, after

    def _record(
        self, key: str, text: str | None, revision: int, expires_at: float | None
    ) -> Record | None:
        if text is None:
            return None
        if expires_at is not None and expires_at <= self._now():
            self._writer.sweep_soon()
            return None
        value = decoded(text, f"records {self._name!r}, key {key!r}")
        return Record(key, value, revision, expires_at)


def _found(transaction: Transaction, space: int, key: str) -> int:
    """Return the revision of the record, 0 if it does not exist."""
    for text, revision, expires_at in transaction.execute(_GET, (space, key)):
        if text is not None and (expires_at is None or expires_at > transaction.now):
            return int(revision)
    return 0


@dataclass(slots=True)
class _Put:
    space: int
    key: str
    text: str
    revision: int | None
    expires_in: float | None

    def __call__(self, transaction: Transaction) -> int:
        if self.revision is not None:
            found = _found(transaction, self.space, self.key)
            if found != self.revision:
                raise ConflictError(self.key, self.revision, found)
        revision = transaction.next(self.space)
        expires_at = None if self.expires_in is None else transaction.now + self.expires_in
        transaction.execute(
            "INSERT OR REPLACE INTO records (space, key, value, revision, expires_at, changed_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (self.space, self.key, self.text, revision, expires_at, transaction.now),
        )
        return revision


@dataclass(slots=True)
class _Delete:
    space: int
    key: str
    revision: int | None

    def __call__(self, transaction: Transaction) -> bool:
        found = _found(transaction, self.space, self.key)
        if self.revision is not None and found != self.revision:
            raise ConflictError(self.key, self.revision, found)
        if found:
            transaction.remove(self.space, self.key)
        return found > 0
