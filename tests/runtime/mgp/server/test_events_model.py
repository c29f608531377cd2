"""Subscriptions of two kernels, which read or do not, against what each of them must get."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from unittest.mock import patch

import anyio
import anyio.lowlevel
from hypothesis import given, strategies as st

from kinwire import Limits, Server
from kinwire.mcp.log_messages import LEVELS
from kinwire.mgp import MgpServer
from kinwire.mgp.server import event_sender
from kinwire.support.background import background
from tests.runtime.mgp.raw_peers import Json, RawKernel

CHANNELS = ("model.a", "model.b", "system.a")
ASKED = {
    "model.*": CHANNELS[:2],
    "*.a": (CHANNELS[0], CHANNELS[2], "security.a"),
    "model.b": CHANNELS[1:2],
}
EVENT = "notifications/mgp.event"
QUEUED = 3

kernels, asked, levels = (
    st.sampled_from((0, 1)),
    st.sampled_from(sorted(ASKED)),
    st.sampled_from(LEVELS),
)
STEPS = st.one_of(
    st.tuples(st.just("subscribe"), kernels, asked, levels),
    st.tuples(st.just("emit"), st.integers(1, 9), st.sampled_from(CHANNELS), levels),
    st.tuples(st.just("unsubscribe"), kernels, st.just(""), st.just("")),
    st.tuples(st.just("stop reading"), kernels, st.just(""), st.just("")),
    st.tuples(st.just("read"), kernels, st.just(""), st.sampled_from("1234")),
)


class Wanted:
    """What one subscription must get, as numbers of events."""

    def __init__(self, id: str, asked: str, least: str) -> None:
        self.id = id
        self._channels, self._least = ASKED[asked], LEVELS.index(least)
        self.events: list[int] = []
        self.over = False

    def emitted(self, number: int, channel: str, level: str) -> None:
        if channel in self._channels and LEVELS.index(level) >= self._least and not self.over:
            self.events.append(number)


class Scene:
    """A server, two kernels, and what the model says about their subscriptions."""

    def __init__(self) -> None:
        self.guarded = MgpServer(channels=CHANNELS)
        self.raw = [RawKernel(), RawKernel()]
        self.wanted: list[list[Wanted]] = [[], []]
        self._numbers, self._ids = count(), count()

    async def run(self, steps: list[tuple[str, int, str, str]]) -> None:
        server = Server("s", "1", extensions=[self.guarded], limits=Limits(unsent=400))
        async with background() as tasks:
            for raw in self.raw:
                tasks.start_soon(server.serve, raw)
                await raw.greet({"version": "0.2.0", "extensions": ["bidirectional"]})
            for name, at, what, level in steps:
                await self.step(name, at, what, level)
            for at in (0, 1):
                await self.reads(at)
            for channel in CHANNELS:
                await self.emit(1, channel, "emergency")
            await self.raw[0].settle()
            tasks.cancel_scope.cancel()
        for at in (0, 1):
            self.check(self.raw[at], self.wanted[at])

    async def step(self, name: str, at: int, what: str, level: str) -> None:
        open_now = [] if name == "emit" else [one for one in self.wanted[at] if not one.over]
        if name == "emit":
            await self.emit(at, what, level)
        elif name == "subscribe":
            await self.reads(at)  # the answer is waited for
            params = {"channels": [what], "filter": {"min_severity": level}}
            made = await self.raw[at].ask(next(self._ids), "mgp/events/subscribe", params)
            self.wanted[at].append(Wanted(made["result"]["subscription_id"], what, level))
        elif name == "unsubscribe" and open_now:
            await self.unsubscribe(self.raw[at], open_now[0])
        elif name == "stop reading":
            self.raw[at].reads = False
        elif name == "read":  # what follows may come before the server's own task notices
            self.raw[at].reads = True
            self.raw[at].wake()
            for _ in range(int(level)):
                await anyio.lowlevel.checkpoint()

    async def emit(self, times: int, channel: str, level: str) -> None:
        for _ in range(times):
            number = next(self._numbers)
            for one in (*self.wanted[0], *self.wanted[1]):
                one.emitted(number, channel, level)
            await self.guarded.emit(channel, {"n": number}, severity=level)  # type: ignore[arg-type]

    async def reads(self, at: int) -> None:
        self.raw[at].reads = True
        self.raw[at].wake()
        await self.raw[at].settle()

    async def unsubscribe(self, raw: RawKernel, wanted: Wanted) -> None:
        wanted.over = True
        raw.say(
            id=f"end of {wanted.id}",
            method="mgp/events/unsubscribe",
            params={"subscription_id": wanted.id},
        )
        await raw.settle()

    def check(self, raw: RawKernel, wanted: list[Wanted]) -> None:
        for one in wanted:
            got = list(self.events_of(raw, one.id))
            numbers = [event["data"]["n"] for event in got]
            lost = sum(event.get("dropped", 0) for event in got)
            assert numbers == sorted(set(numbers) & set(one.events))
            if not one.over:
                assert len(numbers) + lost == len(one.events)
            for event in got:
                missed = event.get("dropped", 0)
                before = one.events[: one.events.index(event["data"]["n"])]
                assert not set(before[len(before) - missed :]) & set(numbers)

    def events_of(self, raw: RawKernel, id: str) -> Iterator[Json]:
        over = False
        for message in raw.heard:
            over = over or message.get("id") == f"end of {id}"
            if message.get("method") == EVENT and message["params"]["subscription_id"] == id:
                assert not over
                yield message["params"]


@given(st.lists(STEPS, max_size=30))
def test_a_subscription_gets_its_events_in_order_and_the_number_of_those_it_lost(
    steps: list[tuple[str, int, str, str]],
) -> None:
    with patch.object(event_sender, "QUEUED", QUEUED):
        anyio.run(partial(Scene().run, steps))
