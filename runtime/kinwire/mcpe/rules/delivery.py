"""How events are delivered, and which preferences a server takes (MCPE 3.2, 5.3, 8)."""

from __future__ import annotations

__all__ = ("cron_times_of", "delivery_problems", "with_defaults", "zone_of")

from collections.abc import Iterator
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from kinwire.mcpe.rules.features import CHANNELS, EventFeatures
from kinwire.support.timestamps import is_date_time
from kinwire_protocols.base import Message
from kinwire_protocols.mcpe.models import CronSchedule, DeliveryPreferences, ScheduledDelivery
from kinwire_protocols.mcpe.tables import DELIVERY_MODES
from kinwire_protocols.problems import Problem, shown

if TYPE_CHECKING:
    from kinwire.mcpe.rules.cron import CronTimes

_NO_PLACES = ("posix/", "right/", "Factory", "localtime", "posixrules")
"""Files of the database that are not IANA names: `right/` counts leap seconds."""


def delivery_problems(
    delivery: DeliveryPreferences, features: EventFeatures, *, at: str = "/delivery"
) -> Iterator[Problem]:
    """Yield why a server with these features does not take `delivery`.

    `at` is a JSON pointer to it, with which the pointers of the problems begin.

    Source: MCPE 2025-01-01 sections 3.2, 5.3 and 8.
    """
    if len(delivery.channels) > len(CHANNELS):
        expected = f"at most {len(CHANNELS)} channels"
        yield Problem(f"{at}/channels", expected, str(len(delivery.channels)))
        return
    yield from _channel_problems(delivery, features, f"{at}/channels")
    if delivery.cron_schedule is not None:
        yield from _cron_problems(delivery.cron_schedule, features, f"{at}/cronSchedule")
    if delivery.scheduled_delivery is not None:
        yield from _once_problems(delivery.scheduled_delivery, features, f"{at}/scheduledDelivery")
    for index, channel in enumerate(delivery.channels):
        needed = DELIVERY_MODES[channel].schedule if channel in DELIVERY_MODES else None
        if needed is not None and _schedule_of(delivery, channel) is None:
            yield Problem(f"{at}/{needed}", f"a value for the channel {channel}", "nothing")
        if channel in delivery.channels[:index]:
            yield Problem(f"{at}/channels/{index}", "each channel once", shown(channel))


def with_defaults(delivery: DeliveryPreferences) -> DeliveryPreferences:
    """Return `delivery` with the values that a client has left out, so that it can read them."""
    cron, once = delivery.cron_schedule, delivery.scheduled_delivery
    found: dict[str, Message] = {}
    if cron is not None:
        found["cron_schedule"] = _with_defaults(cron)
    if once is not None:
        found["scheduled_delivery"] = _with_defaults(once)
    return delivery.model_copy(update=found) if found else delivery


def _with_defaults(schedule: Message) -> Message:
    names = type(schedule).model_fields
    return schedule.model_copy(update={name: getattr(schedule, name) for name in names})


def cron_times_of(schedule: CronSchedule, features: EventFeatures) -> CronTimes:
    """Return when a schedule is due; one with an unknown zone is read as UTC.

    Raises:
        ValueError: the expression is wrong, or is never due; the text is what was expected.
    """
    from kinwire.mcpe.rules.cron import CronTimes, cron_expression  # needs kinwire[events]

    expression = cron_expression(schedule.expression, features.cron_presets)
    return CronTimes(expression, zone_of(schedule.timezone) or UTC)


def zone_of(name: str) -> tzinfo | None:
    """Return the time zone with an IANA name; None if it is unknown, or its data is missing."""
    if name.startswith(_NO_PLACES):
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, not the name of a file, or a folder
        return None


def _channel_problems(
    delivery: DeliveryPreferences, features: EventFeatures, at: str
) -> Iterator[Problem]:
    if not delivery.channels:
        yield Problem(at, "at least one channel", "[]")
    if len(delivery.channels) > 1 and not features.multi_channel:
        yield Problem(at, "one channel", str(len(delivery.channels)))
    for index, channel in enumerate(delivery.channels):
        if channel not in features.channels:
            expected = f"one of {', '.join(features.channels)}"
            yield Problem(f"{at}/{index}", expected, shown(channel))


def _cron_problems(schedule: CronSchedule, features: EventFeatures, at: str) -> Iterator[Problem]:
    yield from _zone_problems(schedule.timezone, features, f"{at}/timezone")
    try:
        cron_times_of(schedule, features)
    except ValueError as error:
        yield Problem(f"{at}/expression", str(error), shown(schedule.expression))


def _once_problems(
    delivery: ScheduledDelivery, features: EventFeatures, at: str
) -> Iterator[Problem]:
    yield from _zone_problems(delivery.timezone, features, f"{at}/timezone")
    if not is_date_time(delivery.deliver_at):
        expected = "a date-time with a zone, as 2026-02-27T12:00:00Z"
        yield Problem(f"{at}/deliverAt", expected, shown(delivery.deliver_at))


def _zone_problems(name: str, features: EventFeatures, at: str) -> Iterator[Problem]:
    if features.timezones is not None and name not in features.timezones:
        yield Problem(at, f"one of {', '.join(features.timezones)}", shown(name))
        return
    if zone_of(name) is None:
        yield Problem(at, "the IANA name of a time zone, as Europe/London", shown(name))


def _schedule_of(delivery: DeliveryPreferences, channel: str) -> object:
    return delivery.cron_schedule if channel == "cron" else delivery.scheduled_delivery
