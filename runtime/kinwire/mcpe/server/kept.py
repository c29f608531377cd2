"""What outlives the process: subscriptions in records, events that wait for a schedule in a log.

The record of a subscription has, for each channel by a schedule, the sequence in the log up to
which events were delivered, and while a delivery is under way its time and its last event. So a
delivery that was cut short is repeated as it was, under the same id.
"""

from __future__ import annotations

__all__ = ("KeptSubscription", "KeptSubscriptions")

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from kinwire.managers.concurrency import KeyedLock
from kinwire.mcpe.server.event_client import EventClient
from kinwire.mcpe.server.served import Claim, Collector, PendingEvent, ServedSubscription
from kinwire.storage.errors import StorageDamagedError
from kinwire.storage.log import Entry, Log
from kinwire.storage.records import Record, Records
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpe.models import Subscription

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


class KeptSubscriptions:
    """The records and the log of a server's events; without them nothing is kept."""

    def __init__(self, records: Records | None, log: Log | None) -> None:
        self._records = records
        self._log = log
        self._counted = 0
        self._turns = KeyedLock[str]()

    async def put(self, served: ServedSubscription) -> None:
        """Write a subscription.

        Raises:
            StorageError: the store failed.
        """
        async with self._turns.of(served.id):
            if self._records is not None and not served.gone:
                with anyio.CancelScope(shield=True):
                    await self._records.put(_PREFIX + served.id, _written(served))

    async def delete(self, served: ServedSubscription) -> None:
        """Remove a subscription; it is not written again.

        Raises:
            StorageError: the store failed; it is as before then.
        """
        async with self._turns.of(served.id):
            if self._records is not None:
                with anyio.CancelScope(shield=True):
                    await self._records.delete(_PREFIX + served.id)
            served.gone = True

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

    async def end(self) -> int:
        """Return the sequence of the newest event.

        Raises:
            StorageError: the store failed.
        """
        return self._counted if self._log is None else (await self._log.bounds())[1]

    async def fill(self, served: Mapping[str, ServedSubscription]) -> None:
        """Give subscriptions the events that wait for them.

        Raises:
            StorageError: the store failed.
        """
        cursors = [each.cursor for one in served.values() for each in one.collecting()]
        if self._log is None or not cursors:
            return
        oldest, _ = await self._log.bounds()
        after = max(min(cursors), oldest - 1)
        while True:
            page = await self._log.read(_SUBJECT, after=after, limit=_PAGE)
            for entry in page:
                _fill_from(entry, served)
            if len(page) < _PAGE:
                return
            after = page[-1].sequence


def _fill_from(entry: Entry, served: Mapping[str, ServedSubscription]) -> None:
    """Give the event of an entry to those that wait for it."""
    value: Any = entry.value
    waiting = PendingEvent(value["event"], entry.sequence)
    found = (served.get(id) for id in value["subscriptions"])
    for one in (one for one in found if one is not None):
        for each in one.collecting():
            if each.cursor < entry.sequence:
                each.pending.append(waiting)


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
        )
    except Exception as error:  # what was written there is not what `put` writes
        raise StorageDamagedError.of_record(
            record.key,
            error,
            expected="a subscription of MCPE",
            hint="Delete the record, or restore it from a backup.",
        ) from error
