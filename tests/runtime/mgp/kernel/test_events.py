"""A kernel that reads the events of raw servers: what it asks for, and what it passes on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError, ConnectionClosedError, InvalidResponseError
from kinwire.mgp import MgpKernel
from kinwire_protocols.mgp.errors import ResourceExhaustedError
from tests.runtime.mgp.fixtures_kernel import guarded
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer

pytestmark = pytest.mark.anyio

OFFER = {"version": "0.2.0", "extensions": ["security", "bidirectional"]}
SUBSCRIBE, UNSUBSCRIBE, EVENT = (
    "mgp/events/subscribe",
    "mgp/events/unsubscribe",
    "notifications/mgp.event",
)


def emitting(**answers: Any) -> RawServer:
    """Return a server that names subscriptions s1, s2, and so on."""
    named = count(1)

    def subscribe(params: Json) -> Json:
        return {"subscribed": params["channels"], "subscription_id": f"s{next(named)}"}

    given: dict[str, Any] = {
        "mgp_events_subscribe": subscribe,
        "mgp_events_unsubscribe": {"unsubscribed": True},
    }
    return RawServer(mgp=OFFER, **(given | answers))


def say(raw: RawServer, number: int, id: str = "s1", **more: Any) -> None:
    event = {"subscription_id": id, "channel": "model.usage", "data": {"n": number}}
    raw.say(method=EVENT, params=event | more)


async def take(events: AsyncIterator[Any], most: int) -> list[Any]:
    return [(await anext(events)).data["n"] for _ in range(most)]


async def test_events_are_read_while_the_block_lasts() -> None:
    raw, kernel = emitting(), MgpKernel()
    async with guarded(raw, kernel) as connection:
        async with kernel.events(connection, ["model.*", "x"], min_severity="warning") as events:
            assert (events.subscribed, events.unsupported) == (("model.*", "x"), ())
            say(raw, 1, timestamp="2026-02-27T12:05:00.000Z", severity="error")
            with anyio.fail_after(10):
                event = await anext(events)
        assert [one async for one in events] == []
        say(raw, 2)
        await raw.settle()
    assert (event.channel, event.data, event.severity) == ("model.usage", {"n": 1}, "error")
    (asked,), (ended,) = raw.of(SUBSCRIBE), raw.of(UNSUBSCRIBE)
    assert (asked["channels"], asked["filter"]) == (["model.*", "x"], {"min_severity": "warning"})
    assert ended["subscription_id"] == "s1"


async def test_what_was_not_asked_for_is_not_read_whatever_the_server_sends() -> None:
    raw, kernel = emitting(), MgpKernel()
    async with (
        guarded(raw, kernel) as connection,
        kernel.events(connection, ["model.*"], min_severity="warning") as events,
        kernel.events(connection, ["model.usage"]) as all_events,
    ):
        say(raw, 1, "unknown", severity="alert")
        say(raw, 2, channel="tool.started", severity="alert")
        say(raw, 3, severity="notice")
        say(raw, 4)
        say(raw, 5, severity="grave")
        say(raw, 6, severity="warning")
        raw.say(method=EVENT, params={"subscription_id": "s1"})
        raw.say(method=EVENT, params=[])
        say(raw, 7, "s2")
        say(raw, 8, severity="error")
        assert await take(events, 3) == [5, 6, 8]
        assert await take(all_events, 1) == [7]
        assert (events.dropped, all_events.dropped) == (0, 0)


async def test_events_that_come_with_the_answer_or_before_it_are_read() -> None:
    raw, kernel = emitting(mgp_events_subscribe={}), MgpKernel()

    def subscribe(params: Json) -> Json:
        say(raw, 1, "s9")
        raw.wake()
        return {"subscribed": [], "unsupported": ["model.*"], "subscription_id": "s9"}

    raw.answers[SUBSCRIBE] = subscribe
    async with guarded(raw, kernel) as connection:
        async with kernel.events(connection, ["model.*"]) as events:
            assert events.unsupported == ("model.*",)
            assert await take(events, 1) == [1]
        async with kernel.events(connection, ["model.*"]) as events:  # nothing is left of before
            assert await take(events, 1) == [1]


async def test_a_slow_reader_loses_the_oldest_events_and_learns_how_many() -> None:
    raw, kernel = emitting(), MgpKernel()
    async with (
        guarded(raw, kernel) as connection,
        kernel.events(connection, ["model.*"]) as events,
    ):
        say(raw, 0, dropped=3)
        for number in range(1, 1_500):
            say(raw, number)
        await connection.mcp.ping()
        say(raw, 1_500, dropped=4)
        await raw.settle()
        assert events.dropped == 3 + 501 + 4
        first = await anext(events)
        assert (first.data, first.dropped) == ({"n": 501}, 3 + 501)
        assert await take(events, 999) == list(range(502, 1_501))
        for number in range(17):
            say(raw, number, data={"n": number, "text": "x" * 2**20})
            await raw.settle()
        late = await anext(events)
        assert (late.data or {})["n"] == late.dropped == 2
        assert events.dropped == 510
    assert connection.session.counts.dropped_notifications == 0


async def test_a_reader_that_does_nothing_else_keeps_up_with_bursts() -> None:
    async def burst() -> None:
        for number in range(4_000):
            say(raw, number)
            if number % 250 == 249:
                await anyio.lowlevel.checkpoint()

    # A loop that runs its tasks in any order brings at most three bursts before the reader's turn.
    raw, kernel = emitting(), MgpKernel()
    async with (
        guarded(raw, kernel) as connection,
        kernel.events(connection, ["model.*"]) as events,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(burst)
        with anyio.fail_after(10):
            assert await take(events, 4_000) == list(range(4_000))
    assert events.dropped == 0


async def test_the_end_of_the_connection_ends_reading_after_what_has_come() -> None:
    raw, kernel = emitting(), MgpKernel()
    async with (
        guarded(raw, kernel) as connection,
        kernel.events(connection, ["model.*"]) as events,
    ):
        say(raw, 1)
        await raw.settle()
        raw.hang_up()
        await connection.session.wait_closed()
        with anyio.fail_after(10):
            read = await take(events, 1)
            with pytest.raises(ConnectionClosedError):
                await anext(events)
    assert read == [1]
    with pytest.raises(ConnectionClosedError):
        async with kernel.events(connection, ["model.*"]):
            pass


async def test_what_a_server_refuses_or_gets_wrong_is_raised() -> None:
    full = {"code": 3001, "message": "full"}
    raw, kernel = emitting(mgp_events_subscribe=full, mgp_events_unsubscribe=full), MgpKernel()
    async with guarded(raw, kernel) as connection:
        with pytest.raises(ResourceExhaustedError):
            async with kernel.events(connection, ["model.*"]):
                pass
        raw.answers[SUBSCRIBE] = {"subscribed": [], "subscription_id": "same"}
        async with kernel.events(connection, ["model.*"]) as events:  # its end may be refused
            with pytest.raises(InvalidResponseError, match="subscription_id"):
                async with kernel.events(connection, ["model.*"]):
                    pass
            say(raw, 1, "same")
            assert await take(events, 1) == [1]
        for wrong in ("model.*", [1]):
            with pytest.raises(TypeError):
                kernel.events(connection, wrong)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="min_severity"):
            kernel.events(connection, ["*"], min_severity="bad")  # type: ignore[arg-type]


@pytest.mark.parametrize("offer", [None, {"version": "0.2.0", "extensions": ["security"]}])
async def test_a_server_without_the_extension_is_asked_for_nothing(offer: Json | None) -> None:
    raw, kernel = RawServer(mgp=offer), MgpKernel()
    async with guarded(raw, kernel) as connection:
        with pytest.raises(CapabilityNotNegotiatedError):
            async with kernel.events(connection, ["*"]):
                pass
        say(raw, 1)
        await connection.mcp.ping()
    assert raw.of(SUBSCRIBE) == []


async def test_a_reader_that_is_cancelled_ends_its_subscription() -> None:
    raw, kernel = emitting(), MgpKernel()
    async with guarded(raw, kernel) as connection:
        with anyio.move_on_after(0.01):
            async with kernel.events(connection, ["model.*"]) as events:
                await anext(events)
        await connection.mcp.ping()
    assert [one["subscription_id"] for one in raw.of(UNSUBSCRIBE)] == ["s1"]


async def test_a_subscription_whose_caller_has_gone_is_ended() -> None:
    """The answer to a call that was cancelled is not read, so its first event says its name."""
    silent = {"mgp_events_subscribe": NOTHING, "mgp_events_unsubscribe": NOTHING}
    raw, kernel = emitting(**silent), MgpKernel()
    async with guarded(raw, kernel) as connection:
        with anyio.move_on_after(0.01):
            async with kernel.events(connection, ["model.*"]):
                pass
        for id in ("gone", "gone", "x" * 257, *map(str, range(200))):
            say(raw, 1, id)
        await raw.settle()
    ended = {one["subscription_id"] for one in raw.of(UNSUBSCRIBE)}
    assert ended == {"gone", *map(str, range(9))}
    assert len(raw.of(UNSUBSCRIBE)) == 10


async def test_what_arrives_behind_the_end_of_a_subscription_is_dropped() -> None:
    raw, kernel = emitting(), MgpKernel()
    async with guarded(raw, kernel) as connection:
        async with kernel.events(connection, ["model.*"]):
            pass
        say(raw, 1)
        await raw.settle()
    assert [one["subscription_id"] for one in raw.of(UNSUBSCRIBE)] == ["s1"]
