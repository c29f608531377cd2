"""Clients that leave and come back, and servers that start again: what becomes of subscriptions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup

from kinwire import Limits, Server
from kinwire.mcpe import EventTerms, McpeServer, new_event
from kinwire.storage import Records, open_store
from kinwire.support.background import background
from tests.runtime.mcpe.fixtures_server import START, StoppedClock
from tests.runtime.mcpe.raw_client import Json, RawClient, said, subscription

pytestmark = pytest.mark.anyio

TOKEN = "mcpe/recoveryToken"
BOSS = "principal:boss"


class Bench:
    """A server that clients come to and leave."""

    def __init__(self, events: McpeServer, tasks: TaskGroup) -> None:
        self.events = events
        self._server = Server("s", "1", extensions=[events])
        self._tasks = tasks

    async def come(self, raw: RawClient, token: str | None = None) -> RawClient:
        """Connect a client, which sends a token in all of its calls."""
        raw.meta = {} if token is None else {TOKEN: token}
        self._tasks.start_soon(self._server.serve, raw)
        await raw.greet()
        return raw

    async def leave(self, raw: RawClient) -> None:
        """End the connection of a client."""
        raw.hang_up()
        await raw.settle()


@asynccontextmanager
async def bench(events: McpeServer, clock: StoppedClock | None = None) -> AsyncGenerator[Bench]:
    if clock is not None:
        clock.events = events
    async with background() as tasks:
        yield Bench(events, tasks)
        tasks.cancel_scope.cancel()


async def made_with_token(raw: RawClient, *types: str) -> tuple[Json, str]:
    """Subscribe, and return the subscription and the token of the client."""
    result = await raw.call("events_subscribe", **subscription(*types))
    token: str = result["_meta"][TOKEN]
    assert token not in str(result["content"]) + str(result["structuredContent"])
    return said(result), token


async def listed(raw: RawClient) -> list[str]:
    """Return the ids of the subscriptions of a client."""
    return [one["id"] for one in said(await raw.call("events_list"))["subscriptions"]]


@pytest.mark.spec("mcpe-8.1-2")
async def test_who_has_the_token_finds_its_subscriptions_again() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        first = await there.come(RawClient())
        made, token = await made_with_token(first, "a.*")
        assert len(token) >= 32
        await there.events.publish(new_event("a.before"))
        await there.leave(first)
        await there.events.publish(new_event("a.away"))
        stranger, guesser = await there.come(RawClient()), await there.come(RawClient(), "guess")
        second = await there.come(RawClient(), token)
        assert [await listed(one) for one in (stranger, guesser, second)] == [[], [], [made["id"]]]
        await there.events.publish(new_event("a.after"))
        await second.settle()
        own = said(await second.call("events_subscribe", **subscription("b.*")))
        assert own["clientId"] == made["clientId"]
    assert (first.events(), second.events()) == (["a.before"], ["a.after"])
    assert (stranger.events(), guesser.events()) == ([], [])


@pytest.mark.spec("mcpe-11.1-1", "mcpe-11.1-2")
async def test_a_principal_needs_no_token_and_is_not_impersonated_by_one() -> None:
    async with bench(McpeServer()) as there:
        plain = await there.come(RawClient())
        _, token = await made_with_token(plain, "a.*")
        boss = await there.come(RawClient(BOSS))
        result = await boss.call("events_subscribe", **subscription("a.*"))
        assert "_meta" not in result
        await there.leave(boss)
        again = await there.come(RawClient(BOSS))
        await again.settle()
        await there.events.publish(new_event("a.b"))
        await again.settle()
        other = await there.come(RawClient("principal:other"), token)
        assert await listed(other) == []
        assert await listed(again) == [said(result)["id"]]
    assert again.events() == ["a.b"]
    assert other.events() == []


@pytest.mark.spec("mcpe-12.2-3")
async def test_subscriptions_are_dropped_after_the_time_of_grace() -> None:
    clock = StoppedClock()
    events = McpeServer(clock=clock, terms=EventTerms(grace=300))
    async with bench(events, clock) as there:
        first = await there.come(RawClient())
        made, token = await made_with_token(first, "a.*")
        await there.leave(first)
        await clock.to(START + 299, first)
        second = await there.come(RawClient(), token)
        assert await listed(second) == [made["id"]]
        await there.leave(second)
        await clock.to(START + 598, second)
        third = await there.come(RawClient(), token)
        assert await listed(third) == [made["id"]]
        await there.leave(third)
        await clock.to(START + 899, third)
        late = await there.come(RawClient(), token)
        assert await listed(late) == []
        assert (await events.publish(new_event("a.b"))).subscriptions == 0


async def test_a_second_session_of_a_client_takes_over_when_the_first_one_ends() -> None:
    async with bench(McpeServer()) as there:
        first, second = await there.come(RawClient(BOSS)), await there.come(RawClient(BOSS))
        await first.subscribe("a.*")
        await listed(second)
        await there.events.publish(new_event("a.1"))
        await first.settle()
        await there.leave(first)
        await there.events.publish(new_event("a.2"))
        await second.settle()
    assert (first.events(), second.events()) == (["a.1"], ["a.2"])


@pytest.mark.parametrize("engine", ["memory", "sqlite"])
async def test_a_server_that_starts_again_has_the_subscriptions(
    engine: str, tmp_path: Path
) -> None:
    clock = StoppedClock()
    url = "memory:" if engine == "memory" else f"sqlite:///{tmp_path}/events.db"
    async with open_store(url) as store:
        kept = await store.records("mcpe"), await store.log("mcpe")
        async with bench(McpeServer(records=kept[0], log=kept[1], clock=clock), clock) as there:
            first = await there.come(RawClient())
            made, token = await made_with_token(first, "a.*")
            paused, _ = await made_with_token(first, "b.*")
            gone, _ = await made_with_token(first, "c.*")
            await first.call("events_pause", subscriptionId=paused["id"])
            await first.call("events_unsubscribe", subscriptionId=gone["id"])
        async with bench(McpeServer(records=kept[0], log=kept[1], clock=clock), clock) as there:
            found = await there.events.publish(new_event("a.away"))
            second = await there.come(RawClient(), token)
            again = said(await second.call("events_list"))["subscriptions"]
            await there.events.publish(new_event("a.after"))
            await second.settle()
            assert (found.subscriptions, second.events()) == (1, ["a.after"])
            assert [(one["id"], one["status"]) for one in again] == [
                (made["id"], "active"),
                (paused["id"], "paused"),
            ]
            await there.leave(second)
            await clock.to(START + 301, second)
            while [one async for one in kept[0].scan("mcpe/subscriptions/")]:
                await second.settle()
        async with bench(McpeServer(records=kept[0], log=kept[1], clock=clock), clock) as there:
            assert (await there.events.publish(new_event("a.late"))).subscriptions == 0


@pytest.mark.spec("mcpe-5.4-3", "mcpe-12.1-7")
async def test_b103_expiry_comes_on_time_once_also_while_paused_and_is_final() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        raw = await there.come(RawClient())
        soon = {"expiresAt": "2026-01-01T00:00:02Z"}
        id = (await raw.subscribe("a.*", **soon))["id"]
        other = (await raw.subscribe("a.*"))["id"]
        await raw.call("events_pause", subscriptionId=id)
        await clock.to(START + 1, raw)
        assert raw.of("events/subscription_expired") == []
        await clock.to(START + 4, raw)
        resumed = await raw.refused("events_resume", subscriptionId=id)
        updated = await raw.refused(
            "events_update", subscriptionId=id, updates={"expiresAt": None, "status": "active"}
        )
        status = [one["status"] for one in said(await raw.call("events_list"))["subscriptions"]]
        await clock.to(START + 3000, raw)
        await there.events.publish(new_event("a.b"))
        await raw.settle()
        assert raw.of("events/subscription_expired") == [
            {"subscriptionId": id, "expiredAt": "2026-01-01T00:00:04.000Z"}
        ]
        assert (resumed[0], updated[0], status) == (-32602, -32602, ["expired", "active"])
        assert [one["subscriptionId"] for one in raw.of("events/event")] == [other]
        await clock.to(START + 3700, raw)
        assert await listed(raw) == [other]


async def test_who_is_away_learns_of_the_expiry_when_it_comes_back() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        first = await there.come(RawClient())
        arguments = subscription("a.*", expiresAt="2026-01-01T00:00:10Z")
        result = await first.call("events_subscribe", **arguments)
        await there.leave(first)
        await clock.to(START + 10, first)
        second = await there.come(RawClient(), result["_meta"][TOKEN])
        statuses = said(await second.call("events_list"))["subscriptions"]
        await second.call("events_list")
        await second.settle()
    assert [one["status"] for one in statuses] == ["expired"]
    assert len(second.of("events/subscription_expired")) == 1


async def test_grace_does_not_begin_again_when_a_subscription_is_forgotten() -> None:
    clock = StoppedClock()
    events = McpeServer(clock=clock, terms=EventTerms(grace=300, keep_expired=10))
    async with bench(events, clock) as there:
        first = await there.come(RawClient())
        _, token = await made_with_token(first, "a.*")
        await first.subscribe("a.*", expiresAt="2026-01-01T00:04:00Z")
        await there.leave(first)
        for seconds in (240, 260, 300):
            await clock.to(START + seconds, first)
        second = await there.come(RawClient(), token)
        assert await listed(second) == []


async def test_a_change_of_the_expiry_moves_it() -> None:
    clock = StoppedClock()
    async with bench(McpeServer(clock=clock), clock) as there:
        raw = await there.come(RawClient())
        id = (await raw.subscribe("a.*", expiresAt="2026-01-01T00:00:10Z"))["id"]
        later = {"expiresAt": "2026-01-01T00:00:20Z"}
        await raw.call("events_update", subscriptionId=id, updates=later)
        await clock.to(START + 15, raw)
        assert raw.of("events/subscription_expired") == []
        await raw.call("events_update", subscriptionId=id, updates={"expiresAt": None})
        await clock.to(START + 30, raw)
        assert raw.of("events/subscription_expired") == []


class WaitingRecords:
    """Records that write nothing until they are let."""

    def __init__(self, inner: Records) -> None:
        self._inner = inner
        self.let = anyio.Event()
        self.asked = anyio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def put(self, key: str, value: Any, **options: Any) -> int:
        self.asked.set()
        await self.let.wait()
        return await self._inner.put(key, value, **options)


async def test_a_client_that_leaves_while_its_subscription_is_written_is_away() -> None:
    clock, raw = StoppedClock(), RawClient()
    async with open_store("memory:") as store, background() as tasks:
        records: Any = WaitingRecords(await store.records("mcpe"))
        events = clock.events = McpeServer(records=records, clock=clock)
        limits = Limits(drain=0.01, stop=0.01)
        served = anyio.Event()

        async def serve() -> None:
            await Server("s", "1", extensions=[events], limits=limits).serve(raw)
            served.set()

        tasks.start_soon(serve)
        await raw.greet()
        call = {"name": "events_subscribe", "arguments": subscription("a.*")}
        raw.say(id=1, method="tools/call", params=call)
        await records.asked.wait()
        raw.hang_up()
        await anyio.sleep(0.05)  # the session waits for its handlers, and gives up
        records.let.set()
        await served.wait()
        await raw.settle()
        assert (await events.publish(new_event("a.b"))).subscriptions == 1
        await clock.to(START + 301, raw)
        assert (await events.publish(new_event("a.b"))).subscriptions == 0
        tasks.cancel_scope.cancel()
