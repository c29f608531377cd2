"""A subscription as the server has it: its message, who gets its events, and what waits."""

from __future__ import annotations

__all__ = ("SCHEDULES", "Claim", "Collector", "PendingEvent", "ServedSubscription")

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kinwire.managers.notification_sender import NotificationQueue
from kinwire.mcpe.rules.meta import dropped_before
from kinwire.mcpe.rules.schedules import Schedule
from kinwire.rpc.codec import EncodedObject
from kinwire.support.timestamps import end_of, seconds_of
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.methods import EVENTS_EVENT
from kinwire_protocols.mcpe.models import DeliveryPreferences, Subscription

if TYPE_CHECKING:
    from kinwire.mcpe.server.clients import ClientSession, KnownClient

QUEUED = 1_000
"""How many events of a subscription wait for a client that reads slowly; then the oldest go."""


@dataclass(slots=True, eq=False)
class PendingEvent:
    """An event that waits for the time of a schedule."""

    event: JsonObject
    sequence: int | None
    """Where it is in the log; None while it is being written."""

    def is_within(self, until: int) -> bool:
        """Return whether it was written, and no later than the entry of that sequence."""
        return self.sequence is not None and self.sequence <= until


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that is under way."""

    due_at: float
    """When it was due, in seconds since 1970."""
    until: int
    """The sequence of its last event."""


class Collector:
    """What a subscription has collected by one channel, until its schedule is due."""

    def __init__(self, channel: Schedule) -> None:
        self.channel: Schedule = channel
        self.pending = deque[PendingEvent]()
        self.cursor = 0
        """The sequence in the log up to which its events were delivered or dropped."""
        self.due_at: float | None = None
        """When it is due next, in seconds since 1970; None for never, or with the next event."""
        self.missed: float | None = None
        """The last time at which it was due while nothing could be delivered."""
        self.delivering = False
        """Whether a delivery is under way."""
        self.preferences: DeliveryPreferences | None = None
        """Those for which the latest delivery was begun: they may have been changed since."""
        self.claim: Claim | None = None
        """The delivery that is under way, or was cut short."""
        self.over = False
        """Whether its one delivery was made, so that it collects nothing more."""

    def drop(self) -> None:
        """Forget what was collected."""
        self.pending.clear()
        self.missed = self.claim = None

    def written_until(self) -> int:
        """Return up to which sequence its events are complete: one may still be being written."""
        until = self.cursor
        for one in self.pending:
            if one.sequence is None:
                break
            until = max(until, one.sequence)
        return until


Send = Callable[[EncodedObject], object]
"""Sends an event, or has it wait."""

SCHEDULES: Final[tuple[Schedule, ...]] = ("cron", "scheduled")
"""The channels that deliver by a schedule."""


class ServedSubscription:
    """One subscription of one client."""

    __slots__ = (
        "_message",
        "active",
        "client",
        "collectors",
        "delivering",
        "expires_at",
        "expiry_unsaid",
        "gone",
        "has_handler",
        "home",
        "is_live",
        "is_notified",
        "number",
        "queue",
        "revision",
        "send",
    )

    def __init__(self, message: Subscription, client: KnownClient, number: int = 0) -> None:
        self.active = self.is_live = self.has_handler = False
        self.send: Send | None = None
        """Sends an event to its client, where nothing else is to be done with one."""
        self.expires_at = math.inf
        """When it expires, in seconds since 1970; infinite for never."""
        self.number = number
        """The place in the order in which subscriptions were made."""
        self.client = client
        self.delivering = client.delivering
        """Limits how fast its client gets events; None for no limit."""
        self.home: ClientSession | None = None
        """The session that gets its notifications; None if the client is not connected."""
        self.queue: NotificationQueue | None = None
        self._set(message)
        self.collectors: dict[Schedule, Collector] = {}
        """One for each channel that delivers by a schedule."""
        self.revision: int | None = None
        """That of its record, in a cluster: another process may have written it since."""
        self.gone = False
        """Whether it was removed, or is served elsewhere, so that it must not be written again."""
        self.expiry_unsaid: float | None = None
        """When it expired, if the client must still be notified."""
        self.is_notified = False
        """Whether the client is being notified of that."""

    @property
    def id(self) -> str:
        """The id of the subscription."""
        return self.message.id

    @property
    def is_served(self) -> bool:
        """Whether this process has it: it was not removed, and nothing has taken its place."""
        return not self.gone and self.client.served.get(self.id) is self

    @property
    def message(self) -> Subscription:
        """The subscription as clients see it."""
        return self._message

    @message.setter
    def message(self, message: Subscription) -> None:
        if self.client.served.get(message.id) is self:
            self.client.note_change(self._message, message)
        self._set(message)

    def _set(self, message: Subscription) -> None:
        self._message = message
        self.active = message.status == "active"  # whether it takes events
        self.is_live = self.active and "realtime" in message.delivery.channels
        self.has_handler = message.handler is not None
        self.expires_at = end_of(message.expires_at)
        self._fit_send()

    def collecting(self) -> Iterator[Collector]:
        """Yield the collectors that take events."""
        return (one for one in self.collectors.values() if not one.over)

    def scheduled_at(self) -> float | None:
        """Return when its one scheduled delivery is made, in seconds since 1970; None without."""
        once = self.message.delivery.scheduled_delivery
        return None if once is None else seconds_of(once.deliver_at)

    def fit_collectors(self, cursor: int) -> None:
        """Have a collector for each channel by a schedule; a new one begins behind `cursor`."""
        channels = self.message.delivery.channels
        before, self.collectors = self.collectors, {}
        for channel in SCHEDULES:
            if channel in channels:
                made = before.get(channel) or Collector(channel)
                made.cursor = made.cursor or cursor
                self.collectors[channel] = made

    def skip_to(self, cursor: int) -> None:
        """Have all channels take what comes after a sequence, and nothing from before."""
        for one in self.collectors.values():
            one.cursor = cursor

    def drop_collected(self) -> None:
        """Forget what was collected by all channels."""
        for one in self.collectors.values():
            one.drop()

    def drop_queued(self) -> None:
        """Forget what waits for a client that reads slowly."""
        home = self.home
        self.go_to(None)
        self.go_to(home)

    def go_to(self, home: ClientSession | None) -> None:
        """Send what comes to a session; to none if the client is not connected."""
        if self.home is not home and self.home is not None and self.queue is not None:
            self.home.sender.forget(self.queue)
        if home is None:
            self.queue = None
        elif self.home is not home:
            own = {"subscriptionId": self.id}
            self.queue = NotificationQueue(
                *(self.id, home.sender, EVENTS_EVENT, own, dropped_before), limit=QUEUED
            )
        self.home = home
        self._fit_send()

    def _fit_send(self) -> None:
        only = self.is_live and not self.has_handler and self.delivering is None
        self.send = self.queue.send if only and self.queue is not None else None
