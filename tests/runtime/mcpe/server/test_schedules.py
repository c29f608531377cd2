"""Deliveries by schedule before raw clients: batches, times, pauses, clocks that jump, restarts."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest

from kinwire.mcpe import EventClient, EventFeatures, EventTerms, McpeServer, new_event
from kinwire.storage import open_store
from kinwire_protocols.mcpe.models import MCPEvent
from tests.runtime.mcpe.fixtures_server import START, StoppedClock
from tests.runtime.mcpe.raw_client import Json, RawClient, said, subscription
from tests.runtime.mcpe.server.test_away import TOKEN, Bench, bench

pytestmark = pytest.mark.anyio

MINUTE = 60


def every_minute(**more: Any) -> Json:
    """Return preferences for a batch each minute."""
    schedule = {"expression": "* * * * *", "timezone": "UTC", **more}
    return {"channels": ["cron"], "cronSchedule": schedule}


def once(at: str, *others: str, **more: Any) -> Json:
    """Return preferences for one delivery, and for other channels."""
    one = {"deliverAt": at, "timezone": "UTC", **more}
    return {"channels": ["scheduled", *others], "scheduledDelivery": one}


def batches(raw: RawClient) -> list[list[str]]:
    """Return the types of the events in each batch that came."""
    return [[one["type"] for one in params["events"]] for params in raw.of("events/batch")]


async def publish(there: Bench, *types: str) -> None:
    for type in types:
        await there.events.publish(new_event(type))


@pytest.mark.spec("mcpe-12.1-6", "mcpe-8-1")
async def test_events_of_a_period_come_in_one_batch_and_none_if_there_were_none() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        raw = await there.come(RawClient())
        made = await raw.subscribe("a.*", delivery=every_minute())
        assert made["delivery"]["cronSchedule"] == {
            "expression": "* * * * *",
            "timezone": "UTC",
            "aggregateEvents": True,
            "maxEventsPerDelivery": 100,
        }
        await publish(there, "a.1", "b.1", "a.2")
        await clock.to(START + MINUTE - 1, raw)
        assert batches(raw) == []
        await clock.to(START + MINUTE, raw)
        assert batches(raw) == [["a.1", "a.2"]]
        await clock.to(START + 2 * MINUTE, raw)
        await publish(there, "a.3")
        await clock.to(START + 3 * MINUTE, raw)
    assert batches(raw) == [["a.1", "a.2"], ["a.3"]]
    assert raw.events() == []
    ids = [one["_meta"]["mcpe/deliveryId"] for one in raw.of("events/batch")]
    assert len(set(ids)) == 2
    assert {one["subscriptionId"] for one in raw.of("events/batch")} == {made["id"]}


async def test_b117_a_batch_has_a_limit_and_a_pause_leaves_nothing_behind() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        raw = await there.come(RawClient())
        id = (await raw.subscribe("a.*", delivery=every_minute()))["id"]
        await publish(there, "a.before")
        await raw.call("events_pause", subscriptionId=id)
        for minute in range(1, 11):
            await publish(there, "a.x", "a.y", "a.z")
            await clock.to(START + minute * MINUTE, raw)
        await raw.call("events_resume", subscriptionId=id)
        await clock.to(START + 10 * MINUTE + 30, raw)
        assert batches(raw) == []
        await publish(there, *(f"a.{number}" for number in range(250)))
        await clock.to(START + 11 * MINUTE, raw)
    assert [len(one) for one in batches(raw)] == [100, 100, 50]
    assert list(chain(*batches(raw))) == [f"a.{number}" for number in range(250)]


async def test_each_event_comes_by_itself_where_they_are_not_aggregated() -> None:
    for features, aggregate in ((EventFeatures(), False), (EventFeatures(batching=False), True)):
        clock = StoppedClock()
        async with bench(McpeServer(clock=clock, features=features), clock) as there:
            raw = await there.come(RawClient())
            await raw.subscribe("a.*", delivery=every_minute(aggregateEvents=aggregate))
            await publish(there, "a.1", "a.2")
            await raw.settle()
            assert raw.events() == []
            await clock.to(START + MINUTE, raw)
        assert (raw.events(), batches(raw)) == (["a.1", "a.2"], [])


async def test_several_channels_deliver_side_by_side() -> None:
    clock = StoppedClock()
    delivery = once("2026-01-01T00:00:30Z", "realtime", "cron", autoExpire=False) | {
        "cronSchedule": every_minute()["cronSchedule"]
    }
    async with bench(McpeServer(clock=clock), clock) as there:
        raw = await there.come(RawClient())
        await raw.subscribe("a.*", delivery=delivery)
        await publish(there, "a.1")
        await raw.settle()
        assert raw.events() == ["a.1"]
        await clock.to(START + 30, raw)
        await publish(there, "a.2")
        await clock.to(START + MINUTE, raw)
    assert (raw.events(), batches(raw)) == (["a.1", "a.2"], [["a.1"], ["a.1", "a.2"]])


async def test_a_scheduled_delivery_is_made_once_and_the_subscription_expires_with_it() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        raw = await there.come(RawClient())
        first = await raw.subscribe("a.*", delivery=once("2026-01-01T01:00:00+01:00"))
        other = await raw.subscribe("a.*", delivery=once("2026-01-01T00:01:00Z"))
        kept = await raw.subscribe("a.*", delivery=once("2026-01-01T00:01:00Z", autoExpire=False))
        await raw.settle()
        assert (batches(raw), raw.of("events/subscription_expired")) == ([], [])
        await publish(there, "a.1")
        await raw.settle()
        assert batches(raw) == [["a.1"]]  # its time was over, so the first event is delivered
        await clock.to(START + MINUTE, raw)
        await publish(there, "a.2")
        await clock.to(START + 2 * MINUTE, raw)
        statuses = {
            one["id"]: one["status"] for one in said(await raw.call("events_list"))["subscriptions"]
        }
    assert batches(raw) == [["a.1"]] * 3
    assert [one["subscriptionId"] for one in raw.of("events/subscription_expired")] == [
        first["id"],
        other["id"],
    ]
    assert statuses == {first["id"]: "expired", other["id"]: "expired", kept["id"]: "active"}


async def test_a_clock_that_jumps_makes_one_delivery_of_all_that_were_due() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        raw = await there.come(RawClient())
        await raw.subscribe("a.*", delivery=every_minute())
        await publish(there, "a.1", "a.2")
        await clock.to(START + 2 * 3600 + 1, raw)
        assert batches(raw) == [["a.1", "a.2"]]
        await publish(there, "a.3")
        await clock.to(START + 2 * 3600 + 59, raw)
        assert len(batches(raw)) == 1
        await clock.to(START + 2 * 3600 + 60, raw)
    assert batches(raw) == [["a.1", "a.2"], ["a.3"]]


async def test_what_is_due_while_the_client_is_away_comes_in_one_delivery_when_it_is_back() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        first = await there.come(RawClient())
        result = await first.call(
            "events_subscribe", **subscription("a.*", delivery=every_minute())
        )
        await there.leave(first)
        for minute in (1, 2, 3):
            await publish(there, f"a.{minute}")
            await clock.to(START + minute * MINUTE, first)
        second = await there.come(RawClient(), result["_meta"][TOKEN])
        await second.call("events_list")
        await second.settle()
        assert batches(second) == [["a.1", "a.2", "a.3"]]
        await publish(there, "a.4")
        await clock.to(START + 4 * MINUTE, second)
    assert batches(second)[1:] == [["a.4"]]


async def test_a_server_that_starts_again_delivers_what_waited_once() -> None:
    clock = StoppedClock()
    async with open_store("memory:") as store:
        kept = await store.records("mcpe"), await store.log("mcpe")

        def made() -> McpeServer:
            return McpeServer(records=kept[0], log=kept[1], clock=clock)

        async with bench(made(), clock) as there:
            first = await there.come(RawClient())
            arguments = subscription("a.*", delivery=every_minute())
            result = await first.call("events_subscribe", **arguments)
            await publish(there, "a.1")
            await clock.to(START + MINUTE, first)
            await publish(there, "a.2", "b.1", "a.3")
        clock.now = START + 10 * MINUTE
        async with bench(made(), clock) as there:
            await publish(there, "a.4")
            second = await there.come(RawClient(), result["_meta"][TOKEN])
            await second.call("events_list")
            await clock.to(START + 10 * MINUTE, second)
            assert batches(second) == [["a.2", "a.3", "a.4"]]
        async with bench(made(), clock) as there:
            third = await there.come(RawClient(), result["_meta"][TOKEN])
            await third.call("events_list")
            await clock.to(START + 20 * MINUTE, third)
    assert (batches(first), batches(third)) == ([["a.1"]], [])


async def test_a_delivery_that_was_cut_short_is_repeated_as_it_was_under_its_id() -> None:
    clock = StoppedClock()
    async with open_store("memory:") as store:
        kept = await store.records("mcpe"), await store.log("mcpe")

        def made() -> McpeServer:
            return McpeServer(records=kept[0], log=kept[1], clock=clock)

        async with bench(made(), clock) as there:
            first = await there.come(RawClient())
            delivery = every_minute(maxEventsPerDelivery=2)
            result = await first.call("events_subscribe", **subscription("a.*", delivery=delivery))
            await publish(there, "a.1", "a.2", "a.3")
            ((key, value),) = [(one.key, one.value) async for one in kept[0].scan("mcpe/sub")]
            await clock.to(START + MINUTE, first)
        value["collectors"][0]["claim"] = [START + MINUTE, 3]  # as before the delivery was made
        await kept[0].put(key, value)
        async with bench(made(), clock) as there:
            await publish(there, "a.4")
            second = await there.come(RawClient(), result["_meta"][TOKEN])
            await second.call("events_list")
            await clock.to(START + 2 * MINUTE, second)
    assert batches(first) == [["a.1", "a.2"], ["a.3"]]
    assert batches(second) == [*batches(first), ["a.4"]]
    ids = [
        [one["_meta"]["mcpe/deliveryId"] for one in raw.of("events/batch")]
        for raw in (first, second)
    ]
    assert ids[1][:2] == ids[0]
    assert len({*ids[1]}) == 3


async def test_hooks_hold_for_what_waits() -> None:
    def shown(client: EventClient, event: MCPEvent) -> MCPEvent | None:
        if event.type == "a.hidden":
            return None
        return event.model_copy(update={"data": {}})

    clock = StoppedClock()
    events = McpeServer(clock=clock, terms=EventTerms(filter_data=shown))
    async with bench(events, clock) as there:
        raw = await there.come(RawClient())
        await raw.subscribe("a.*", delivery=every_minute())
        for type in ("a.1", "a.hidden"):
            await events.publish(new_event(type, {"secret": 1}))
        await clock.to(START + MINUTE, raw)
    (batch,) = raw.of("events/batch")
    assert [(one["type"], one["data"]) for one in batch["events"]] == [("a.1", {})]


async def test_a_batch_fits_into_a_frame() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        raw = await there.come(RawClient())
        await raw.subscribe("a.*", delivery=every_minute())
        for size in (1_000_000, 900_000, 500_000, 10):
            await there.events.publish(new_event("a.b", {"text": "x" * size}))
        await clock.to(START + MINUTE, raw)
    sizes = [
        [len(one["data"]["text"]) for one in each["events"]] for each in raw.of("events/batch")
    ]
    assert sizes == [[1_000_000, 900_000], [500_000, 10]]
