"""Events of a server before raw kernels: subscriptions, what is sent, and kernels that are slow."""

from __future__ import annotations

import json
import logging
import tracemalloc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count, islice
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from kinwire import Limits, Server, UnsendableError
from kinwire.mgp import KernelPeer, MgpServer
from kinwire.support.background import background
from kinwire_protocols.mgp.methods import NOTIFICATIONS_MGP_EVENT
from tests.runtime.mgp.raw_peers import Json, RawKernel, codes

pytestmark = pytest.mark.anyio

OFFER = {"version": "0.2.0", "extensions": ["security", "bidirectional"]}
SUBSCRIBE, UNSUBSCRIBE, EVENT = (
    "mgp/events/subscribe",
    "mgp/events/unsubscribe",
    "notifications/mgp.event",
)
LIMITS = Limits()
CHANNELS = ["model.token_usage", "model.limit", "system.disk"]


@asynccontextmanager
async def serving(
    guarded: MgpServer, *kernels: RawKernel, limits: Limits = LIMITS, offer: Json = OFFER
) -> AsyncGenerator[None]:
    """Serve raw kernels that speak MGP, or others with another offer."""
    server = Server("s", "1", extensions=[guarded], limits=limits)
    async with background() as tasks:
        for raw in kernels:
            tasks.start_soon(server.serve, raw)
            await raw.greet(offer)
        yield
        tasks.cancel_scope.cancel()


async def subscribed(raw: RawKernel, id: object, *channels: str, **filter: str) -> Json:
    params: Json = {"channels": list(channels)}
    answer = await raw.ask(id, SUBSCRIBE, {**params, **({"filter": filter} if filter else {})})
    found: Json = answer["result"]
    return found


@pytest.mark.spec("mgp-13.2-1", "mgp-13.2-mgp-events-subscribe-2", "mgp-13.3-2")
async def test_events_come_under_the_id_of_their_subscription() -> None:
    guarded, raw = MgpServer(channels=CHANNELS), RawKernel()
    async with serving(guarded, raw):
        usage = await subscribed(raw, 1, "model.token_usage", "nope.x")
        model = await subscribed(raw, 2, "model.*", min_severity="warning")
        assert await guarded.emit("model.token_usage", {"tokens_used": 1500}) == 1
        assert await guarded.emit("model.limit", {"left": 0}, severity="error") == 1
        assert await guarded.emit("system.disk") == 0
        await raw.settle()
    first, second = usage.pop("subscription_id"), model.pop("subscription_id")
    assert first != second
    assert usage == {"subscribed": ["model.token_usage"], "unsupported": ["nope.x"]}
    assert model == {"subscribed": ["model.token_usage", "model.limit"], "unsupported": []}
    assert [one.pop("timestamp")[-1] for one in raw.of(EVENT)] == ["Z", "Z"]
    assert raw.of(EVENT) == [
        {"subscription_id": first, "channel": "model.token_usage", "data": {"tokens_used": 1500}},
        {
            "subscription_id": second,
            "channel": "model.limit",
            "severity": "error",
            "data": {"left": 0},
        },
    ]


@pytest.mark.spec("mgp-13.2-mgp-events-unsubscribe-1", "mgp-13.2-mgp-events-subscribe-3")
async def test_b095_only_what_was_asked_for_comes_and_only_until_it_is_ended() -> None:
    guarded, raw, plain = MgpServer(channels=CHANNELS), RawKernel(), RawKernel()
    async with (
        serving(guarded, raw),
        serving(guarded, plain, offer={"version": "0.2.0", "extensions": ["security"]}),
    ):
        made = await subscribed(raw, 1, "model.token_usage", "nope.x")
        with pytest.raises(ValueError, match=r"no channel 'nope\.x'"):
            await guarded.emit("nope.x")
        for channel in ("model.token_usage", "model.limit"):
            await guarded.emit(channel)
        ending = {"subscription_id": made["subscription_id"]}
        ended = [await raw.ask(id, UNSUBSCRIBE, ending) for id in (2, 3)]
        await guarded.emit("model.token_usage")
        refused = await plain.ask(1, SUBSCRIBE, {"channels": ["model.token_usage"]})
        await raw.settle()
    assert [one["result"] for one in ended] == [{"unsubscribed": True}, {"unsubscribed": False}]
    assert [(one["subscription_id"], one["channel"]) for one in raw.of(EVENT)] == [
        (made["subscription_id"], "model.token_usage")
    ]
    assert codes(refused)[0] == -32601
    assert not any("mgp" in one.get("method", "") for one in plain.heard)


async def test_a_client_without_mgp_cannot_subscribe_and_hears_nothing() -> None:
    guarded, plain = MgpServer(channels=CHANNELS), RawKernel()
    server = Server("s", "1", extensions=[guarded])
    async with background() as tasks:
        tasks.start_soon(server.serve, plain)
        await plain.greet(None)
        refused = await plain.ask(1, SUBSCRIBE, {"channels": ["*"]})
        assert await guarded.emit("model.limit", {}) == 0
        await plain.settle()
        tasks.cancel_scope.cancel()
    assert codes(refused)[0] == -32601
    assert "mgp" not in json.dumps([one for one in plain.heard if one is not refused])


async def test_each_kernel_has_its_own_subscriptions_of_which_there_are_at_most_a_hundred() -> None:
    guarded, raw, other = MgpServer(channels=CHANNELS), RawKernel(), RawKernel()
    async with serving(guarded, raw, other):
        names = [(await subscribed(raw, id, "model.*"))["subscription_id"] for id in range(100)]
        code, recovery = codes(await raw.ask("full", SUBSCRIBE, {"channels": ["model.*"]}))
        long = await raw.ask("long", SUBSCRIBE, {"channels": ["x"] * 101})
        wrong = await raw.ask("wrong", SUBSCRIBE, {"channels": [], "filter": {"min_severity": "x"}})
        theirs = await subscribed(other, 1, "model.limit")
        stolen = await other.ask(2, UNSUBSCRIBE, {"subscription_id": names[50]})
        assert await guarded.emit("model.limit") == 101
        await raw.ask("end", UNSUBSCRIBE, {"subscription_id": names[7]})
        await subscribed(raw, "again", "model.*")
        raw.hang_up()
        await raw.settle()
        assert await guarded.emit("model.limit") == 1
        await raw.settle()
    assert len(set(names)) == 100
    assert (code, recovery["details"]) == (3001, {"limit": 100})
    assert [codes(one)[0] for one in (long, wrong)] == [-32602, -32602]
    assert stolen["result"] == {"unsubscribed": names[50] == theirs["subscription_id"]}
    assert [len(one.of(EVENT)) for one in (raw, other)] == [100, 2]


async def test_what_a_kernel_asks_for_holds_nobody_up_and_takes_no_memory() -> None:
    guarded = MgpServer(channels=[f"model.c{number}" for number in range(400)])
    raw, other = RawKernel(), RawKernel()
    async with serving(guarded, raw, other):
        slow = [f"{'[a-z]*' * 20}{number}" for number in range(100)]
        raw.say(id="slow", method=SUBSCRIBE, params={"channels": slow})
        await other.ask("early", "ping")
        assert not any(one["id"] == "slow" for one in raw.heard)
        while raw.heard[-1]["id"] != "slow":
            await other.settle()
        assert raw.heard[-1]["result"]["unsupported"] == slow
        tracemalloc.start()
        for id in range(10):
            made = await subscribed(raw, id, "x" * 500_000, "y.*" + "x" * 500_000)
            assert made["subscribed"] == []
            raw.heard.clear()
        del made
        grown, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert grown < 2_000_000


@pytest.mark.spec("mgp-13.3-1")
async def test_a_slow_kernel_loses_its_oldest_events_and_learns_how_many() -> None:
    guarded, slow, quick = MgpServer(channels=CHANNELS), RawKernel(), RawKernel()
    async with serving(guarded, slow, quick, limits=Limits(unsent=2_000)):
        for raw in (slow, quick):
            await subscribed(raw, 1, "model.limit")
        await subscribed(slow, 2, "model.*")
        slow.reads = False
        for number in range(1_100):
            assert await guarded.emit("model.limit", {"n": number}) == 3
            await anyio.lowlevel.checkpoint()  # the quick kernel reads
        await quick.settle()
        assert [one["data"]["n"] for one in quick.of(EVENT)] == list(range(1_100))
        slow.reads = True
        slow.wake()
        await slow.settle()
        await guarded.emit("model.limit", {"n": 1_100})
        await slow.settle()
    assert all("dropped" not in one for one in quick.of(EVENT))
    for name in {one["subscription_id"] for one in slow.of(EVENT)}:
        got = [one for one in slow.of(EVENT) if one["subscription_id"] == name]
        (late,) = [one for one in got if "dropped" in one]
        before = got.index(late)
        numbers = [one["data"]["n"] for one in got]
        assert numbers[:before] == list(range(before))
        assert numbers[before:] == list(range(100, 1_101))
        assert late["dropped"] == 100 - before > 0


async def test_nothing_comes_after_the_answer_that_ends_a_subscription() -> None:
    guarded, raw = MgpServer(channels=CHANNELS), RawKernel()
    async with serving(guarded, raw, limits=Limits(unsent=500)):
        ending = await subscribed(raw, 1, "model.*")
        staying = await subscribed(raw, 2, "model.*")
        raw.reads = False
        for number in range(50):
            await guarded.emit("model.limit", {"n": number})
        await raw.settle()
        raw.say(id=3, method=UNSUBSCRIBE, params={"subscription_id": ending["subscription_id"]})
        await raw.settle()
        raw.reads = True
        raw.wake()
        await raw.settle()
    answered = next(at for at, one in enumerate(raw.heard) if one.get("id") == 3)
    later = [one["params"] for one in raw.heard[answered:] if one.get("method") == EVENT]
    assert {one["subscription_id"] for one in later} == {staying["subscription_id"]}
    assert [
        one["data"]["n"]
        for one in raw.of(EVENT)
        if one["subscription_id"] == staying["subscription_id"]
    ] == list(range(50))


async def test_an_event_may_be_for_one_kernel_alone() -> None:
    guarded, first, second = MgpServer(channels=CHANNELS), RawKernel(), RawKernel()
    async with serving(guarded, first, second):
        for raw in (first, second):
            await subscribed(raw, 1, "model.*")
        assert await guarded.emit("model.limit", {}, to=guarded.kernels[1]) == 1
        await first.settle()
    assert [len(raw.of(EVENT)) for raw in (first, second)] == [0, 1]


async def test_what_cannot_be_emitted_is_an_error_of_the_program() -> None:
    guarded: Any = MgpServer(channels=CHANNELS)
    with pytest.raises(ValueError, match=r"Did you mean 'model\.limit'"):
        await guarded.emit("model.limits", {})
    with pytest.raises(ValueError, match="at most 65536 bytes"):
        await guarded.emit("model.limit", {"text": "x" * 65_536})
    with pytest.raises(UnsendableError):
        await guarded.emit("model.limit", {"n": float("nan")})
    with pytest.raises(ValueError, match="severity"):
        await guarded.emit("model.limit", {}, severity="bad")
    mistakes: list[Json] = [{"data": []}, {"to": 1}]
    for wrong in mistakes:
        with pytest.raises(TypeError):
            await guarded.emit("model.limit", **wrong)
    with pytest.raises(ValueError, match="channels"):
        MgpServer(channels=["nope.x"])


async def test_events_pass_what_intercepts_them_and_survive_its_faults(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Marked(MgpServer):
        def join(self, session: Any, theirs: Json) -> KernelPeer:
            session.intercept_outbound(around, NOTIFICATIONS_MGP_EVENT)
            return super().join(session, theirs)

    async def around(params: Any, method: object, go_on: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        if params.data["n"] == 1:
            raise RuntimeError("broken")
        return await go_on(params.model_copy(update={"data": {**params.data, "marked": True}}))

    guarded, raw = Marked(channels=CHANNELS), RawKernel()
    async with serving(guarded, raw):
        await subscribed(raw, 1, "model.*")
        shared = {"n": 0}
        for number in range(3):
            shared["n"] = number  # what is emitted does not change with it
            await guarded.emit("model.limit", shared)
        await raw.settle()
        await raw.ask(2, "ping", {})
    assert [one["data"] for one in raw.of(EVENT)] == [
        {"n": 0, "marked": True},
        {"n": 2, "marked": True},
    ]
    assert [one.message for one in caplog.records if one.levelno == logging.ERROR] == [
        "an event of the subscription sub-001 was not sent"
    ]


async def test_a_plain_tool_emits_from_its_thread() -> None:
    guarded, raw = MgpServer(channels=CHANNELS), RawKernel()
    server = Server("s", "1", extensions=[guarded])

    @server.tool
    def think() -> int:
        return anyio.from_thread.run(guarded.emit, "model.limit", {"n": 1})

    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet(OFFER)
        await subscribed(raw, 1, "model.*")
        answer = await raw.ask(2, "tools/call", {"name": "think"})
        tasks.cancel_scope.cancel()
    assert answer["result"]["content"][0]["text"] == "1"
    assert [one["data"] for one in raw.of(EVENT)] == [{"n": 1}]


async def test_no_event_overtakes_those_that_wait_and_subscriptions_take_turns() -> None:
    guarded, raw = MgpServer(channels=CHANNELS), RawKernel()
    async with serving(guarded, raw, limits=Limits(unsent=500)):
        names = [(await subscribed(raw, id, "model.limit"))["subscription_id"] for id in (1, 2)]
        numbers = count()
        for turns in range(6):
            raw.reads = False
            for number in islice(numbers, 20):
                await guarded.emit("model.limit", {"n": number})
            await raw.settle()
            raw.reads = True
            raw.wake()
            for _ in range(turns):  # the kernel has read, and the server's task may not know yet
                await anyio.lowlevel.checkpoint()
            await guarded.emit("model.limit", {"n": next(numbers)})
            await raw.settle()
    got = [(one["subscription_id"], one["data"]["n"]) for one in raw.of(EVENT)]
    for name in names:
        assert [number for one, number in got if one == name] == list(range(6 * 21))
    assert [one for one, _ in got[:20]] == names * 10
