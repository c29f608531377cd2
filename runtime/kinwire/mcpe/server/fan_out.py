"""Events on their way to subscriptions: checked, encoded and matched once (MCPE 4)."""

from __future__ import annotations

__all__ = ("EventFanOut", "Publication")

from collections.abc import Sequence
from typing import Final, NamedTuple

import anyio
from anyio.lowlevel import checkpoint

from kinwire.managers.concurrency import KeyedLock
from kinwire.managers.durable_map import DurableMap, text_codec
from kinwire.managers.limits import TokenBucket
from kinwire.mcpe.errors import InvalidEventError, PublicationLimitError
from kinwire.mcpe.rules.events import event_problems, source_of
from kinwire.mcpe.server.board import SubscriptionBoard
from kinwire.mcpe.server.catalog import EventCatalog
from kinwire.mcpe.server.clients import KnownClient
from kinwire.mcpe.server.kept import KeptSubscriptions
from kinwire.mcpe.server.options import EventRates
from kinwire.mcpe.server.served import PendingEvent, ServedSubscription
from kinwire.mcpe.server.visible import VisibleEvents
from kinwire.rpc.codec import EncodedObject
from kinwire.storage.records import Records
from kinwire.support.bounded import DEDUP_SECONDS
from kinwire.support.json_values import short_digest
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpe.models import MCPEvent
from kinwire_protocols.problems import Problem

LARGEST: Final = 1024 * 1024
"""How large an event may be, in bytes of JSON."""

_REMEMBERED = 100_000  # events by the id that they had where they came from
_MANY = 200  # subscriptions that are served before others get a turn


class Publication(NamedTuple):
    """What became of an event that was published."""

    event_id: str
    subscriptions: int
    """How many subscriptions have selected it; in a cluster, of those that this process serves."""
    duplicate: bool = False
    """Whether it came before, so that nothing was done."""


class EventFanOut:
    """Publishes events to the subscriptions of one server."""

    def __init__(
        self,
        board: SubscriptionBoard,
        catalog: EventCatalog,
        kept: KeptSubscriptions,
        visible: VisibleEvents,
        rates: EventRates,
        records: Records | None,
    ) -> None:
        self._board = board
        self._catalog = catalog
        self._kept = kept
        self._visible = visible
        rate = rates.publications
        self._bucket = None if rate is None else TokenBucket(per_second=rate)
        self._seen = DurableMap[str, str](
            *(records, "mcpe/seen/", text_codec(str, str)),
            limit=_REMEMBERED,
            ttl=DEDUP_SECONDS,
            clock=board.clock,
        )
        self._turns = KeyedLock[str]()
        self._sending = anyio.Lock()
        self.is_shared = False
        """Whether other processes get the events, too, in the order of the log."""

    async def publish(self, event: MCPEvent) -> Publication:
        """Publish an event, unless one with its `sourceEventId` came from its source before.

        Raises:
            InvalidEventError: it is not a valid event, or not one that the server has declared.
            PublicationLimitError: too many are published.
            UnsendableError: JSON cannot hold it.
            StorageError: it cannot be written for those that wait for a schedule.
        """
        encoded = self._checked(event)
        if not self._board.loaded:
            await self._board.ready()
        source_id = event.metadata.source_event_id
        if source_id is None:
            return await self._publish(event, encoded, event.id)
        key = short_digest("mcpe event", source_of(event.type), source_id)
        async with self._turns.of(key):
            if await self._seen.find(key) is not None:
                return Publication(event.id, 0, duplicate=True)
            found = await self._publish(event, encoded, key)
            await self._seen.put(key, event.id)
            return found

    def _checked(self, event: MCPEvent) -> EncodedObject:
        """Return the event, encoded, as the member `event` of params."""
        found = [*event_problems(event), *self._catalog.problems(event)]
        if found:
            raise InvalidEventError(found)
        encoded = EncodedObject({"event": to_wire(event)})
        if len(encoded.encoded) > LARGEST:
            size = Problem("", f"at most {LARGEST} bytes", f"{len(encoded.encoded)}")
            raise InvalidEventError([size])
        if self._bucket is not None and not self._bucket.take(now=self._board.pace()):
            raise PublicationLimitError("Events are published too fast. Wait a second.")
        return encoded

    async def arrived(self, value: JsonObject, sequence: int) -> None:
        """Take an event that was published in the cluster, with its place in the log.

        Raises:
            pydantic.ValidationError: it is not an event.
        """
        event, encoded = from_wire(MCPEvent, value), EncodedObject({"event": value})
        found = self._selecting(event)
        if len(found) <= _MANY and not self._sending.locked():
            self._send(event, encoded, found)
        else:
            await self._send_in_turns(event, encoded, found)
        waiting = PendingEvent(value, sequence)
        for one in found:
            if self._board.collect(one, waiting):
                self._board.collected(one)

    def _selecting(self, event: MCPEvent) -> list[ServedSubscription]:
        metadata = event.metadata
        board = self._board
        found = board.index.matching(event.type, metadata.tags or (), metadata.priority)
        if not board.timers.behind:
            return found
        now = board.clock()
        for one in found:
            board.expire_in_time(one, now)
        return [one for one in found if one.active]

    async def _publish(self, event: MCPEvent, encoded: EncodedObject, id: str) -> Publication:
        found = self._selecting(event)
        if self.is_shared:
            done = await self._kept.append_for_all(encoded["event"], id)
            return Publication(event.id, len(found), done.duplicate)
        if len(found) <= _MANY and not self._sending.locked():
            self._send(event, encoded, found)
        else:
            await self._send_in_turns(event, encoded, found)
        if self._board.collecting:
            await self._collect(encoded["event"], [one for one in found if one.collectors])
        return Publication(event.id, len(found))

    async def _send_in_turns(
        self, event: MCPEvent, encoded: EncodedObject, served: Sequence[ServedSubscription]
    ) -> None:
        """Send an event that is for many, and let others have a turn; none overtakes another."""
        async with self._sending:
            for begin in range(0, len(served), _MANY):
                self._send(event, encoded, served[begin : begin + _MANY])
                await checkpoint()

    def _send(
        self, event: MCPEvent, encoded: EncodedObject, served: Sequence[ServedSubscription]
    ) -> None:
        """Send an event now to those of a list that take it and whose clients are connected."""
        shown = None if self._visible.all else _Shown(event, encoded, self._visible)
        for one in served:
            if shown is not None:
                self._show(one, event, shown)
            elif (send := one.send) is not None:
                send(encoded)
            elif one.is_live:  # else it waits for a schedule, or was just paused
                self._send_to(one, event, encoded)

    def _show(self, one: ServedSubscription, event: MCPEvent, shown: _Shown) -> None:
        """Send what a client sees of an event, if it sees anything."""
        seen = shown.to(one.client) if one.is_live else None
        if seen is not None:
            self._send_to(one, event, seen)

    def _send_to(self, one: ServedSubscription, event: MCPEvent, seen: EncodedObject) -> None:
        """Send an event to a client if that is connected and not too fast, and to the handler."""
        queue, bucket = one.queue, one.delivering
        if queue is None:
            pass
        elif bucket is None or bucket.take(now=self._board.pace()):
            queue.send(seen)
        else:
            queue.drop()
        if one.has_handler:
            self._board.handle(one, [seen["event"]], f"{one.id}/{event.id}")

    async def _collect(self, event: JsonObject, served: Sequence[ServedSubscription]) -> None:
        """Keep an event for those of a list that wait for a schedule."""
        if not served:
            return
        waiting = PendingEvent(event, None)
        where = [each for one in served for each in self._board.collect(one, waiting)]
        try:
            waiting.sequence = await self._kept.append(event, [one.id for one in served])
        except BaseException:
            for each in where:
                if waiting in each.pending:
                    each.pending.remove(waiting)
            raise
        for one in served:
            self._board.collected(one)


class _Shown:
    """One event as each of its clients may see it, encoded once for all that see it as it is."""

    def __init__(self, event: MCPEvent, encoded: EncodedObject, visible: VisibleEvents) -> None:
        self._event = event
        self._encoded = encoded
        self._visible = visible
        self._by_client: dict[KnownClient, EncodedObject | None] = {}

    def to(self, client: KnownClient) -> EncodedObject | None:
        """Return what a client sees; None if it sees nothing."""
        if client not in self._by_client:
            seen = self._visible.of(self._event, self._encoded, client.about)
            self._by_client[client] = seen
        return self._by_client[client]
