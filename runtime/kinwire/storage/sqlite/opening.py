"""A store in a file, and its names."""

from __future__ import annotations

__all__ = ("open_sqlite",)

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import anyio

from kinwire.storage.address import checked_name
from kinwire.storage.clock import Clock
from kinwire.storage.holding import Holding, holding_from, options_text
from kinwire.storage.life import Life
from kinwire.storage.log import Log, Retention, checked_retention
from kinwire.storage.records import Records
from kinwire.storage.sqlite.files import File
from kinwire.storage.sqlite.log import SqliteLog
from kinwire.storage.sqlite.reader import Reader
from kinwire.storage.sqlite.records import SqliteRecords
from kinwire.storage.sqlite.transaction import Transaction
from kinwire.storage.sqlite.writer import Writer
from kinwire.storage.store import Store


@asynccontextmanager
async def open_sqlite(path: str, timeout: float, now: Clock) -> AsyncGenerator[Store]:
    """Yield the store in the file `path`, which is made if there is none."""
    file = File(path)
    await anyio.to_thread.run_sync(file.prepare, timeout)
    life = Life(f"store {file.path!r}")
    writer = Writer(file, life, timeout, now)
    reader = Reader(file, life, timeout)
    try:
        yield _SqliteStore(file, writer, reader, now)
    finally:
        await writer.aclose()
        reader.close()


class _SqliteStore:
    def __init__(self, file: File, writer: Writer, reader: Reader, now: Clock) -> None:
        self._file, self._writer, self._reader, self._now = file, writer, reader, now

    async def records(self, name: str, *, durable: bool = True) -> Records:
        holding = Holding(kind="records", name=checked_name(name), durable=durable)
        space = await self._space(holding)
        return SqliteRecords(name, space, durable, self._writer, self._reader, self._now)

    async def log(
        self, name: str, *, durable: bool = True, retention: Retention | None = None
    ) -> Log:
        kept = checked_retention(retention or Retention())
        holding = Holding(kind="log", name=checked_name(name), durable=durable, retention=kept)
        space = await self._space(holding)
        self._writer.kept[space] = kept
        return SqliteLog(name, space, durable, kept, self._writer, self._reader)

    async def holdings(self) -> list[Holding]:
        rows = await self._reader.query(
            "SELECT kind, name, options FROM spaces ORDER BY kind, name"
        )
        return [holding_from(kind, name, text) for kind, name, text in rows]

    async def check(self) -> list[str]:
        return await anyio.to_thread.run_sync(self._file.faults)

    async def _space(self, holding: Holding) -> int:
        return await self._writer.write(partial(_opened, holding), durable=True)


def _opened(holding: Holding, transaction: Transaction) -> int:
    """Return the number of what `holding` names; it is made or given these options."""
    name, options = (holding.kind, holding.name), options_text(holding)
    transaction.execute(
        "INSERT OR IGNORE INTO spaces (kind, name, options) VALUES (?, ?, ?)", (*name, options)
    )
    transaction.execute(
        "UPDATE spaces SET options = ? WHERE kind = ? AND name = ?", (options, *name)
    )
    (space,) = transaction.execute(
        "SELECT id FROM spaces WHERE kind = ? AND name = ?", name
    ).fetchone()
    return int(space)
