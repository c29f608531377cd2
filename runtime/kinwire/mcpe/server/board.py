"""The subscriptions of a server: which events they take, when they are due, and where they go.

A change is written before it counts. What clients may do is decided before, by `desk.py`.
"""

from __future__ import annotations

__all__ = ("SubscriptionBoard",)

import math
from collections.abc import Collection
from functools import partial

import anyio

from kinwire.mcpe.rules.features import EventFeatures
from kinwire.mcpe.rules.filter_index import FilterIndex
from kinwire.mcpe.rules.filters import CompiledFilter
from kinwire.mcpe.rules.schedules import Schedule, first_due
from kinwire.mcpe.server.clients import ClientSession, ClientTable, KnownClient
from kinwire.mcpe.server.deliveries import ScheduledDeliveries
from kinwire.mcpe.server.expiry import SubscriptionExpiry
from kinwire.mcpe.server.handler_port import HandlerPort
from kinwire.mcpe.server.home_port import HomePort
from kinwire.mcpe.server.in_background import in_background
from kinwire.mcpe.server.kept import KeptSubscription, KeptSubscriptions
from kinwire.mcpe.server.options import EventTerms
from kinwire.mcpe.server.served import SCHEDULES, Collector, PendingEvent, ServedSubscription
from kinwire.mcpe.server.timers import EventTimers, TimerKey
from kinwire.mcpe.server.visible import VisibleEvents
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock, forward
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.models import Subscription


class SubscriptionBoard:
    """All subscriptions of one server."""

    def __init__(
        self,
        features: EventFeatures,
        terms: EventTerms,
        clients: ClientTable,
        kept: KeptSubscriptions,
        visible: VisibleEvents,
        handlers: HandlerPort | None,
        clock: Clock,
    ) -> None:
        self.features = features
        self.clock = clock
        self.pace = forward(clock)
        """The same without steps back, for limits of how often something happens."""
        self.index = FilterIndex[ServedSubscription]()
        """The filters of those that take events."""
        self.collecting: set[ServedSubscription] = set()
        """Those of them that wait for a schedule."""
        self.timers = EventTimers(self._act, clock)
        self._terms = terms
        self._clients = clients
        self._kept = kept
        self._handlers = handlers
        self._served: dict[str, ServedSubscription] = {}
        self.expiry = SubscriptionExpiry(self.timers, terms, kept, clock, self._settle)
        self._deliveries = ScheduledDeliveries(
            *(features, kept, visible, self.expiry, self.handle, self._settle, clock)
        )
        self._made = 0
        self._loading = anyio.Lock()
        self.loaded = False
        """Whether what was kept was read; in a cluster it never is: others may write, too."""
        self.homes: HomePort | None = None
        """Set in a cluster, in which this process serves some of the clients."""

    def __len__(self) -> int:
        """Return the number of subscriptions, of any status."""
        return len(self._served)

    def get(self, id: str) -> ServedSubscription | None:
        """Return the subscription of that id; None if nothing has it."""
        return self._served.get(id)

    async def ready(self) -> None:
        """Read what was kept, the first time.

        Raises:
            StorageError: the store failed; the next call tries again.
        """
        if self.homes is not None:
            await self.homes.start()
            return
        if self.loaded:
            return
        async with self._loading:
            if not self.loaded:
                await self._load()
                self.loaded = True
                if self._handlers is not None:
                    self._handlers.begin(self._session_of)

    async def add(self, served: ServedSubscription) -> None:
        """Add a new subscription.

        Raises:
            StorageError: it cannot be written; it does not exist then.
        """
        self._made += 1
        served.number = self._made
        served.fit_collectors(await self._kept.end())
        self._set_due(served)
        await (self._kept if self.homes is None else self.homes).put(served)
        self._put(served)
        if served.home not in served.client.sessions:  # it has ended while this was written
            served.go_to(served.client.home)
            if served.home is None:
                self._clients.keep(served.client)
                self._park(served.client)

    async def change(self, served: ServedSubscription, made: Subscription) -> None:
        """Have a subscription be as in its new message.

        Raises:
            StorageError: it cannot be written; it is as before then, but for events that wait.
        """
        before, served.message = served.message, made
        collectors = served.collectors
        if not served.active:
            self._take_events(served)
        if before.delivery != made.delivery:
            for one in served.collectors.values():
                one.over = False
            served.fit_collectors(await self._kept.end())
        if made.status == "active" != before.status and served.collectors:
            served.skip_to(await self._kept.end())  # also for who reads the log again
        self._set_due(served)
        try:
            await self._kept.put(served)
        except BaseException:
            served.message, served.collectors = before, collectors
            self._take_events(served)
            raise
        if not served.active:
            served.drop_collected()
            served.drop_queued()
        self._settle(served)

    def expire_in_time(self, served: ServedSubscription, now: float) -> None:
        """End a subscription whose time is over, if the timer has not done that yet."""
        if served.expires_at <= now and served.message.status != "expired":
            self.expiry.expire(served)

    async def remove(self, served: ServedSubscription) -> None:
        """Remove a subscription.

        Raises:
            StorageError: it cannot be removed; it is as before then.
        """
        await self._kept.delete(served)
        self._drop(served)

    def handle(self, served: ServedSubscription, events: list[JsonObject], id: str) -> None:
        """Have the handler of a subscription work on events."""
        if self._handlers is not None and served.has_handler:
            self._handlers.handle(served.message, served.client.about, events, id)

    def _session_of(self, client_id: str) -> Session | None:
        client = self._clients.get(client_id)
        home = None if client is None else client.home
        return None if home is None else home.session

    def collect(self, served: ServedSubscription, waiting: PendingEvent) -> list[Collector]:
        """Have an event wait for the schedules of a subscription, and return where it waits."""
        at = waiting.sequence
        found = [one for one in served.collecting() if at is None or one.cursor < at]
        for one in found:
            one.pending.append(waiting)
        return found

    def collected(self, served: ServedSubscription) -> None:
        """Deliver now what was collected, if the time of the one delivery is over.

        A time that was over when the subscription was made means the first event (MCPE 8.3).
        """
        one, at, now = served.collectors.get("scheduled"), served.scheduled_at(), self.clock()
        if one is not None and at is not None and not one.over and one.due_at is None and at <= now:
            self._deliveries.begin(served, one, now)

    def joined(self, client: KnownClient, peer: ClientSession) -> None:
        """Send what a client has subscribed to to a session in which it has come back."""
        self.timers.set(TimerKey("grace", client.id), None)
        for served in client.served.values():
            if served.home is None:
                served.go_to(peer)
                self._deliveries.resume(served)
                self.expiry.say(served)

    def left(self, peer: ClientSession) -> None:
        """Send it elsewhere, since a session is over, or keep it while the client is away."""
        for client in peer.clients:
            client.sessions.pop(peer, None)
            for served in client.served.values():
                if served.home is peer:
                    served.go_to(client.home)
                    self._deliveries.resume(served)
            if client.home is None:
                self._park(client)

    def _park(self, client: KnownClient) -> None:
        if not client.served:
            self._forget(client)
            return
        if self._terms.grace < math.inf:
            self.timers.set(TimerKey("grace", client.id), self.clock() + self._terms.grace)
        if self.homes is not None:
            in_background(partial(self.homes.away, client.id))

    def _forget(self, client: KnownClient) -> None:
        self._clients.forget(client)
        if self.homes is not None:
            in_background(partial(self.homes.release, client.id))

    async def _load(self) -> None:
        found = await self._kept.load()
        made = {one.message.id: self.restored(one) for one in found}
        await self._kept.fill(made)
        self.take_in(made.values())

    def restored(self, kept: KeptSubscription) -> ServedSubscription:
        """Return a subscription that was kept, to be served once its events are there."""
        client = self._clients.restored(kept.about)
        served = ServedSubscription(kept.message, client, kept.number)
        self._made = max(self._made, kept.number)
        served.collectors = {one.channel: one for one in kept.collectors}
        served.expiry_unsaid = kept.expiry_unsaid
        served.revision = kept.revision
        return served

    def take_in(self, taken: Collection[ServedSubscription]) -> None:
        """Serve subscriptions that were kept, with the events that wait for them."""
        forgotten_at = self.clock() + self._terms.keep_expired
        for served in taken:
            self._put(served)
            if served.message.status == "expired":
                self.timers.set(TimerKey("forget", served.id), forgotten_at)
        for client in {served.client for served in taken}:
            home = client.home
            if home is None:
                self._park(client)
            else:
                self.joined(client, home)

    def let_go(self, client_id: str) -> None:
        """Serve nothing of a client here any more; another process does."""
        client = self._clients.get(client_id)
        if client is None:
            return
        for served in list(client.served.values()):
            served.gone = True
            self._drop(served)
        self.timers.set(TimerKey("grace", client_id), None)
        self._clients.forget(client)

    def _put(self, served: ServedSubscription) -> None:
        self._served[served.id] = served
        served.client.put(served)
        self._settle(served)

    def _settle(self, served: ServedSubscription) -> None:
        """Make index and timers fit a subscription."""
        self._take_events(served)
        over = served.message.status == "expired"
        expires_at = None if over or served.expires_at == math.inf else served.expires_at
        self.timers.set(TimerKey("expire", served.id), expires_at)
        for channel in SCHEDULES:
            one = served.collectors.get(channel)
            due_at = None if one is None or not served.active else one.due_at
            self.timers.set(TimerKey(channel, served.id), due_at)

    def _take_events(self, served: ServedSubscription) -> None:
        """Make the index fit a subscription, which takes no events unless it is active."""
        if served.active:
            self.index.put(served, CompiledFilter.of(served.message.filter))
        else:
            self.index.discard(served)
        if served.active and served.collectors:
            self.collecting.add(served)
        else:
            self.collecting.discard(served)

    def _drop(self, served: ServedSubscription) -> None:
        self._served.pop(served.id, None)
        served.client.drop(served.id)
        self.index.discard(served)
        self.collecting.discard(served)
        for kind in ("cron", "scheduled", "expire", "forget"):
            self.timers.set(TimerKey(kind, served.id), None)
        served.go_to(None)
        if served.client.home is None and not served.client.served:
            self._forget(served.client)

    def _set_due(self, served: ServedSubscription) -> None:
        """Set when the schedules of a subscription are due from now on."""
        now, delivery = self.clock(), served.message.delivery
        for one in served.collecting():
            at = first_due(delivery, one.channel, self.features, now=now)
            over = at is not None and at <= now  # the first event is delivered when it comes
            one.due_at = None if over else at

    def _act(self, key: TimerKey, at: float) -> None:
        if key.kind == "grace":
            self._end_grace(key.id)
            return
        served = self._served.get(key.id)
        if served is None:
            return
        if key.kind == "cron" or key.kind == "scheduled":
            self._deliver(served, key.kind, at)
        elif key.kind == "expire":
            self.expiry.expire(served)
        elif key.kind == "forget":
            self._drop(served)
            in_background(partial(self._kept.delete, served))

    def _end_grace(self, id: str) -> None:
        client = self._clients.get(id)
        if client is None or client.home is not None:
            return
        for served in list(client.served.values()):
            self._drop(served)
            in_background(partial(self._kept.delete, served))
        self._forget(client)

    def _deliver(self, served: ServedSubscription, channel: Schedule, at: float) -> None:
        one = served.collectors.get(channel)
        if one is not None and one.due_at is not None and one.due_at <= at:  # else it was made
            self._deliveries.begin(served, one, one.due_at)
