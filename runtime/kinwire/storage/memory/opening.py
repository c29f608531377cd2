"""A store in memory, and its names."""

from __future__ import annotations

__all__ = ("open_memory",)

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from kinwire.storage.address import checked_name
from kinwire.storage.clock import Clock
from kinwire.storage.holding import Holding, Kind
from kinwire.storage.life import Life
from kinwire.storage.log import Log, Retention, checked_retention
from kinwire.storage.memory.log import MemoryLog
from kinwire.storage.memory.records import MemoryRecords
from kinwire.storage.records import Records
from kinwire.storage.store import Store


@asynccontextmanager
async def open_memory(now: Clock) -> AsyncGenerator[Store]:
    """Yield a store of its own."""
    life = Life("store 'memory:'")
    try:
        yield _MemoryStore(life, now)
    finally:
        life.end()


class _MemoryStore:
    def __init__(self, life: Life, now: Clock) -> None:
        self._life, self._now = life, now
        self._holdings: dict[tuple[Kind, str], Holding] = {}
        self._records: dict[str, MemoryRecords] = {}
        self._logs: dict[str, MemoryLog] = {}

    async def records(self, name: str, *, durable: bool = True) -> Records:
        self._life.check()
        holding = Holding(kind="records", name=checked_name(name), durable=durable)
        self._holdings["records", name] = holding
        if name not in self._records:
            self._records[name] = MemoryRecords(name, self._life, self._now)
        return self._records[name]

    async def log(
        self, name: str, *, durable: bool = True, retention: Retention | None = None
    ) -> Log:
        self._life.check()
        if retention is not None:
            checked_retention(retention)
        if checked_name(name) not in self._logs:
            self._logs[name] = MemoryLog(name, self._life, self._now)
        log = self._logs[name]
        log.retention = retention or log.retention
        holding = Holding(kind="log", name=name, durable=durable, retention=log.retention)
        self._holdings["log", name] = holding
        return log

    async def holdings(self) -> list[Holding]:
        self._life.check()
        return [self._holdings[key] for key in sorted(self._holdings)]

    async def check(self) -> list[str]:
        self._life.check()
        return []
