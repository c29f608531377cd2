"""When subscriptions are due, and how their events are split into notifications."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.mcpe.rules.features import EventFeatures
from kinwire.mcpe.rules.schedules import Schedule, delivery_id, first_due, next_due, notifications
from kinwire.support.timestamps import seconds_of
from kinwire_protocols.mcpe.models import DeliveryPreferences

ALL = EventFeatures()
MIDNIGHT = "2026-05-02T00:00:00Z"
NOON = seconds_of("2026-05-01T12:00:00Z")


def delivery(*channels: str, cron: Any = None, once: Any = None) -> DeliveryPreferences:
    fields = {
        "channels": list(channels),
        "cronSchedule": {"expression": "@hourly", "timezone": "UTC", **(cron or {})},
        "scheduledDelivery": {
            "deliverAt": "2026-05-02T00:00:00Z",
            "timezone": "UTC",
            **(once or {}),
        },
    }
    return DeliveryPreferences.model_validate(fields, by_alias=True, by_name=False)


def sizes(count: int, made: DeliveryPreferences, channel: Schedule, features: Any = ALL) -> Any:
    """Return how many events each notification has, those of `events/event` negative."""
    found = list(notifications(range(count), made, channel, features))
    assert [event for one in found for event in one.events] == list(range(count))
    return [len(one.events) if one.is_batch else -len(one.events) for one in found]


@pytest.mark.spec("mcpe-8.2-4", "mcpe-8.2-5", "mcpe-8.3-5")
def test_events_come_in_batches_and_never_in_an_empty_one() -> None:
    plain = delivery("cron", "scheduled")
    for channel in ("cron", "scheduled"):
        assert sizes(0, plain, channel) == []
        assert sizes(1, plain, channel) == [1]
        assert sizes(250, plain, channel) == [100, 100, 50]
        assert sizes(200, plain, channel) == [100, 100]
    assert sizes(7, delivery("cron", cron={"maxEventsPerDelivery": 3}), "cron") == [3, 3, 1]
    alone = delivery("cron", cron={"aggregateEvents": False}, once={"aggregateEvents": False})
    assert sizes(3, alone, "cron") == sizes(3, alone, "scheduled") == [-1, -1, -1]


@pytest.mark.spec("mcpe-3.2-7")
def test_without_batches_each_event_comes_by_itself() -> None:
    assert sizes(3, delivery("cron"), "cron", EventFeatures(batching=False)) == [-1, -1, -1]


@given(st.integers(0, 500), st.integers(1, 50))
def test_nothing_is_lost_or_repeated_by_splitting(count: int, most: int) -> None:
    found = sizes(count, delivery("cron", cron={"maxEventsPerDelivery": most}), "cron")
    assert all(size == most for size in found[:-1])
    assert sum(found) == count


def test_a_hundred_thousand_and_one_events() -> None:
    assert len(sizes(100_001, delivery("cron"), "cron")) == 1001


@pytest.mark.spec("mcpe-8.2-1", "mcpe-8.3-1", "mcpe-8.3-2")
def test_cron_is_due_again_and_again_and_scheduled_once() -> None:
    both = delivery("cron", "scheduled")
    assert first_due(both, "cron", ALL, now=NOON) == NOON + 3600
    assert next_due(both, "cron", ALL, due=NOON + 3600, now=NOON + 3601) == NOON + 7200
    assert first_due(both, "scheduled", ALL, now=NOON) == NOON + 12 * 3600
    assert next_due(both, "scheduled", ALL, due=NOON, now=NOON) is None
    past = delivery("scheduled", once={"deliverAt": "2020-01-01T00:00:00Z"})
    assert first_due(past, "scheduled", ALL, now=NOON) == seconds_of("2020-01-01T00:00:00Z")


def test_a_channel_that_was_not_asked_for_is_never_due() -> None:
    for channel in ("cron", "scheduled"):
        assert first_due(delivery("realtime"), channel, ALL, now=NOON) is None


def test_what_was_missed_is_made_up_by_one_and_a_clock_that_goes_back_repeats_nothing() -> None:
    hourly = delivery("cron")
    assert next_due(hourly, "cron", ALL, due=NOON, now=NOON + 86_400) == NOON + 86_400 + 3600
    assert next_due(hourly, "cron", ALL, due=NOON, now=NOON - 86_400) == NOON + 3600


def test_the_name_of_a_delivery_is_the_same_everywhere() -> None:
    assert delivery_id("s", "cron", NOON, 2) == "s/cron/1777636800.000/2"
