"""Deliveries of the channels `cron` and `scheduled`: what was collected (MCPE 8.2, 8.3)."""

from __future__ import annotations

__all__ = ("ScheduledDeliveries",)

import logging
from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Any

from anyio import sleep

from kinwire.mcpe.rules.batch_sizes import within_size
from kinwire.mcpe.rules.features import EventFeatures
from kinwire.mcpe.rules.meta import DELIVERY_ID
from kinwire.mcpe.rules.schedules import Notification, delivery_id, next_due, notifications
from kinwire.mcpe.server.clients import ClientSession
from kinwire.mcpe.server.expiry import SubscriptionExpiry
from kinwire.mcpe.server.kept import KeptSubscriptions
from kinwire.mcpe.server.served import Claim, Collector, ServedSubscription
from kinwire.mcpe.server.visible import VisibleEvents
from kinwire.rpc.codec import encode
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageError
from kinwire.support.background import start_detached
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcpe.methods import EVENTS_BATCH, EVENTS_EVENT
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mcpe")

Handle = Callable[[ServedSubscription, list[JsonObject], str], None]
"""Has a subscription's handler work on events, under the id of their delivery."""

_AGAIN = 5.0  # seconds after which deliveries are tried again that the store has stopped


class ScheduledDeliveries:
    """Delivers what waits for a schedule, one delivery of a channel of a subscription at a time."""

    def __init__(
        self,
        features: EventFeatures,
        kept: KeptSubscriptions,
        visible: VisibleEvents,
        expiry: SubscriptionExpiry,
        handle: Handle,
        settle: Callable[[ServedSubscription], None],
        clock: Clock,
    ) -> None:
        """Prepare; `settle` makes the index and the timers fit a subscription that was changed."""
        self._features = features
        self._kept = kept
        self._visible = visible
        self._expiry = expiry
        self._handle = handle
        self._settle = settle
        self._clock = clock
        self._put_off: dict[Collector, ServedSubscription] = {}
        """Whose deliveries the store has stopped."""

    def begin(self, served: ServedSubscription, collector: Collector, due_at: float) -> None:
        """Deliver what a channel has collected, at a time at which it is due.

        While its client is not connected, it waits; all times that are missed are one delivery.
        """
        if collector.delivering or (served.home is None and collector.pending):
            collector.missed = due_at
            return
        collector.delivering = True
        collector.preferences = served.message.delivery
        collector.missed = None
        Context().run(start_detached, partial(self._deliver, served, collector, due_at))

    def resume(self, served: ServedSubscription) -> None:
        """Make the deliveries that were missed or cut short, now that the client is connected."""
        for one in served.collectors.values():
            due_at = one.missed
            if due_at is None and one.claim is not None:
                due_at = one.claim.due_at
            if due_at is not None and served.home is not None and not one.delivering:
                self.begin(served, one, due_at)

    async def _deliver(
        self, served: ServedSubscription, collector: Collector, due_at: float
    ) -> None:
        home = served.home
        try:
            await self._make(served, collector, due_at)
        except ConnectionClosedError:
            collector.missed = max(due_at, collector.missed or due_at)
        except StorageError as error:
            collector.missed = max(due_at, collector.missed or due_at)
            self._try_again(served, collector)
            logger.error("a delivery of the subscription %s waits: %s", served.id, error)
            return
        except Exception:  # of an interceptor
            logger.exception("a delivery of the subscription %s failed", served.id)
        else:
            if collector.missed is not None and collector.missed <= due_at:
                collector.missed = None  # it is in this delivery
        finally:
            collector.delivering = False
        self._go_on(served, collector, due_at, home)

    def _go_on(
        self,
        served: ServedSubscription,
        collector: Collector,
        due_at: float,
        before: ClientSession | None,
    ) -> None:
        """Make what became due while a delivery was under way, or what failed in an old session."""
        missed = collector.missed
        if missed is None or served.gone or served.home is None:
            return
        if missed > due_at or served.home is not before:
            self.begin(served, collector, missed)

    async def _make(self, served: ServedSubscription, collector: Collector, due_at: float) -> None:
        cut_short, begun = collector.claim, self._clock()
        if cut_short is not None:
            await self._make_claimed(served, collector, cut_short)
        if cut_short is None or due_at > cut_short.due_at:
            await self._kept.catch_up()
            until = collector.written_until()
            if until > collector.cursor:
                claim = await self._claimed(served, collector, Claim(due_at, until))
                await self._make_claimed(served, collector, claim)
        else:
            begun = due_at  # what came after it is due at the times since
        await self._made(served, collector, due_at, begun)

    async def _made(
        self, served: ServedSubscription, collector: Collector, due_at: float, begun_at: float
    ) -> None:
        """Go on after a delivery that was due, which may have had no events.

        What became due while it was made is due immediately. Preferences that were changed while it
        was made have times of their own.
        """
        delivery, once = served.message.delivery, served.message.delivery.scheduled_delivery
        if not (served.is_served and served.active):
            return
        channel = collector.channel
        if collector.preferences != delivery:
            await self._note(served)
            return
        collector.due_at = next_due(delivery, channel, self._features, due=due_at, now=begun_at)
        collector.over = channel == "scheduled"
        if collector.over and once is not None and once.auto_expire:
            self._expiry.expire(served)
        else:
            self._settle(served)
            await self._note(served)

    async def _note(self, served: ServedSubscription) -> None:
        """Write that a delivery was made; if the store fails, the next write has it, too.

        Until then it may be repeated after a restart, with the same id.
        """
        try:
            await self._kept.put(served)
        except StorageError as error:
            logger.error("a delivery of the subscription %s was not noted: %s", served.id, error)

    def _try_again(self, served: ServedSubscription, collector: Collector) -> None:
        """Make a delivery later, since the store does not work now, whatever the wall clock does.

        All that wait for that are made at the same time.
        """
        if not self._put_off:
            Context().run(start_detached, self._make_put_off)
        self._put_off[collector] = served

    async def _make_put_off(self) -> None:
        try:
            await sleep(_AGAIN)
        finally:  # also when the event loop ends, after which another one may use the server
            put_off, self._put_off = self._put_off, {}
        for collector, served in put_off.items():
            is_there = served.collectors.get(collector.channel) is collector
            if served.is_served and is_there and collector.missed is not None:
                self.begin(served, collector, collector.missed)

    async def _claimed(
        self, served: ServedSubscription, collector: Collector, claim: Claim
    ) -> Claim:
        """Write that a delivery is under way, before anything of it is sent."""
        collector.claim = claim
        try:
            await self._kept.put(served)
        except BaseException:
            collector.claim = None
            raise
        return claim

    async def _make_claimed(
        self, served: ServedSubscription, collector: Collector, claim: Claim
    ) -> None:
        taken = [one for one in collector.pending if one.is_within(claim.until)]
        seen = self._visible.among([one.event for one in taken], served.client.about)
        delivery = served.message.delivery
        sent = notifications(seen, delivery, collector.channel, self._features)
        for part, notification in enumerate(within_size(sent, _size_of)):
            id = delivery_id(served.id, collector.channel, claim.due_at, part)
            try:
                await self._send(served, notification, id)
            except ConnectionClosedError:
                raise
            except Exception:  # of an interceptor
                logger.exception("a delivery of the subscription %s was not sent", served.id)
        for one in taken:
            if one in collector.pending:  # else it was paused since
                collector.pending.remove(one)
        collector.cursor, collector.claim = claim.until, None

    async def _send(
        self, served: ServedSubscription, notification: Notification[JsonObject], id: str
    ) -> None:
        home = served.home
        if home is None or not served.active:
            raise ConnectionClosedError("The client is not connected.")
        await _notify(home.session, served.id, notification, id)
        self._handle(served, list(notification.events), id)


def _size_of(event: JsonObject) -> int:
    return len(encode(event))


async def _notify(
    session: Session, id: str, notification: Notification[JsonObject], delivery_id: str
) -> None:
    row: Method[Any, None] = EVENTS_BATCH if notification.is_batch else EVENTS_EVENT
    events = list(notification.events)
    what: JsonObject = {"events": events} if notification.is_batch else {"event": events[0]}
    params = {"subscriptionId": id, **what, "_meta": {DELIVERY_ID: delivery_id}}
    await session.notify(row, from_wire(row.params, params))
    await session.wait_written()  # else it could be noted, and lost if this process ends now
