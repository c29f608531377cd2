"""What outlives the process: subscriptions in records, events that wait for a schedule in a log.

The record of a subscription has the sequence in the log up to which its events were delivered, and
while a delivery is under way its time and its last event. So a delivery that was cut short is
repeated as it was, under the same id.
"""

from __future__ import annotations

__all__ = ("KeptSubscription", "KeptSubscriptions")

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import anyio

from kinwire.managers.concurrency import KeyedLock
from kinwire.mcpe.server.event_client import EventClient
from kinwire.mcpe.server.served import Claim, PendingEvent, ServedSubscription
from kinwire.storage.errors import StorageDamagedError
from kinwire.storage.log import Log
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
    cursor: int
    due_at: float | None
    scheduled_over: bool
    claim: Claim | None
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

    async def fill(self, served: dict[str, ServedSubscription]) -> None:
        """Give subscriptions the events that wait for them.

        Raises:
            StorageError: the store failed.
        """
        collecting = [one for one in served.values() if one.collects]
        if self._log is None or not collecting:
            return
        oldest, _ = await self._log.bounds()
        after = max(min(one.cursor for one in collecting), oldest - 1)
        while True:
            page = await self._log.read(_SUBJECT, after=after, limit=_PAGE)
            for entry in page:
                for id in entry.value["subscriptions"]:
                    one = served.get(id)
                    if one is not None and one.collects and one.cursor < entry.sequence:
                        one.pending.append(PendingEvent(entry.value["event"], entry.sequence))
            if len(page) < _PAGE:
                return
            after = page[-1].sequence


def _written(served: ServedSubscription) -> JsonObject:
    claim = served.claim
    return {
        "subscription": to_wire(served.message),
        "number": served.number,
        "principal": served.client.about.principal,
        "cursor": served.cursor,
        "dueAt": served.due_at,
        "scheduledOver": served.scheduled_over,
        "claim": None if claim is None else [claim.due_at, claim.until],
        "expiryUnsaid": served.expiry_unsaid,
    }


def _read(record: Record) -> KeptSubscription:
    value: Any = record.value
    try:
        message = from_wire(Subscription, value["subscription"])
        claim = value["claim"]
        return KeptSubscription(
            message,
            value["number"],
            EventClient(message.client_id, value["principal"]),
            value["cursor"],
            value["dueAt"],
            value["scheduledOver"],
            None if claim is None else Claim(*claim),
            value["expiryUnsaid"],
        )
    except Exception as error:  # what was written there is not what `put` writes
        raise StorageDamagedError.of_record(
            record.key,
            error,
            expected="a subscription of MCPE",
            hint="Delete the record, or restore it from a backup.",
        ) from error
