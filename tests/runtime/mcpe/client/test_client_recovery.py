"""Readers of the client of MCPE go on when their connection has ended."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import anyio
import pytest

from kinwire import (
    ConnectionClosedError,
    Host,
)
from kinwire.mcpe import McpeClient
from kinwire.storage import open_store
from kinwire_protocols import mcpe
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mcpe.client.fixtures_clients import ID, TOKEN, connected, read
from tests.runtime.mcpe.raw_server import EVENT, RawServer

pytestmark = pytest.mark.anyio


async def test_a_reader_fails_with_the_connection() -> None:
    events, raw = McpeClient(), RawServer()
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as subscription,
    ):
        raw.event(ID)
        await raw.settle()
        raw.hang_up()
        assert await read(subscription, 1) == ["github.push"]
        with pytest.raises(ConnectionClosedError):
            await anext(subscription)
    with pytest.raises(ConnectionClosedError):
        events.of(connection)


@pytest.mark.spec("mcpe-12.2-6")
async def test_a_reader_goes_on_over_the_next_connection_with_its_token() -> None:
    events, first, second = McpeClient(reconnect_within=60), RawServer(), RawServer()
    first.token = "secret-token"
    async with Host("desk", "1", extensions=[events]) as host:
        connection = await host.connect(first, server_id="elsewhere")
        async with (
            events.subscribe(connection, ["a.*"]) as kept,
            events.subscribe(connection, ["b.*"]) as renewed,
        ):
            second.subscriptions = first.subscriptions[:1]
            first.hang_up()
            await first.settle()
            await host.connect(second, server_id="elsewhere")
            with anyio.fail_after(5):
                await second.tells("tools/call", 2)
            await second.settle()
            second.event(kept.id, {**EVENT, "type": "a.1"})
            second.event(renewed.id, {**EVENT, "type": "b.1"})
            assert [await read(kept, 1), await read(renewed, 1)] == [["a.1"], ["b.1"]]
            assert (kept.renewed, renewed.renewed) == (0, 1)
    calls = second.of("tools/call")
    assert [one["_meta"] for one in calls] == [{TOKEN: "secret-token"}] * len(calls)
    assert calls[1]["arguments"]["filter"] == {"eventTypes": ["b.*"]}
    methods = [one["method"] for one in second.heard if "method" in one]
    assert methods.index("notifications/initialized") < methods.index("tools/call")
    assert len(second.calls("unsubscribe")) == 2


async def test_a_reader_goes_on_where_the_host_keeps_the_connection() -> None:
    events, raws = McpeClient(reconnect_within=60), [RawServer(), RawServer(), RawServer()]
    waiting = iter(raws)
    async with (
        Host("desk", "1", extensions=[events]) as host,
        host.keep_connected(lambda: next(waiting), server_id="s", first_delay=0.01) as kept,
        events.subscribe(kept.connection, ["a.*"]) as subscription,
    ):
        for number, raw in enumerate(raws):
            with anyio.fail_after(5):
                await raw.tells("tools/call", 1 if raw is raws[0] else 2)
                await raw.settle()
                raw.event(subscription.id, {**EVENT, "type": f"a.{number}"})
                assert await read(subscription, 1) == [f"a.{number}"]
            if raw is not raws[-1]:
                raw.hang_up()
                await raw.settle()
        assert subscription.renewed == 2
    assert len(raws[-1].calls("unsubscribe")) == 1


async def test_a_block_that_ends_without_a_connection_leaves_nothing_to_go_on_with() -> None:
    events, first, second = McpeClient(reconnect_within=60), RawServer(), RawServer()
    async with Host("desk", "1", extensions=[events]) as host:
        connection = await host.connect(first, server_id="elsewhere")
        async with events.subscribe(connection):
            first.hang_up()
            await first.settle()
        again = await host.connect(second, server_id="elsewhere")
        await second.settle()
        assert second.of("tools/call") == []
        await events.of(again).list()
    names = [one["name"] for one in second.of("tools/call")]
    assert names == ["events_list", "events_unsubscribe"]  # the latter at the end of the connection


async def test_a_reader_gives_up_when_there_is_no_next_connection_in_time() -> None:
    events, raw = McpeClient(reconnect_within=0.05), RawServer()
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as subscription,
    ):
        raw.hang_up()
        with anyio.fail_after(5), pytest.raises(ConnectionClosedError):
            await anext(subscription)


async def test_the_time_to_connect_again_begins_with_the_connection_that_ended_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends: list[anyio.Event] = []

    async def sleep(seconds: float) -> None:
        ends.append(anyio.Event())
        await ends[-1].wait()

    monkeypatch.setattr("kinwire.mcpe.client.client.sleep", sleep)
    events, servers = McpeClient(reconnect_within=60), [RawServer() for _ in range(3)]
    for one in servers:
        one.token = "secret-token"
    async with Host("desk", "1", extensions=[events]) as host:
        connection = await host.connect(servers[0], server_id="elsewhere")
        async with events.subscribe(connection, ["a.*"]) as kept:
            for before, one in pairwise(servers):
                one.subscriptions = before.subscriptions
                before.hang_up()
                await before.settle()
                if len(ends) == 2:
                    ends[0].set()  # the time since the first end is over
                    await before.settle()
                await host.connect(one, server_id="elsewhere")
                await one.settle()
            servers[-1].event(kept.id)
            with anyio.fail_after(5):
                assert await read(kept, 1) == ["github.push"]
        assert len(ends) == 2


async def test_a_token_outlives_the_process_where_there_are_records() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpe")
        first, second = RawServer(), RawServer()
        first.token = "secret-token"
        events = McpeClient(records=records, keep_subscriptions=True)
        async with connected(events, first) as connection:
            await events.of(connection).make(
                mcpe.EventsSubscribeParams(
                    filter=mcpe.EventFilter(),
                    delivery=mcpe.DeliveryPreferences(channels=["realtime"]),
                )
            )
        events = McpeClient(records=records)
        async with connected(events, second) as connection:
            await events.of(connection).list()
    assert second.calls("list")[0]["_meta"] == {TOKEN: "secret-token"}


async def test_records_that_fail_cost_no_subscription(caplog: pytest.LogCaptureFixture) -> None:
    async with open_store("memory:") as store:
        records: Any = FailingRecords(await store.records("mcpe"))
        records.fails = True
        raw = RawServer()
        raw.token = "secret-token"
        events = McpeClient(records=records)
        async with (
            connected(events, raw) as connection,
            events.subscribe(connection, ["github.*"]) as subscription,
        ):
            raw.event(subscription.id)
            assert await read(subscription, 1) == ["github.push"]
            await events.of(connection).list()
    assert raw.calls("list")[0]["_meta"] == {TOKEN: "secret-token"}
    assert len(raw.calls("unsubscribe")) == 1
    assert caplog.text.count("is not read: ") == caplog.text.count("is not kept: ") == 1
    assert "secret-token" not in caplog.text
