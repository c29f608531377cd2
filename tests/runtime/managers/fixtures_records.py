"""Records that fail or wait when a test says so."""

from __future__ import annotations

__all__ = ("FailingRecords",)

from collections.abc import AsyncIterator
from typing import Any

import anyio

from kinwire.storage import Record, Records, StorageUnavailableError


class FailingRecords:
    """Records that do nothing while they fail, and can be made to wait."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self.fails = False
        self.gate: anyio.Event | None = None
        self.begun = 0
        self.waits = anyio.Event()
        """Set when a call has come to the gate."""

    async def _ready(self) -> None:
        self.begun += 1
        if self.gate is not None:
            self.waits.set()
            await self.gate.wait()
        if self.fails:
            raise StorageUnavailableError("records", expected="a", got="b", hint="c")

    async def get(self, key: str) -> Record | None:
        await self._ready()
        return await self.records.get(key)

    async def put(self, key: str, value: Any, **options: Any) -> int:
        await self._ready()
        return await self.records.put(key, value, **options)

    async def delete(self, key: str, **options: Any) -> bool:
        await self._ready()
        return await self.records.delete(key, **options)

    async def scan(self, prefix: str = "") -> AsyncIterator[Record]:
        await self._ready()
        async for record in self.records.scan(prefix):
            yield record

    def watch(self, prefix: str = "") -> Any:
        return self.records.watch(prefix)
