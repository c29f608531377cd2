"""Events before raw clients: who gets which, once, in order, and what is refused."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import anyio
import anyio.lowlevel
import pytest

from kinwire import Limits, Server
from kinwire.mcpe import (
    EventClient,
    EventDeclaration,
    EventFeatures,
    EventRates,
    EventTerms,
    InvalidEventError,
    McpeServer,
    PublicationLimitError,
    new_event,
)
from kinwire.mcpe.server import fan_out, served
from kinwire.storage import open_store
from kinwire.support.background import background
from kinwire_protocols.mcpe.models import MCPEvent
from tests.runtime.mcpe.fixtures_server import StoppedClock, serving
from tests.runtime.mcpe.raw_client import Json, RawClient, said

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mcpe-8.1-1", "mcpe-12.1-2", "mcpe-12.1-9")
async def test_an_event_reaches_each_subscription_that_selects_it_with_all_that_it_has() -> None:
    events, raw, other = McpeServer(), RawClient(), RawClient()
    event = new_event(
        "github.push",
        {"branch": "main", "nothing": None},
        priority="high",
        tags=["main"],
        source_event_id="push-1",
        timestamp="2025-01-15T10:30:00+01:00",
    )
    async with serving(events, raw, other):
        all_types = await raw.subscribe("*")
        tagged = said(
            await raw.call(
                "events_subscribe",
                filter={"tags": ["dev", "main"], "priority": ["high", "critical"]},
                delivery={"channels": ["realtime"]},
            )
        )
        theirs = await other.subscribe("github.push")
        await other.subscribe("slack.*")
        found = await events.publish(event)
        await raw.settle()
        await events.publish(new_event("gmail.message.received"))
        await raw.settle()
    assert (found.event_id, found.subscriptions, found.duplicate) == (event.id, 3, False)
    sent = {
        "id": event.id,
        "type": "github.push",
        "data": {"branch": "main", "nothing": None},
        "metadata": {
            "sourceEventId": "push-1",
            "timestamp": "2025-01-15T10:30:00+01:00",
            "priority": "high",
            "tags": ["main"],
        },
    }
    first, second, third = raw.of("events/event")
    assert [first["event"], second["event"]] == [sent, sent]
    assert {first["subscriptionId"], second["subscriptionId"]} == {all_types["id"], tagged["id"]}
    assert third["event"]["type"] == "gmail.message.received"
    assert other.of("events/event") == [{"subscriptionId": theirs["id"], "event": sent}]
    notices = [one for one in raw.heard if one.get("method") == "events/event"]
    assert all("id" not in one and one["jsonrpc"] == "2.0" for one in notices)


@pytest.mark.spec("mcpe-5.4-2", "mcpe-6.4-1", "mcpe-12.1-10")
async def test_events_during_a_pause_are_dropped() -> None:
    events, raw = McpeServer(), RawClient()
    async with serving(events, raw):
        id = (await raw.subscribe("a.*"))["id"]
        await events.publish(new_event("a.1"))
        await raw.call("events_pause", subscriptionId=id)
        await events.publish(new_event("a.2"))
        await raw.settle()
        listed = said(await raw.call("events_list"))["subscriptions"]
    assert (raw.events(), [one["status"] for one in listed]) == (["a.1"], ["paused"])


@pytest.mark.spec("mcpe-5.4-1", "mcpe-6.5-1", "mcpe-1.1-3")
async def test_a_model_resumes_what_it_has_paused() -> None:
    events, raw = McpeServer(), RawClient()
    async with serving(events, raw):
        id = (await raw.subscribe("a.*"))["id"]
        await raw.call("events_pause", subscriptionId=id)
        await events.publish(new_event("a.1"))
        await raw.call("events_resume", subscriptionId=id)
        await events.publish(new_event("a.2"))
        await raw.settle()
    assert raw.events() == ["a.2"]


@pytest.mark.spec("mcpe-6.2-1")
async def test_a_subscription_that_was_removed_selects_nothing() -> None:
    events, raw = McpeServer(), RawClient()
    async with serving(events, raw):
        id = (await raw.subscribe("a.*"))["id"]
        await raw.call("events_unsubscribe", subscriptionId=id)
        assert (await events.publish(new_event("a.1"))).subscriptions == 0
        assert said(await raw.call("events_list")) == {"subscriptions": []}


@pytest.mark.spec("mcpe-5.2-6", "mcpe-12.1-8")
async def test_an_empty_filter_selects_all_events_in_real_time() -> None:
    events, raw = McpeServer(), RawClient()
    async with serving(events, raw):
        filters: list[Json] = [{}, {"eventTypes": [], "tags": [], "priority": []}]
        for filter in filters:
            delivery = {"channels": ["realtime"]}
            await raw.call("events_subscribe", filter=filter, delivery=delivery)
        for priority in ("low", "critical"):
            await events.publish(new_event("a.b", priority=priority))
        await raw.settle()
    assert raw.events() == ["a.b"] * 4


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"id": "7"}, "/id"),
        ({"id": "550e8400-e29b-11d4-a716-446655440000"}, "/id"),
        ({"type": "github"}, None),
        ({"type": "git hub.*"}, "/type"),
        ({"type": "github..push"}, "/type"),
        ({"timestamp": "yesterday"}, "/metadata/timestamp"),
        ({"timestamp": "2025-01-15T10:30:00"}, "/metadata/timestamp"),
        ({"priority": "urgent"}, "/metadata/priority"),
        ({"data": {"text": "x" * (1 << 20)}}, ""),
    ],
)
@pytest.mark.spec("mcpe-4-1")
async def test_an_event_that_is_not_valid_is_not_published(
    change: Json, pointer: str | None
) -> None:
    made = new_event("a.b", timestamp="2026-01-01T00:00:00Z").model_dump()
    fields = {**made, **{name: one for name, one in change.items() if name in made}}
    metadata = {**made["metadata"], **{k: v for k, v in change.items() if k in made["metadata"]}}
    event = MCPEvent(**{**fields, "metadata": metadata})
    events, raw = McpeServer(), RawClient()
    async with serving(events, raw):
        await raw.subscribe("*")
        if pointer is None:
            await events.publish(event)
        else:
            with pytest.raises(InvalidEventError) as refused:
                await events.publish(event)
            assert [one.pointer for one in refused.value.problems] == [pointer]
        await raw.settle()
    assert len(raw.events()) == (pointer is None)


async def test_declared_types_and_their_schemas_hold_for_what_is_published() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    events = McpeServer([EventDeclaration("a.b", "It happened.", data_schema=schema)])
    await events.publish(new_event("a.b", {"n": 1}))
    for event, pointer in ((new_event("a.c", {"n": 1}), "/type"), (new_event("a.b"), "/data/n")):
        with pytest.raises(InvalidEventError) as refused:
            await events.publish(event)
        assert [one.pointer for one in refused.value.problems] == [pointer]


async def test_an_event_that_came_from_its_source_before_is_published_once() -> None:
    async with open_store("memory:") as store:
        events, raw = McpeServer(records=await store.records("mcpe")), RawClient()
        async with serving(events, raw):
            await raw.subscribe("*")
            found = []

            async def publish(type: str) -> None:
                event = new_event(type, source_event_id="7")
                found.append((await events.publish(event)).duplicate)

            async with anyio.create_task_group() as tasks:
                for _ in range(50):
                    tasks.start_soon(publish, "github.push")
            await publish("gitlab.push")
            await raw.settle()
        again = McpeServer(records=await store.records("mcpe"))
        assert (await again.publish(new_event("github.x", source_event_id="7"))).duplicate
    assert (found.count(False), raw.events()) == (2, ["github.push", "gitlab.push"])


@pytest.mark.spec("mcpe-11.4-1", "mcpe-11.4-2")
async def test_a_hook_decides_what_each_client_sees_of_an_event() -> None:
    def shown(client: EventClient, event: MCPEvent) -> MCPEvent | None:
        if client.principal is None:
            return event.model_copy(update={"data": {**event.data, "secret": "***"}})
        return None if event.type == "a.hidden" else event

    def allowed(client: EventClient, type: str) -> bool:
        return type != "a.never"

    events = McpeServer(terms=EventTerms(filter_data=shown, authorize=allowed))
    raw, boss = RawClient(), RawClient("principal:boss")
    async with serving(events, raw, boss):
        await raw.subscribe("a.*")
        await boss.subscribe("a.*")
        for type in ("a.plain", "a.hidden", "a.never"):
            await events.publish(new_event(type, {"secret": "s3cret"}))
        await raw.settle()
    assert raw.events() == ["a.plain", "a.hidden"]
    assert "s3cret" not in json.dumps(raw.heard)


async def test_a_client_that_reads_slowly_holds_nobody_and_learns_how_many_it_has_lost() -> None:
    events, slow, quick = McpeServer(rates=EventRates(deliveries=None)), RawClient(), RawClient()
    server = Server("s", "1", extensions=[events], limits=Limits(unsent=4096))
    async with background() as tasks:
        with patch.object(served, "QUEUED", 50):
            for raw in (slow, quick):
                tasks.start_soon(server.serve, raw)
                await raw.greet()
                await raw.subscribe("a.*")
        slow.reads = False
        for number in range(300):
            await events.publish(new_event(f"a.{number}"))
            await anyio.lowlevel.checkpoint()
        await quick.tells("events/event", 300)
        slow.reads = True
        slow.wake()
        await slow.settle()
        tasks.cancel_scope.cancel()
    numbers = [int(one.removeprefix("a.")) for one in slow.events()]
    lost = [one["_meta"]["mcpe/dropped"] for one in slow.of("events/event") if "_meta" in one]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 299
    assert sum(lost) == 300 - len(numbers) > 0


@pytest.mark.spec("mcpe-11.3-1")
async def test_rates_of_publishing_and_of_delivery_hold() -> None:
    clock, raw = StoppedClock(), RawClient()
    events = McpeServer(rates=EventRates(publications=4.0, deliveries=2.0), clock=clock)
    async with serving(events, raw):
        await raw.subscribe("a.*")
        for number in range(4):
            await events.publish(new_event(f"a.{number}"))
        with pytest.raises(PublicationLimitError):
            await events.publish(new_event("a.4"))
        clock.now += 1
        await events.publish(new_event("a.5"))
        await raw.settle()
    assert raw.events() == ["a.0", "a.1", "a.5"]
    assert [one.get("_meta") for one in raw.of("events/event")] == [None, None, {"mcpe/dropped": 2}]


async def test_an_event_for_many_lets_others_have_a_turn_and_is_not_overtaken() -> None:
    events = McpeServer(
        rates=EventRates(subscriptions=None), features=EventFeatures(max_active=500)
    )
    raw = RawClient()
    async with serving(events, raw):
        with patch.object(fan_out, "_MANY", 10):
            for _ in range(50):
                await raw.subscribe("a.*")
            await raw.subscribe("a.last")
            turns = 0

            async def count() -> None:
                nonlocal turns
                for _ in range(100):
                    await anyio.lowlevel.checkpoint()
                    turns += 1

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(count)
                for type in ("a.first", "a.last"):
                    tasks.start_soon(events.publish, new_event(type))
                    await anyio.lowlevel.checkpoint()
                assert turns < 100
            await raw.settle()
    by_subscription: dict[str, list[str]] = {}
    for one in raw.of("events/event"):
        by_subscription.setdefault(one["subscriptionId"], []).append(one["event"]["type"])
    found = list(by_subscription.values())
    assert found.count(["a.first", "a.last"]) == 50
    assert found.count(["a.last"]) == 1


async def test_one_object_serves_one_server() -> None:
    events = McpeServer()
    Server("one", "1", extensions=[events])
    with pytest.raises(ValueError, match="expected one server"):
        Server("two", "1", extensions=[events])


async def test_wrong_arguments_are_named() -> None:
    wrong: Any = {"type": "a.b"}
    with pytest.raises(TypeError, match=r"McpeServer\.publish: event"):
        await McpeServer().publish(wrong)
    for make in (
        lambda: McpeServer([wrong]),
        lambda: McpeServer(clock=wrong),
        lambda: EventTerms(authorize=wrong),
    ):
        with pytest.raises(TypeError):
            make()
    for declared, expected in ((["a.b", "a.b"], "declared twice"), (["*.b"], "expected a type")):
        with pytest.raises(ValueError, match=expected):
            McpeServer([EventDeclaration(one, "x") for one in declared])
