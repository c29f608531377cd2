"""Access entries in records: read for every decision, changed by compare-and-set.

All entries of an agent for a server are one record, which is read for each decision. So a decision
sees them as they were at one moment, and what another process has granted or revoked counts as
soon as its call has returned: there is no copy in memory that could be older.
"""

from __future__ import annotations

__all__ = ("AccessStore",)

import logging
from collections.abc import AsyncIterator, Callable
from functools import lru_cache

from kinwire.managers.concurrency import KeyedLock
from kinwire.mgp.rules.access import AccessGrant, AgentAccess
from kinwire.storage.clock import Clock
from kinwire.storage.errors import ConflictError, StorageDamagedError, StorageError
from kinwire.storage.memory import MemoryRecords
from kinwire.storage.records import Record, Records
from kinwire.support.bounded import LruDict
from kinwire.support.json_values import short_digest

logger = logging.getLogger("kinwire.mgp")

_PREFIX = "access/"
_TRIES = 100  # of one change, while other processes change the same record
_PARSED = 1000  # records whose entries are kept as they were read; a revision never changes


class AccessStore:
    """The entries of all agents and servers. `clock` must never go back."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._local = records if isinstance(records, MemoryRecords) else None
        self._clock = clock
        self._turns = KeyedLock[str]()
        self._parsed = LruDict[str, tuple[int, AgentAccess]](_PARSED)

    def at_hand(self, agent: str, server: str) -> tuple[AgentAccess, float] | None:
        """Return what `current` returns, without waiting; None if that takes waiting.

        It takes none where the records are of this process, and no entry has ended.
        """
        if self._local is None:
            return None
        record = self._local.at_hand(_key(agent, server))
        if record is None:
            return _without_entries(agent, server), 0.0
        row, now = self._read(record), self._clock()
        return (row, now) if row.current(now) is row else None

    async def current(self, agent: str, server: str) -> tuple[AgentAccess, float]:
        """Return the entries that hold, and the time; what has ended is removed for good.

        So a clock that is put back later, also of another process, does not revive it.

        Raises:
            StorageError: the records cannot be read.
        """
        record = await self._records.get(_key(agent, server))
        now = self._clock()
        if record is None:
            return AgentAccess(agent, server), now
        row = self._read(record)
        current = row.current(now)
        if current is not row:
            try:
                await self.change(agent, server, lambda row: row)
            except StorageError:
                logger.warning("An ended access entry could not be removed", exc_info=True)
        return current, now

    async def change(
        self, agent: str, server: str, change: Callable[[AgentAccess], AgentAccess]
    ) -> AgentAccess:
        """Change the entries that hold, and return them as they were before.

        Raises:
            ConflictError: other processes changed the same record all the time.
            StorageError: the records cannot be read or written; nothing has changed.
        """
        key = _key(agent, server)
        async with self._turns.of(key):
            for _attempt in range(_TRIES - 1):
                try:
                    return await self._change_once(key, agent, server, change)
                except ConflictError:
                    continue
            return await self._change_once(key, agent, server, change)

    async def _change_once(
        self, key: str, agent: str, server: str, change: Callable[[AgentAccess], AgentAccess]
    ) -> AgentAccess:
        record = await self._records.get(key)
        stored = AgentAccess(agent, server) if record is None else self._read(record)
        before = stored.current(self._clock())
        after = change(before)
        revision = 0 if record is None else record.revision
        if after == stored:
            return before
        if after.entries:
            await self._records.put(key, after.to_json(), revision=revision)
        elif record is not None:
            await self._records.delete(key, revision=revision)
        return before

    def _read(self, record: Record) -> AgentAccess:
        """Return the entries of a record that was read just now."""
        revision, row = self._parsed.get(record.key) or (0, None)
        if row is None or revision != record.revision:
            row = _read(record)
            self._parsed.put(record.key, (record.revision, row))
        return row

    async def grants(self, agent: str | None, server: str | None) -> AsyncIterator[AccessGrant]:
        """Yield the entries that hold, of one agent or server or of all.

        Raises:
            StorageError: the records cannot be read.
        """
        async for record in self._records.scan(_prefix(server)):
            row = _read(record)
            if agent in (None, row.agent):
                for grant in row.current(self._clock()).entries.values():
                    yield grant


def _prefix(server: str | None) -> str:
    return _PREFIX if server is None else f"{_PREFIX}{short_digest(server)}/"


@lru_cache(maxsize=_PARSED)
def _without_entries(agent: str, server: str) -> AgentAccess:
    return AgentAccess(agent, server)


@lru_cache(maxsize=_PARSED)
def _key(agent: str, server: str) -> str:
    return f"{_prefix(server)}{short_digest(agent)}"


def _read(record: Record) -> AgentAccess:
    """Return the entries in a record.

    Raises:
        StorageDamagedError: they cannot be read, or are of another agent or server.
    """
    try:
        row = AgentAccess.from_json(record.value)
        if record.key != _key(row.agent, row.server):
            raise ValueError(f"the entries of {row.agent} for {row.server}")
    except (KeyError, TypeError, ValueError) as error:
        raise StorageDamagedError.of_record(
            record.key,
            error,
            expected="access entries",
            hint="Restore a backup, or delete the record and grant again.",
        ) from error
    return row
