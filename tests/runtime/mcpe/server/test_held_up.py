"""What goes wrong during a delivery: slow readers, stores and hooks that fail, and races."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from kinwire.mcpe import EventClient, EventRates, EventTerms, McpeServer, new_event
from kinwire.storage import open_store
from kinwire.storage.errors import StorageUnavailableError
from kinwire_protocols.mcpe.models import MCPEvent
from tests.runtime.mcpe.fixtures_server import START, StoppedClock, serving
from tests.runtime.mcpe.raw_client import Json, RawClient, said
from tests.runtime.mcpe.server.test_away import TOKEN, bench, listed
from tests.runtime.mcpe.server.test_schedules import batches, every_minute, once

pytestmark = pytest.mark.anyio

MINUTE = 60


class Records:
    """Records of a store whose next writes wait or fail."""

    def __init__(self, records: Any) -> None:
        self._records = records
        self.fails: list[bool] = []
        """For each of the next writes, whether it fails."""
        self.gate: anyio.Event | None = None
        """What the next write waits for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)

    async def put(self, *args: Any, **named: Any) -> Any:
        gate, self.gate = self.gate, None
        if gate is not None:
            await gate.wait()
        if self.fails and self.fails.pop(0):
            raise StorageUnavailableError("put", expected="a write", got="none", hint="")
        return await self._records.put(*args, **named)


def seen_by(raw: RawClient) -> list[Json]:
    """Return the data of all events that came, by whatever notification."""
    found = [one["event"] for one in raw.of("events/event")]
    for batch in raw.of("events/batch"):
        found += batch["events"]
    return [one["data"] for one in found]


async def client_ids(clients: tuple[RawClient, ...], delivery: Json) -> list[str]:
    """Have clients subscribe to all events, and return the id of each one."""
    return [(await raw.subscribe("*", delivery=delivery))["clientId"] for raw in clients]


@pytest.mark.parametrize("delivery", [{"channels": ["realtime"]}, every_minute()])
async def test_a_hook_may_change_the_event_that_it_gets_and_no_other_client_sees_that(
    delivery: Json,
) -> None:
    def filter_data(client: EventClient, event: MCPEvent) -> MCPEvent:
        if client.id == ids[0]:
            event.data["author"].pop("email")
            event.data.pop("secret")
        return event

    ids: list[str] = []
    clock = StoppedClock()
    events = clock.events = McpeServer(clock=clock, terms=EventTerms(filter_data=filter_data))
    first, second = RawClient(), RawClient()
    event = new_event("a.b", {"author": {"email": "x@example.com"}, "secret": 1})
    async with serving(events, first, second):
        ids += await client_ids((first, second), delivery)
        await events.publish(event)
        await clock.to(START + MINUTE, first)
    whole = {"author": {"email": "x@example.com"}, "secret": 1}
    assert (seen_by(first), seen_by(second), event.data) == ([{"author": {}}], [whole], whole)


@pytest.mark.parametrize("delivery", [{"channels": ["realtime"]}, every_minute()])
async def test_a_hook_that_returns_what_is_no_event_shows_nothing_and_holds_nobody(
    delivery: Json, caplog: pytest.LogCaptureFixture
) -> None:
    def unsendable(event: MCPEvent) -> MCPEvent:
        return event.model_copy(update={"data": {"a": object()}})

    answers: list[Callable[[MCPEvent], Any]] = [lambda event: {"id": event.id}, unsendable]
    made: list[Callable[[MCPEvent], Any]] = []

    def filter_data(client: EventClient, event: MCPEvent) -> Any:
        return made[0](event) if made and client.id == ids[0] else event

    ids: list[str] = []
    clock = StoppedClock()
    events = clock.events = McpeServer(clock=clock, terms=EventTerms(filter_data=filter_data))
    first, second = RawClient(), RawClient()
    async with serving(events, first, second):
        ids += await client_ids((first, second), delivery)
        for turn, answer in enumerate([*answers, lambda event: event], 1):
            made[:] = [answer]
            await events.publish(new_event("a.b", {"turn": turn}))
            await clock.to(START + turn * MINUTE, first)
    assert (seen_by(first), len(seen_by(second))) == ([{"turn": 3}], 3)
    assert caplog.text.count("a hook failed") == 2


async def test_a_pause_drops_what_waits_for_a_client_that_reads_slowly() -> None:
    events, raw = McpeServer(rates=EventRates(deliveries=None)), RawClient()
    async with serving(events, raw):
        id = (await raw.subscribe("*"))["id"]
        raw.reads = False
        for _ in range(500):
            await events.publish(new_event("a.b", {"a": "z" * 5000}))
        pause = {"name": "events_pause", "arguments": {"subscriptionId": id}}
        raw.say(id="pause", method="tools/call", params=pause)
        await raw.settle()
        raw.reads = True
        raw.wake()
        await raw.settle()
        await raw.call("events_resume", subscriptionId=id)
        await events.publish(new_event("a.last"))
        await raw.settle()
    order = [one.get("id") or one["params"]["event"]["type"] for one in raw.heard[1:]]
    assert order.count("a.b") < 500
    assert order[order.index("pause") :] == ["pause", "call-2", "a.last"]


async def test_what_waits_for_a_slow_reader_has_a_size() -> None:
    events, raw = McpeServer(), RawClient()
    async with serving(events, raw):
        await raw.subscribe("*")
        raw.reads = False
        for number in range(40):
            await events.publish(new_event(f"a.{number}", {"a": "z" * 1_000_000}))
        raw.reads = True
        raw.wake()
        for _ in range(4):
            await raw.settle()
    assert 16 <= len(raw.events()) < 24
    assert raw.events()[-16:] == [f"a.{number}" for number in range(24, 40)]
    dropped = [one["_meta"]["mcpe/dropped"] for one in raw.of("events/event") if "_meta" in one]
    assert dropped == [40 - len(raw.events())]


async def test_a_schedule_goes_on_after_its_store_has_failed_at_any_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = "kinwire.mcpe.server.deliveries.sleep"
    monkeypatch.setattr(again, lambda seconds: anyio.lowlevel.checkpoint())
    for fails in ([True], [False, True]):
        async with open_store("memory:") as store:
            clock = StoppedClock()
            records: Any = Records(await store.records("mcpe"))
            kept = McpeServer(clock=clock, records=records, log=await store.log("mcpe"))
            async with bench(kept, clock) as there:
                raw = await there.come(RawClient())
                await raw.subscribe("*", delivery=every_minute())
                await there.events.publish(new_event("a.1"))
                records.fails = fails
                await clock.to(START + MINUTE, raw)
                await there.events.publish(new_event("a.2"))
                await clock.to(START + 2 * MINUTE, raw)
            assert batches(raw) == [["a.1"], ["a.2"]]
            assert len({one["_meta"]["mcpe/deliveryId"] for one in raw.of("events/batch")}) == 2


async def test_a_schedule_that_is_changed_while_a_delivery_is_under_way_holds() -> None:
    async with open_store("memory:") as store:
        clock = StoppedClock()
        records: Any = Records(await store.records("mcpe"))
        kept = McpeServer(clock=clock, records=records, log=await store.log("mcpe"))
        async with bench(kept, clock) as there:
            raw = await there.come(RawClient())
            id = (await raw.subscribe("*", delivery=once("2026-01-01T00:01:00Z")))["id"]
            await there.events.publish(new_event("a.1"))
            gate = records.gate = anyio.Event()
            await clock.to(START + MINUTE, raw)
            updates = {"delivery": once("2026-01-01T00:10:00Z")}
            params = {
                "name": "events_update",
                "arguments": {"subscriptionId": id, "updates": updates},
            }
            raw.say(id=7, method="tools/call", params=params)
            await raw.settle()
            gate.set()
            await raw.settle()
            await there.events.publish(new_event("a.2"))
            await clock.to(START + 9 * MINUTE, raw)
            assert (batches(raw), await listed(raw)) == ([["a.1"]], [id])
            await clock.to(START + 10 * MINUTE, raw)
    assert batches(raw) == [["a.1"], ["a.2"]]
    assert len(raw.of("events/subscription_expired")) == 1


async def test_a_notice_of_expiry_that_was_cut_short_comes_in_the_next_session() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        raw = await there.come(RawClient())
        result = await raw.call(
            "events_subscribe",
            filter={},
            delivery={"channels": ["realtime"]},
            expiresAt="2026-01-01T00:01:00Z",
        )
        raw.reads = False
        for _ in range(200):
            await there.events.publish(new_event("a.b", {"a": "z" * 20_000}))
        await clock.to(START + MINUTE, raw)
        raw.hang_up()
        await raw.settle()
        again = await there.come(RawClient(), result["_meta"][TOKEN])
        for _ in range(2):
            await listed(again)
        await again.settle()
    assert [len(one.of("events/subscription_expired")) for one in (raw, again)] == [0, 1]


async def test_what_has_expired_is_so_also_before_a_timer_has_noticed() -> None:
    for act in ("list", "update", "resume", "publish"):
        clock, raw = StoppedClock(), RawClient()
        events = McpeServer(clock=clock)
        async with serving(events, raw):
            id = (await raw.subscribe("*", expiresAt="2026-01-01T00:01:00Z"))["id"]
            clock.now = START + MINUTE
            if act == "update":
                await raw.refused("events_update", subscriptionId=id, updates={"expiresAt": None})
            elif act == "resume":
                await raw.refused("events_resume", subscriptionId=id)
            elif act == "publish":
                assert (await events.publish(new_event("a.b"))).subscriptions == 0
            await raw.settle()
            found = said(await raw.call("events_list"))["subscriptions"]
            await raw.settle()
        assert [one["status"] for one in found] == ["expired"], act
        assert (raw.events(), len(raw.of("events/subscription_expired"))) == ([], 1), act


async def test_a_subscription_has_a_size_and_few_channels() -> None:
    events, raw = McpeServer(), RawClient()
    long = once("2026-01-02T00:00:00Z", description="z" * 70_000)
    many = {"channels": [str(number) for number in range(1000)]}
    async with serving(events, raw):
        id = (await raw.subscribe("*"))["id"]
        tries = [
            await raw.refused("events_subscribe", filter={}, delivery=long),
            await raw.refused("events_update", subscriptionId=id, updates={"delivery": long}),
            await raw.refused("events_subscribe", filter={}, delivery=many),
        ]
        assert len(said(await raw.call("events_list"))["subscriptions"]) == 1
    assert [(code, [one["pointer"] for one in data["problems"]]) for code, data in tries] == [
        (-32602, [""]),
        (-32602, [""]),
        (-32602, ["/delivery/channels"]),
    ]
    assert max(len(json.dumps(data)) for _, data in tries) < 1000
