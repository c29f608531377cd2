"""A store in a file, and its names."""

from __future__ import annotations

__all__ = ("open_sqlite",)

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
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
        if retention is not None:
            checked_retention(retention)
        holding = Holding(kind="log", name=checked_name(name), durable=durable, retention=retention)
        space = await self._space(holding)
        return SqliteLog(name, space, durable, self._writer, self._reader)

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
    kind, name = holding.kind, holding.name
    found = transaction.execute(
        "SELECT id, options FROM spaces WHERE kind = ? AND name = ?", (kind, name)
    ).fetchone()
    if found is None:
        made = transaction.execute(
            "INSERT INTO spaces (kind, name, options) VALUES (?, ?, ?)",
            (kind, name, options_text(holding)),
        )
        return int(made.lastrowid or 0)
    space, options = found
    if holding.retention is None:
        holding = replace(holding, retention=holding_from(kind, name, options).retention)
    transaction.execute(
        "UPDATE spaces SET options = ? WHERE id = ?", (options_text(holding), space)
    )
    return int(space)
