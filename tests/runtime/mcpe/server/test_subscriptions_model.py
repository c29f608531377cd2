"""Subscriptions through pauses, clocks, clients that leave and crashes, against a small model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings, strategies as st

from kinwire import Server
from kinwire.mcpe import EventRates, EventTerms, McpeServer, new_event
from kinwire.mcpe.rules.subscriptions import SubscriptionCounts
from kinwire.storage import open_store
from kinwire.storage.store import Store
from tests.runtime.mcpe.fixtures_server import START
from tests.runtime.mcpe.raw_client import Json, RawClient, said
from tests.runtime.storage.fixtures_engines import NatsServer

MINUTE = 60.0
TOKEN = "mcpe/recoveryToken"
TYPES = ("a.b", "a.c", "d.e")
CRON: Json = {
    "expression": "* * * * *",
    "timezone": "UTC",
    "maxEventsPerDelivery": 2,
}
CHANNELS = (("realtime",), ("cron",), ("realtime", "cron"))

numbers = st.integers(0, 2)
STEPS = st.one_of(
    st.tuples(st.just("subscribe"), numbers),
    st.tuples(st.sampled_from(("publish", "publish", "pause", "resume", "unsubscribe")), numbers),
    st.tuples(st.sampled_from(("clock", "clock", "leave", "come", "crash")), numbers),
)


class Wanted:
    """What one subscription must get, as numbers of events."""

    def __init__(self, id: str, channels: tuple[str, ...], pattern: str) -> None:
        self.id = id
        self.channels = channels
        self._pattern = pattern
        self.status = "active"
        self.now: list[int] = []
        self.batched: list[int] = []
        self.collected: list[int] = []
        self.missed = False

    def published(self, number: int, type: str, *, connected: bool) -> None:
        if self.status != "active" or self._pattern not in ("*", f"{type[:2]}*"):
            return
        if "realtime" in self.channels and connected:
            self.now.append(number)
        if "cron" in self.channels:
            self.collected.append(number)

    def due(self, *, connected: bool) -> None:
        if not self.collected or self.status != "active":
            return
        self.missed = not connected
        if connected:
            self.batched += self.collected
            self.collected = []

    def drop(self, status: str) -> None:
        self.status, self.collected, self.missed = status, [], False


class Scene:
    """A server with a store, one client, and what the model says of its subscriptions."""

    def __init__(self, store: Store, quiet: Callable[[], Any]) -> None:
        self._store = store
        self._quiet = quiet
        self._now = START + 1
        self._numbers = count()
        self.wanted: list[Wanted] = []
        self._token: str | None = None
        self._clients: list[RawClient] = []
        self._raw: RawClient | None = None

    async def run(self, steps: list[tuple[str, int]]) -> None:
        """Take the steps, and check what has arrived."""
        async with anyio.create_task_group() as self._tasks:
            await self.crash()
            for name, at in [*steps, ("come", 0), ("clock", 2), ("publish", 0), ("clock", 2)]:
                await self.step(name, at)
                await self._quiet()
                self.check_counts()
            self._tasks.cancel_scope.cancel()
        for one in self.wanted:
            self.check(one)

    async def step(self, name: str, at: int) -> None:
        """Take one step, which is nothing where it is not possible."""
        if name in ("subscribe", "pause", "resume", "unsubscribe"):
            if self._raw is not None and (name == "subscribe" or len(self.wanted) > at):
                await getattr(self, name)(self._raw, at)
        else:
            await getattr(self, name)(*([at] if name in ("publish", "clock") else []))

    async def subscribe(self, raw: RawClient, at: int) -> None:
        pattern = ("*", "a.*", "d.*")[at]
        channels = CHANNELS[len(self.wanted) % 3]
        delivery: Json = {"channels": list(channels)}
        if "cron" in channels:
            delivery["cronSchedule"] = CRON
        result = await raw.call(
            "events_subscribe", filter={"eventTypes": [pattern]}, delivery=delivery
        )
        self._token = result.get("_meta", {}).get(TOKEN, self._token)
        self.wanted.append(Wanted(said(result)["id"], channels, pattern))

    async def pause(self, raw: RawClient, at: int) -> None:
        one = self.wanted[at]
        if one.status != "gone":
            await raw.call("events_pause", subscriptionId=one.id)
            one.drop("paused")

    async def resume(self, raw: RawClient, at: int) -> None:
        one = self.wanted[at]
        if one.status == "paused":
            await raw.call("events_resume", subscriptionId=one.id)
            one.status = "active"

    async def unsubscribe(self, raw: RawClient, at: int) -> None:
        await raw.call("events_unsubscribe", subscriptionId=self.wanted[at].id)
        self.wanted[at].drop("gone")

    async def publish(self, at: int) -> None:
        number = next(self._numbers)
        await self._events.publish(new_event(TYPES[at], {"n": number}))
        for one in self.wanted:
            one.published(number, TYPES[at], connected=self._raw is not None)

    async def clock(self, at: int) -> None:
        before, self._now = self._now, self._now + (1, 40, 3 * MINUTE)[at]
        self._events.look_at_clock()
        if self._now // MINUTE > before // MINUTE:
            for one in self.wanted:
                one.due(connected=self._raw is not None)

    async def leave(self) -> None:
        if self._raw is not None:
            self._raw.hang_up()
            self._raw = None

    async def come(self) -> None:
        if self._raw is not None:
            return
        self._raw = RawClient()
        self._clients.append(self._raw)
        if self._token is not None:
            self._raw.meta = {TOKEN: self._token}
        self._tasks.start_soon(self._server.serve, self._raw)
        await self._raw.greet()
        await self._raw.call("events_list")
        for one in self.wanted:
            if one.missed:
                one.due(connected=True)

    async def crash(self) -> None:
        """Have another process in the place of the server, with nothing but the store."""
        await self.leave()
        await self._quiet()
        records, log = await self._store.records("mcpe"), await self._store.log("mcpe")
        self._events = McpeServer(
            records=records,
            log=log,
            clock=lambda: self._now,
            terms=EventTerms(grace=float("inf")),
            rates=EventRates(subscriptions=None),
        )
        self._server = Server("s", "1", extensions=[self._events])
        await self.publish(2)  # it reads what was kept

    def check_counts(self) -> None:
        """Compare how many subscriptions a client is said to have with those that it has."""
        for client in self._events._clients:
            counts = SubscriptionCounts()
            for one in client.served.values():
                counts = counts.plus(one.message)
            assert client.counts == counts

    def check(self, one: Wanted) -> None:
        """Compare what has arrived for a subscription with what it must get."""
        notices = [message for raw in self._clients for message in raw.heard if "method" in message]
        params = [
            (message["method"], message["params"])
            for message in notices
            if message.get("params", {}).get("subscriptionId") == one.id
        ]
        now = [found["event"]["data"]["n"] for name, found in params if name == "events/event"]
        batches = [found["events"] for name, found in params if name == "events/batch"]
        assert all(1 <= len(batch) <= 2 for batch in batches)
        assert [event["data"]["n"] for batch in batches for event in batch] == one.batched
        assert now == one.now


async def turns(store: Store) -> None:
    """Let everything in memory come to rest."""
    for _ in range(40):
        await anyio.lowlevel.checkpoint()


async def writes(store: Store) -> None:
    """Let everything come to rest that takes a few writes, which the store does in order."""
    records = await store.records("quiet")
    for number in range(6):
        await turns(store)
        await records.put("quiet", number)


Quiet = Callable[[Store], Awaitable[None]]


async def played(url: str, quiet: Quiet, steps: list[tuple[str, int]]) -> None:
    async with open_store(url) as store:
        await Scene(store, partial(quiet, store)).run(steps)


@given(st.lists(STEPS, max_size=16))
def test_a_subscription_gets_each_of_its_events_once(steps: list[tuple[str, int]]) -> None:
    anyio.run(partial(played, "memory:", turns, steps))


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(STEPS, max_size=15))
def test_a_subscription_gets_each_of_its_events_once_also_from_a_file(
    steps: list[tuple[str, int]],
) -> None:
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder)}/events.db"
        anyio.run(partial(played, url, writes, steps))


@pytest.mark.slow
def test_a_subscription_gets_each_of_its_events_once_also_from_nats(tmp_path: Path) -> None:
    server = NatsServer(tmp_path)
    server.start()

    @settings(max_examples=5)
    @given(st.lists(STEPS, max_size=8))
    def play(steps: list[tuple[str, int]]) -> None:
        anyio.run(partial(played, server.url, writes, steps))

    try:
        play()
    finally:
        server.kill()
