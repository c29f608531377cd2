"""When the events of a subscription are due, and in which notifications they come (MCPE 8).

Runs that were missed, as while the process was suspended, are made up by one.
"""

from __future__ import annotations

__all__ = ("Notification", "delivery_id", "first_due", "next_due", "notifications")

from collections.abc import Iterator, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar

from kinwire.mcpe.rules.delivery import cron_times_of
from kinwire.mcpe.rules.features import EventFeatures
from kinwire.support.timestamps import seconds_of
from kinwire_protocols.mcpe.models import DeliveryPreferences
from kinwire_protocols.mcpe.tables import MAX_EVENTS_PER_DELIVERY

E = TypeVar("E")
Schedule = Literal["cron", "scheduled"]
"""The channels that collect events."""


class Notification(NamedTuple, Generic[E]):
    """One notification of a delivery."""

    is_batch: bool
    """Whether it is `events/batch`; else it is `events/event`, with one event."""
    events: Sequence[E]
    """The events, oldest first; at least one."""


def first_due(
    delivery: DeliveryPreferences, channel: Schedule, features: EventFeatures, *, now: float
) -> float | None:
    """Return when a subscription that begins now is due first by a channel that it has.

    In seconds since 1970. None if the channel delivers nothing. A time of `scheduled` that is over
    is returned as it is, and so due immediately.

    Raises:
        ValueError: `delivery_problems` finds a problem in the schedule.
    """
    if channel not in delivery.channels:
        return None
    if channel == "cron":
        schedule = delivery.cron_schedule
        return None if schedule is None else cron_times_of(schedule, features).next_after(now)
    once = delivery.scheduled_delivery
    return None if once is None else seconds_of(once.deliver_at)


def next_due(
    delivery: DeliveryPreferences,
    channel: Schedule,
    features: EventFeatures,
    *,
    due: float,
    now: float,
) -> float | None:
    """Return when a channel is due again after it was delivered for the time `due`; None if never.

    It is later than both times: what was missed is not made up one by one, and a clock that has
    gone back repeats nothing.

    Raises:
        ValueError: `delivery_problems` finds a problem in the schedule.
    """
    if channel == "scheduled":
        return None
    return first_due(delivery, channel, features, now=max(due, now))


def notifications(
    events: Sequence[E], delivery: DeliveryPreferences, channel: Schedule, features: EventFeatures
) -> Iterator[Notification[E]]:
    """Yield the notifications that carry the events of one delivery, in their order.

    Without events there are no notifications. More events than `maxEventsPerDelivery` come in
    several batches. Each event comes by itself if `aggregateEvents` is false, or if the server has
    no batches.

    Source: MCPE 2025-01-01 sections 7 and 8.
    """
    cron, once = delivery.cron_schedule, delivery.scheduled_delivery
    most, together = MAX_EVENTS_PER_DELIVERY, True
    if channel == "cron" and cron is not None:
        most, together = cron.max_events_per_delivery, cron.aggregate_events
    elif channel == "scheduled" and once is not None:
        together = once.aggregate_events
    if not (together and features.batching):
        yield from (Notification(False, [event]) for event in events)
        return
    for begin in range(0, len(events), most):
        yield Notification(True, events[begin : begin + most])


def delivery_id(subscription_id: str, channel: Schedule, due: float, part: int) -> str:
    """Return the name of a notification of one delivery: the same wherever and whenever it is sent.

    `part` counts the notifications of the delivery from 0.
    """
    return f"{subscription_id}/{channel}/{due:.3f}/{part}"
