"""A bounded mapping in memory that is also stored, if there are records to store it in."""

from __future__ import annotations

__all__ = ("DurableMap", "RecordCodec", "text_codec")

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import anyio

from kinwire.managers.concurrency import KeyedLock
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageDamagedError
from kinwire.storage.records import Change, Record, Records
from kinwire.support.validation import LONGEST

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True)
class RecordCodec(Generic[K, V]):
    """How keys and values of a `DurableMap` are stored."""

    name: Callable[[K], str]
    """Returns the end of the record's key. Hash what is long, or what a peer has chosen."""
    write: Callable[[K, V], Any]
    """Returns the JSON value of the record. Include the key if its name is a hash of it."""
    read: Callable[[str, Any], tuple[K, V]]
    """Takes what `name` and `write` returned, and returns the key and the value."""


def text_codec(write: Callable[[V], Any], read: Callable[[Any], V]) -> RecordCodec[str, V]:
    """Return the codec for keys that are stored as they are."""
    return RecordCodec(
        lambda key: key, lambda _, value: write(value), lambda key, had: (key, read(had))
    )


@dataclass(frozen=True, slots=True)
class _MapEntry(Generic[V]):
    value: V
    until: float
    revision: int = 0
    """Of its record; 0 without records."""


class DurableMap(Generic[K, V]):
    """A mapping in memory with a limit and an age, and the same in records.

    Without `records` it is only in memory. With them an entry is written before it is in memory,
    and deleted there before it leaves the memory. If the store fails, its error is raised, and the
    entry is as before in both; where the error has `outcome_unknown`, this is certain only of the
    memory. A call that is cancelled while the store writes waits for it, at most as long as the
    store's timeout, so that both agree. Calls for one key take turns; others do not wait.

    Every key of a record begins with `prefix`. `limit` is the most entries in memory: for one more,
    the oldest is removed from both, before the new one is written; None for keys that no peer can
    make. `ttl` is how long an entry is
    valid, in seconds; None for ever. `clock` must never go back. A value must not be None.
    """

    def __init__(
        self,
        records: Records | None,
        prefix: str,
        codec: RecordCodec[K, V],
        *,
        limit: int | None,
        ttl: float | None = None,
        clock: Clock = time.time,
    ) -> None:
        self._records = records
        self._prefix = prefix
        self._codec = codec
        self._limit = math.inf if limit is None else limit
        self._ttl = ttl
        self._clock = clock
        self._kept = OrderedDict[K, _MapEntry[V]]()  # the oldest first
        self._turns = KeyedLock[K]()
        self._loads = 0  # under way
        self._gone: set[str] = set()  # names that were deleted while a load is under way

    def __len__(self) -> int:
        self._expire()
        return len(self._kept)

    def __contains__(self, key: K) -> bool:
        return self.get(key) is not None

    def get(self, key: K) -> V | None:
        """Return the value in memory, or None if the key is not there or has expired."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.until <= self._clock():
            del self._kept[key]
            return None
        return kept.value

    def items(self, prefix: str = "") -> list[tuple[K, V]]:
        """Return the entries in memory whose name begins with `prefix`, the oldest first."""
        self._expire()
        name = self._codec.name
        return [
            (key, kept.value) for key, kept in self._kept.items() if name(key).startswith(prefix)
        ]

    async def find(self, key: K) -> V | None:
        """Return the value in memory, else the one in the records, or None.

        A value that is read here makes the oldest entry leave the memory if there are too many, but
        not the records.

        Raises:
            StorageError: the store failed.
            StorageDamagedError: the record cannot be read.
        """
        value = self.get(key)
        if value is not None or self._records is None:
            return value
        async with self._turns.of(key):
            value = self.get(key)  # it may have been written while this waited
            record = None if value is not None else await self._records.get(self._key(key))
            if record is None:
                return value
            found = self._read(record)
            self._drop_oldest()
            self._restore(record, *found)
            return found[1]

    async def put(self, key: K, value: V, *, ttl: float | None = None) -> None:
        """Put an entry at the end, with a `ttl` of its own if there is one.

        Raises:
            StorageError: the store failed; the entry is as before. An older entry may have been
                removed to make room.
        """
        lasts = self._ttl if ttl is None else ttl
        if self.get(key) is None:
            await self._make_room(1)
        if self._records is None:
            self._keep(key, value, lasts)
            return
        async with self._turns.of(key):
            stored = self._codec.write(key, value)
            expires_in = None if lasts is None else min(lasts, LONGEST)
            with anyio.CancelScope(shield=True):
                revision = await self._records.put(self._key(key), stored, expires_in=expires_in)
                self._keep(key, value, lasts, revision)

    async def delete(self, key: K) -> None:
        """Remove an entry, also if it is only in the records.

        Raises:
            StorageError: the store failed; the entry is as before.
        """
        async with self._turns.of(key):
            await self._delete(key)

    async def delete_all(self, prefix: str = "") -> None:
        """Remove the entries whose name begins with `prefix`, also those only in the records.

        Raises:
            StorageError: the store failed; the entries that were not removed are as before.
        """
        keys = dict.fromkeys(key for key, _ in self.items(prefix))
        for record in await self._stored(prefix):
            try:
                keys[self._read(record)[0]] = None
            except StorageDamagedError:
                await self._delete_record(record.key)
        for key in keys:
            await self.delete(key)

    def forget(self, prefix: str = "") -> None:
        """Remove the entries whose name begins with `prefix` from memory; records stay."""
        for key, _ in self.items(prefix):
            del self._kept[key]

    def forget_stored(self) -> None:
        """Remove from memory what is in the records as well."""
        for key in [key for key, kept in self._kept.items() if kept.revision]:
            del self._kept[key]

    async def load(self, prefix: str = "") -> None:
        """Take the records whose name begins with `prefix` into memory, as the older entries.

        Raises:
            StorageError: the store failed.
            StorageDamagedError: a record cannot be read; nothing has changed in memory.
        """
        self._loads += 1
        try:
            stored = await self._stored(prefix)
            read = [(one, *self._read(one)) for one in sorted(stored, key=lambda one: one.revision)]
            newer, self._kept = self._kept, OrderedDict[K, _MapEntry[V]]()
            for record, key, value in read:
                self._restore(record, key, value)
            for key in [key for key in self._kept if self._codec.name(key) in self._gone]:
                del self._kept[key]
            for key, kept in newer.items():
                self._kept[key] = kept
                self._kept.move_to_end(key)
        finally:
            self._loads -= 1
            if not self._loads:
                self._gone.clear()
        await self._make_room(0)

    def take(self, change: Change) -> None:
        """Take into memory what a watch of the records reports, unless memory has it newer.

        A report of the watch that is late can bring back what was deleted here, until the next one
        removes it again.

        Raises:
            StorageDamagedError: the record cannot be read; nothing has changed in memory.
        """
        if change.record is None:
            self._take_removal(change.key.removeprefix(self._prefix), change.revision)
            return
        key, value = self._read(change.record)
        kept = self._kept.get(key)
        if kept is None:
            self._drop_oldest()
        if kept is None or kept.revision < change.revision:
            self._restore(change.record, key, value)

    def _take_removal(self, name: str, revision: int) -> None:
        known = [key for key in self._kept if self._codec.name(key) == name]
        for key in known:
            if self._kept[key].revision < revision:
                del self._kept[key]
        self._note_gone(name)

    def _note_gone(self, name: str) -> None:
        if self._loads:
            self._gone.add(name)

    async def _delete(self, key: K) -> None:
        await self._delete_record(self._key(key))
        self._kept.pop(key, None)
        self._note_gone(self._codec.name(key))

    async def _delete_record(self, key: str) -> None:
        if self._records is not None:
            with anyio.CancelScope(shield=True):
                await self._records.delete(key)

    async def _stored(self, prefix: str) -> list[Record]:
        if self._records is None:
            return []
        return [record async for record in self._records.scan(self._prefix + prefix)]

    def _read(self, record: Record) -> tuple[K, V]:
        try:
            return self._codec.read(record.key.removeprefix(self._prefix), record.value)
        except Exception as error:  # what was written there is not what the codec writes
            raise StorageDamagedError.of_record(
                record.key,
                error,
                expected=f"a record as they are below {self._prefix!r}",
                hint="Delete the record, or restore it from a backup.",
            ) from error

    def _restore(self, record: Record, key: K, value: V) -> None:
        until = math.inf if record.expires_at is None else record.expires_at
        self._kept[key] = _MapEntry(value, until, record.revision)

    def _expire(self) -> None:
        now = self._clock()
        for key in [key for key, kept in self._kept.items() if kept.until <= now]:
            del self._kept[key]

    def _keep(self, key: K, value: V, lasts: float | None, revision: int = 0) -> None:
        until = math.inf if lasts is None else self._clock() + lasts
        self._kept[key] = _MapEntry(value, until, revision)
        self._kept.move_to_end(key)

    async def _make_room(self, wanted: int) -> None:
        """Remove expired entries at the front, then the oldest ones from both."""
        now = self._clock()
        while self._kept:
            oldest, kept = next(iter(self._kept.items()))
            if kept.until <= now:
                del self._kept[oldest]
            elif len(self._kept) + wanted > self._limit:
                async with self._turns.of(oldest):
                    if self._kept.get(oldest) is kept:  # it may have been written while this waited
                        await self._delete(oldest)
            else:
                return

    def _drop_oldest(self) -> None:
        while len(self._kept) >= self._limit:
            del self._kept[next(iter(self._kept))]

    def _key(self, key: K) -> str:
        return self._prefix + self._codec.name(key)
