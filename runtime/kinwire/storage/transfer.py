"""A store as lines of JSON, and such lines into another store, whatever the two engines are.

Revisions and sequences are numbered again, in the old order; entries get the time of the import.
The last line has the number of lines before it, so that a truncated file is detected.
"""

from __future__ import annotations

__all__ = ("exported", "import_lines")

import json
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict
from typing import Any

from kinwire.storage.errors import StorageInputError
from kinwire.storage.log import Log, Retention
from kinwire.storage.records import Records
from kinwire.storage.store import Store, StoreEntry

_HEAD = {"format": "kinwire store", "version": 1}
_EXPECTED = "a line of kinwire store export, in its order"
_PAGE = 500  # entries


async def exported(store: Store) -> AsyncIterator[str]:
    """Yield the lines, without line ends."""
    count = 0
    yield json.dumps(_HEAD)
    for store_entry in await store.entries():
        lines = _log_lines if store_entry.kind == "log" else _record_lines
        async for line in lines(store, store_entry):
            yield json.dumps(line, ensure_ascii=False)
            count += 1
    yield json.dumps({"lines": count})


async def import_lines(store: Store, lines: Iterable[str | bytes]) -> int:
    """Write the lines into an empty store; return the number of lines.

    Durable entries are on the disk when this returns.

    Raises:
        StorageInputError: the store is not empty, or a line is invalid. The lines before it were
            written.
    """
    if found := await store.entries():
        raise StorageInputError(
            "the store to import into",
            expected="an empty store",
            got=", ".join(f"{store_entry.kind} {store_entry.name}" for store_entry in found[:5]),
            hint="Import into a new store.",
        )
    target = _Import(store)
    number = 0
    for number, line in enumerate(lines, 1):
        try:
            await target.take(number, json.loads(line, parse_constant=_no_number))
        except StorageInputError as error:
            place = f"line {number}: {error.place}"
            raise _refused(place, error.expected, error.got, after=target.count) from None
        except (ValueError, TypeError, RecursionError):
            got = repr(line[:60])
            raise _refused(f"line {number}", _EXPECTED, got, after=target.count) from None
    if number == 0:
        raise _refused("line 1", _EXPECTED, "no line", after=0)
    await target.finish()
    return number


async def _log_lines(store: Store, store_entry: StoreEntry) -> AsyncIterator[dict[str, Any]]:
    log = await store.log(store_entry.name, durable=store_entry.durable)
    kept = store_entry.retention or Retention()
    yield {"log": store_entry.name, "durable": store_entry.durable, **asdict(kept)}
    after = 0
    while entries := await log.read(after=after, limit=_PAGE):
        for entry in entries:
            yield {"subject": entry.subject, "value": entry.value, "at": entry.at, "id": entry.id}
        after = entries[-1].sequence


async def _record_lines(store: Store, store_entry: StoreEntry) -> AsyncIterator[dict[str, Any]]:
    records = await store.records(store_entry.name, durable=store_entry.durable)
    yield {"records": store_entry.name, "durable": store_entry.durable}
    async for record in records.scan():
        yield {"key": record.key, "value": record.value, "expires_at": record.expires_at}


class _Import:
    """Where the lines go: into what the last heading named."""

    def __init__(self, store: Store) -> None:
        self.count = 0
        self._store = store
        self._entries: list[StoreEntry] = []
        self._records: Records | None = None
        self._log: Log | None = None
        self._ids: set[str] = set()
        self._ended = False

    async def take(self, number: int, line: dict[str, Any]) -> None:
        """Write the content of a line.

        Raises:
            ValueError: it is not a line that `exported` yields at this place.
        """
        if self._ended or (line == _HEAD) != (number == 1):
            raise ValueError
        if number == 1:
            return
        match line:
            case {"lines": int(count)} if count == self.count:
                self._ended = True
                return
            case {"records": str(name), "durable": bool(durable)}:
                await self._begin(StoreEntry(kind="records", name=name, durable=durable))
            case {"log": str(name), "durable": bool(durable), **retention}:
                kept = Retention(**retention)
                await self._begin(
                    StoreEntry(kind="log", name=name, durable=durable, retention=kept)
                )
            case {"key": str(key), "value": value, "expires_at": until} if self._records:
                await _put(self._records, key, value, until)
            case {"subject": str(subject), "value": value, "id": id} if self._log:
                await self._append(self._log, subject, value, id)
            case _:
                raise ValueError
        self.count += 1

    async def finish(self) -> None:
        """Give each name the options that it had; with the first durable one all is on the disk."""
        if not self._ended:
            place, expected = (
                f"line {self.count + 2}",
                "a last line with the number of lines",
            )
            raise _refused(place, expected, "the end of a truncated export", after=self.count)
        for store_entry in self._entries:
            if store_entry.kind == "log":
                await self._store.log(store_entry.name, durable=store_entry.durable)
            else:
                await self._store.records(store_entry.name, durable=store_entry.durable)

    async def _begin(self, store_entry: StoreEntry) -> None:
        self._entries.append(store_entry)
        self._records = self._log = None
        self._ids.clear()
        if store_entry.kind == "log":
            kept = store_entry.retention
            self._log = await self._store.log(store_entry.name, durable=False, retention=kept)
        else:
            self._records = await self._store.records(store_entry.name, durable=False)

    async def _append(self, log: Log, subject: str, value: Any, id: str | None) -> None:
        known = id is None or id in self._ids  # the window was over when it came again
        await log.append(subject, value, id=None if known else id)
        if id is not None:
            self._ids.add(id)


async def _put(records: Records, key: str, value: Any, until: float | None) -> None:
    left = None if until is None else until - time.time()
    if left is None or left > 0:
        await records.put(key, value, expires_in=left)


def _no_number(name: str) -> float:
    raise ValueError(name)


def _refused(place: str, expected: str, got: str, *, after: int) -> StorageInputError:
    hint = "Export the store again."
    if after:
        hint = "Export again, and import into a new store: this one has the lines before."
    return StorageInputError(place, expected=expected, got=got, hint=hint)
