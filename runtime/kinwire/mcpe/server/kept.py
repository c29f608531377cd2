"""What outlives the process: subscriptions in records, events that wait for a schedule in a log.

The record of a subscription has, for each channel by a schedule, the sequence in the log up to
which events were delivered, and while a delivery is under way its time and its last event. So a
delivery that was cut short is repeated as it was, under the same id. In a cluster each write names
the revision before it, so of several processes only one claims a delivery.
"""

from __future__ import annotations

__all__ = ("KeptSubscription", "KeptSubscriptions", "SharedWrites", "event_in")

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio

from kinwire.managers.concurrency import KeyedLock
from kinwire.mcpe.rules.filter_index import FilterIndex
from kinwire.mcpe.rules.filters import CompiledFilter
from kinwire.mcpe.server.event_client import EventClient
from kinwire.mcpe.server.served import Claim, Collector, PendingEvent, ServedSubscription
from kinwire.rpc.codec import is_object
from kinwire.storage.errors import ConflictError, StorageDamagedError, StorageError
from kinwire.storage.log import Appended, Entry, Log
from kinwire.storage.records import Record, Records
from kinwire.support.json_values import short_digest
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpe.models import MCPEvent, Subscription

_PREFIX = "mcpe/subscriptions/"
_SUBJECT = "mcpe.event"
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class KeptSubscription:
    """A subscription as it was written."""

    message: Subscription
    number: int
    about: EventClient
    collectors: Sequence[Collector]
    expiry_unsaid: float | None
    revision: int


@dataclass(frozen=True, slots=True)
class SharedWrites:
    """What a process of a cluster does around its writes."""

    refused: Callable[[str], None]
    """Called with a client's id: another process has written one of its subscriptions."""
    catch_up: Callable[[], Awaitable[None]]
    """Waits until all events have come that were published so far."""


class KeptSubscriptions:
    """The records and the log of a server's events; without them nothing is kept."""

    def __init__(self, records: Records | None, log: Log | None) -> None:
        self._records = records
        self._log = log
        self._counted = 0
        self._turns = KeyedLock[str]()
        self.shared: SharedWrites | None = None
        """Set in a cluster."""

    async def put(self, served: ServedSubscription) -> None:
        """Write a subscription.

        Raises:
            StorageError: the store failed.
            ConflictError: another process of the cluster has written it.
        """
        async with self._turns.of(served.id):
            if self._records is not None and not served.gone:
                with anyio.CancelScope(shield=True):
                    await self._put(self._records, served)

    async def delete(self, served: ServedSubscription) -> None:
        """Remove a subscription; it is not written again.

        Raises:
            StorageError: the store failed; it is as before then.
            ConflictError: another process of the cluster has written it.
        """
        async with self._turns.of(served.id):
            if self._records is not None and not served.gone:
                with anyio.CancelScope(shield=True):
                    await self._delete(self._records, served)
            served.gone = True

    async def withdraw(self, served: ServedSubscription) -> None:
        """Remove a subscription that nobody knows yet, as far as it can be; it can be put again."""
        if self._records is not None:
            with suppress(StorageError):
                await self._records.delete(_key_of(served))  # also if another process has taken it
        served.revision = None

    async def load(self) -> list[KeptSubscription]:
        """Return the subscriptions, the oldest first.

        Raises:
            StorageError: the store failed.
            StorageDamagedError: a record cannot be read.
        """
        if self._records is None:
            return []
        found = [_read(record) async for record in self._records.scan(_PREFIX)]
        return sorted(found, key=lambda one: one.number)

    async def take(self, client_id: str) -> list[KeptSubscription]:
        """Return the subscriptions of a client, which no other process can write from now on.

        Raises:
            StorageError: the store failed.
            StorageDamagedError: a record cannot be read.
        """
        records = self._records
        if records is None:
            return []
        found = [one async for one in records.scan(_folder_of(client_id))]
        latest = {one.key: one for one in found}  # one that has changed may come twice
        taken = [await _taken(records, one) for one in latest.values()]
        read = (_read(one) for one in taken if one is not None)
        return sorted(read, key=lambda one: one.number)

    async def append(self, event: JsonObject, ids: Collection[str]) -> int:
        """Write an event that subscriptions wait for, and return its sequence.

        Raises:
            StorageError: the store failed.
        """
        if self._log is None:
            self._counted += 1
            return self._counted
        value = {"event": event, "subscriptions": list(ids)}
        return (await self._log.append(_SUBJECT, value)).sequence

    async def append_for_all(self, event: JsonObject, id: str) -> Appended:
        """Write an event for all processes of a cluster, unless one with that id was written.

        Raises:
            StorageError: the store failed.
        """
        assert self._log is not None
        return await self._log.append(_SUBJECT, {"event": event}, id=id)

    async def catch_up(self) -> None:
        """Wait, in a cluster, until all events have come that were published so far.

        Raises:
            StorageError: the store failed.
        """
        if self.shared is not None:
            await self.shared.catch_up()

    async def end(self) -> int:
        """Return the sequence of the newest event.

        Raises:
            StorageError: the store failed.
        """
        return self._counted if self._log is None else (await self._log.bounds())[1]

    async def fill(
        self,
        served: Mapping[str, ServedSubscription],
        *,
        after: int | None = None,
        until: int | None = None,
    ) -> None:
        """Give subscriptions the events that wait for them, between two sequences if those are set.

        Raises:
            StorageError: the store failed.
        """
        cursors = [each.cursor for one in served.values() for each in one.collecting()]
        if self._log is None or not cursors:
            return
        index = _index_of(served.values())
        oldest, newest = await self._log.bounds()
        after = max(min(cursors) if after is None else after, oldest - 1)
        until = newest if until is None else until
        while after < until:
            page = await self._log.read(_SUBJECT, after=after, limit=_PAGE)
            for entry in page:
                if entry.sequence <= until:
                    _fill_from(entry, served, index)
            if len(page) < _PAGE:
                return
            after = page[-1].sequence

    async def _put(self, records: Records, served: ServedSubscription) -> None:
        key, written = _key_of(served), _written(served)
        if self.shared is None:
            await records.put(key, written)
            return
        try:
            served.revision = await records.put(key, written, revision=served.revision or 0)
        except ConflictError:
            self.shared.refused(served.client.id)
            raise

    async def _delete(self, records: Records, served: ServedSubscription) -> None:
        if self.shared is None:
            await records.delete(_key_of(served))
            return
        try:
            await records.delete(_key_of(served), revision=served.revision)
        except ConflictError:
            self.shared.refused(served.client.id)
            raise


async def _taken(records: Records, record: Record | None) -> Record | None:
    """Write a record as it is, so that others who have read it cannot write it; None if it is gone.

    Raises:
        StorageError: the store failed.
    """
    while record is not None:
        try:
            revision = await records.put(record.key, record.value, revision=record.revision)
        except ConflictError:
            record = await records.get(record.key)
        else:
            return Record(record.key, record.value, revision)
    return None


def event_in(entry: Entry) -> JsonObject | None:
    """Return the event that an entry of the log has; None for another entry."""
    value: Any = entry.value
    event: object = value.get("event") if is_object(value) else None
    return event if entry.subject == _SUBJECT and is_object(event) else None


def _index_of(served: Iterable[ServedSubscription]) -> FilterIndex[str]:
    index = FilterIndex[str]()
    for one in served:
        if one.active:
            index.put(one.id, CompiledFilter.of(one.message.filter))
    return index


def _fill_from(
    entry: Entry, served: Mapping[str, ServedSubscription], index: FilterIndex[str]
) -> None:
    """Give the event of an entry to those that wait for it."""
    value: Any = entry.value
    waiting = PendingEvent(value["event"], entry.sequence)
    ids = value["subscriptions"] if "subscriptions" in value else _selecting(value["event"], index)
    found = (served.get(id) for id in ids)
    for one in (one for one in found if one is not None):
        for each in one.collecting():
            if each.cursor < entry.sequence:
                each.pending.append(waiting)


def _selecting(event: JsonObject, index: FilterIndex[str]) -> Sequence[str]:
    """Return the ids of the subscriptions that select an event, which was written for all."""
    metadata = from_wire(MCPEvent, event).metadata
    return index.matching(event["type"], metadata.tags or (), metadata.priority)


def _folder_of(client_id: str) -> str:
    return f"{_PREFIX}{short_digest(client_id)}/"


def _key_of(served: ServedSubscription) -> str:
    return _folder_of(served.client.id) + served.id


def _written(served: ServedSubscription) -> JsonObject:
    return {
        "subscription": to_wire(served.message),
        "number": served.number,
        "principal": served.client.about.principal,
        "collectors": [_written_collector(one) for one in served.collectors.values()],
        "expiryUnsaid": served.expiry_unsaid,
    }


def _written_collector(one: Collector) -> JsonObject:
    return {
        "channel": one.channel,
        "cursor": one.cursor,
        "dueAt": one.due_at,
        "over": one.over,
        "claim": None if one.claim is None else [one.claim.due_at, one.claim.until],
    }


def _read_collector(value: Any) -> Collector:
    made = Collector(value["channel"])
    made.cursor, made.due_at, made.over = value["cursor"], value["dueAt"], value["over"]
    made.claim = None if value["claim"] is None else Claim(*value["claim"])
    return made


def _read(record: Record) -> KeptSubscription:
    value: Any = record.value
    try:
        message = from_wire(Subscription, value["subscription"])
        return KeptSubscription(
            message,
            value["number"],
            EventClient(message.client_id, value["principal"]),
            [_read_collector(one) for one in value["collectors"]],
            value["expiryUnsaid"],
            record.revision,
        )
    except Exception as error:  # what was written there is not what `put` writes
        raise StorageDamagedError.of_record(
            record.key,
            error,
            expected="a subscription of MCPE",
            hint="Delete the record, or restore it from a backup.",
        ) from error
