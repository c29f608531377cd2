"""A store as lines of JSON, and such lines into another store, whatever the two engines are.

Revisions and sequences are counted anew, in the old order; entries have the time of the import. The
last line says how many came before it, so a file that was cut off is told.
"""

from __future__ import annotations

__all__ = ("exported", "import_lines")

import json
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict
from typing import Any

from kinwire.storage.errors import StorageInputError
from kinwire.storage.holding import Holding
from kinwire.storage.log import Log, Retention
from kinwire.storage.records import Records
from kinwire.storage.store import Store

_HEAD = {"format": "kinwire store", "version": 1}
_PAGE = 500  # entries


async def exported(store: Store) -> AsyncIterator[str]:
    """Yield the lines, without line ends."""
    count = 0
    yield json.dumps(_HEAD)
    for holding in await store.holdings():
        lines = _log_lines if holding.kind == "log" else _record_lines
        async for line in lines(store, holding):
            yield json.dumps(line, ensure_ascii=False)
            count += 1
    yield json.dumps({"lines": count})


async def import_lines(store: Store, lines: Iterable[str]) -> int:
    """Write what the lines hold into a store that holds nothing; return how many they were.

    What was durable is so when this returns.

    Raises:
        StorageInputError: the store holds something, or a line is none that `exported` gives.
            What came before it is in the store.
    """
    if found := await store.holdings():
        raise StorageInputError(
            "the store to import into",
            expected="nothing in it",
            got=", ".join(f"{holding.kind} {holding.name}" for holding in found[:5]),
            mend="Import into a new one.",
        )
    target = _Import(store)
    for number, line in enumerate(lines, 1):
        try:
            await target.take(number, json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, StorageInputError):
                raise
            raise _unreadable(number, line) from None
    await target.finish()
    return target.count


async def _log_lines(store: Store, holding: Holding) -> AsyncIterator[dict[str, Any]]:
    assert holding.retention is not None
    log = await store.log(holding.name, durable=holding.durable, retention=holding.retention)
    yield {"log": holding.name, "durable": holding.durable, **asdict(holding.retention)}
    after = 0
    while entries := await log.read(after=after, limit=_PAGE):
        for entry in entries:
            yield {"subject": entry.subject, "value": entry.value, "at": entry.at, "id": entry.id}
        after = entries[-1].sequence


async def _record_lines(store: Store, holding: Holding) -> AsyncIterator[dict[str, Any]]:
    records = await store.records(holding.name, durable=holding.durable)
    yield {"records": holding.name, "durable": holding.durable}
    async for record in records.scan():
        yield {"key": record.key, "value": record.value, "expires_at": record.expires_at}


class _Import:
    """Where the lines go: into what the last heading named."""

    def __init__(self, store: Store) -> None:
        self.count = 0
        self._store = store
        self._holdings: list[Holding] = []
        self._target: Records | Log | None = None
        self._ids: set[str] = set()
        self._ended = False

    async def take(self, number: int, line: dict[str, Any]) -> None:
        if self._ended or (line == _HEAD) != (number == 1):
            raise _unreadable(number, json.dumps(line))
        match line:
            case {"records": str(name), "durable": bool(durable)}:
                self._holdings.append(Holding(kind="records", name=name, durable=durable))
                self._target = await self._store.records(name, durable=False)
            case {"log": str(name), "durable": bool(durable), **retention}:
                kept = Retention(**retention)
                holding = Holding(kind="log", name=name, durable=durable, retention=kept)
                self._holdings.append(holding)
                self._target = await self._store.log(name, durable=False, retention=kept)
                self._ids.clear()
            case {"lines": int(count)} if count == self.count:
                self._ended = True
            case {"format": _}:
                return
            case _:
                await self._write(line)
        if not self._ended:
            self.count += 1

    async def finish(self) -> None:
        """Give each name the options that it had; with the first durable one all is on the disk."""
        if not self._ended:
            raise StorageInputError(
                f"line {self.count + 2}",
                expected="a last line that says how many lines there are",
                got="the end",
                mend="The export was cut off: make it anew, and import into a new store.",
            )
        for holding in self._holdings:
            if holding.kind == "log":
                await self._store.log(
                    holding.name, durable=holding.durable, retention=holding.retention
                )
            else:
                await self._store.records(holding.name, durable=holding.durable)

    async def _write(self, line: dict[str, Any]) -> None:
        target: Any = self._target
        if "key" in line:
            expires_at: float | None = line["expires_at"]
            left = None if expires_at is None else expires_at - time.time()
            if left is None or left > 0:
                await target.put(line["key"], line["value"], expires_in=left)
            return
        id: str | None = line["id"]
        known = id is None or id in self._ids  # the window was over when it came again
        await target.append(line["subject"], line["value"], id=None if known else id)
        if id is not None:
            self._ids.add(id)


def _unreadable(number: int, line: str) -> StorageInputError:
    return StorageInputError(
        f"line {number}",
        expected="a line of kinwire store export, at its place",
        got=repr(line[:60]),
        mend="Make the export anew, and import into a new store.",
    )
