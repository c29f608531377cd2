"""A store in a file, and its names."""

from __future__ import annotations

__all__ = ("open_sqlite",)

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

import anyio

from kinwire.storage.clock import Clock
from kinwire.storage.log import Log, Retention, checked_retention
from kinwire.storage.records import Records
from kinwire.storage.sqlite.files import SqliteFile
from kinwire.storage.sqlite.log import SqliteLog
from kinwire.storage.sqlite.reader import SqliteReader
from kinwire.storage.sqlite.records import SqliteRecords
from kinwire.storage.sqlite.transaction import Transaction
from kinwire.storage.sqlite.writer import SqliteWriter
from kinwire.storage.store import OpenGuard, Store, StoreEntry, entry_from, options_text
from kinwire.storage.store_url import checked_name


@asynccontextmanager
async def open_sqlite(path: str, timeout: float, now: Clock) -> AsyncGenerator[Store]:
    """Yield the store in the file `path`; make the file if it does not exist."""
    file = SqliteFile(path)
    await anyio.to_thread.run_sync(file.prepare, timeout)
    guard = OpenGuard(f"store {file.path!r}")
    writer = SqliteWriter(file, guard, timeout, now)
    reader = SqliteReader(file, guard, timeout)
    try:
        yield _SqliteStore(file, writer, reader, now)
    finally:
        await writer.aclose()
        reader.close()


class _SqliteStore:
    def __init__(
        self, file: SqliteFile, writer: SqliteWriter, reader: SqliteReader, now: Clock
    ) -> None:
        self._file, self._writer, self._reader, self._now = file, writer, reader, now

    async def records(self, name: str, *, durable: bool = True) -> Records:
        entry = StoreEntry(kind="records", name=checked_name(name), durable=durable)
        space = await self._space(entry)
        return SqliteRecords(name, space, durable, self._writer, self._reader, self._now)

    async def log(
        self, name: str, *, durable: bool = True, retention: Retention | None = None
    ) -> Log:
        if retention is not None:
            checked_retention(retention)
        entry = StoreEntry(
            kind="log", name=checked_name(name), durable=durable, retention=retention
        )
        space = await self._space(entry)
        return SqliteLog(name, space, durable, self._writer, self._reader)

    async def entries(self) -> list[StoreEntry]:
        rows = await self._reader.query(
            "SELECT kind, name, options FROM spaces ORDER BY kind, name"
        )
        return [entry_from(kind, name, text) for kind, name, text in rows]

    async def check(self) -> list[str]:
        return await anyio.to_thread.run_sync(self._file.damage)

    async def _space(self, entry: StoreEntry) -> int:
        return await self._writer.write(partial(_opened, entry), durable=True)


def _opened(entry: StoreEntry, transaction: Transaction) -> int:
    """Return the number of what `entry` names; it is made or given these options."""
    kind, name = entry.kind, entry.name
    found = transaction.execute(
        "SELECT id, options FROM spaces WHERE kind = ? AND name = ?", (kind, name)
    ).fetchone()
    if found is None:
        made = transaction.execute(
            "INSERT INTO spaces (kind, name, options) VALUES (?, ?, ?)",
            (kind, name, options_text(entry)),
        )
        return int(made.lastrowid or 0)
    space, options = found
    if entry.retention is None:
        entry = replace(entry, retention=entry_from(kind, name, options).retention)
    transaction.execute("UPDATE spaces SET options = ? WHERE id = ?", (options_text(entry), space))
    return int(space)
