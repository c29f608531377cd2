"""What a subscription was made with and does not use, for models (MCPE 5)."""

from __future__ import annotations

__all__ = ("unused_hints",)

from collections.abc import Iterator
from itertools import islice

from kinwire_protocols.base import Message
from kinwire_protocols.mcpe.models import DeliveryPreferences
from kinwire_protocols.mcpe.tables import DELIVERY_MODES
from kinwire_protocols.nearest import nearest

_MOST = 5  # sentences: a peer chooses how many there could be


def unused_hints(params: Message) -> list[str]:
    """Return a sentence for each field of the arguments of a tool that has no effect.

    It is one that is not known, as `eventType` of a filter, or the schedule of a channel that the
    subscription does not have.
    """
    return list(islice(_hints(params, ""), _MOST))


def _hints(message: Message, at: str) -> Iterator[str]:
    fields = type(message).model_fields
    known = [field.alias or name for name, field in fields.items()]
    for name in message.model_extra or {}:
        near = nearest(name, known)
        hint = f" Did you mean {near}?" if near else ""
        yield f"{at}/{name:.60} has no effect: there is no such field.{hint}"
    if isinstance(message, DeliveryPreferences):
        yield from _schedule_hints(message, at)
    for name, alias in zip(fields, known, strict=True):
        value: object = getattr(message, name)
        if isinstance(value, Message):
            yield from _hints(value, f"{at}/{alias}")


def _schedule_hints(delivery: DeliveryPreferences, at: str) -> Iterator[str]:
    given = {
        "cronSchedule": delivery.cron_schedule,
        "scheduledDelivery": delivery.scheduled_delivery,
    }
    for channel, mode in DELIVERY_MODES.items():
        if channel not in delivery.channels and given.get(mode.schedule or "") is not None:
            yield f"{at}/{mode.schedule} has no effect: {channel} is not one of the channels."
