"""Clients subscribe to resources of servers; a server that comes back is asked again."""

from __future__ import annotations

import anyio
import pytest

from kinwire import Host, Limits
from kinwire.mgp import Gateway, MgpKernel
from tests.runtime.mgp.gateway.fixtures_gateway import RawClient, full_server, gateway_of
from tests.runtime.mgp.raw_peers import NOTHING

pytestmark = pytest.mark.anyio

SUBSCRIBE, UNSUBSCRIBE = "resources/subscribe", "resources/unsubscribe"
UPDATED = "notifications/resources/updated"


async def test_updates_go_to_those_who_subscribed_and_the_last_one_unsubscribes() -> None:
    raw, other = full_server(), full_server()
    first, second, third = RawClient(), RawClient(), RawClient()
    async with gateway_of({"s": raw, "o": other}, first, second, third):
        for client in (first, second):
            assert (await client.ask("s", SUBSCRIBE, {"uri": "mgp://s/note:1"}))["result"] == {}
        await third.ask("s", SUBSCRIBE, {"uri": "mgp://o/note:1"})
        for uri in ("note:1", "note:1/a", "note:12"):
            raw.say(method=UPDATED, params={"uri": uri})
        for client in (first, second):
            found = await client.wait_for(UPDATED, 2)
            assert {one["uri"] for one in found} == {"mgp://s/note:1", "mgp://s/note:1/a"}
        await first.ask("u", UNSUBSCRIBE, {"uri": "mgp://s/note:1"})
        assert raw.of(UNSUBSCRIBE) == []
        assert (await first.ask("again", UNSUBSCRIBE, {"uri": "mgp://s/note:1"}))["result"] == {}
        raw.say(method=UPDATED, params={"uri": "note:1"})
        await second.tells(UPDATED, 3)
        second.hang_up()
        await raw.tells(UNSUBSCRIBE)
        assert raw.of(UNSUBSCRIBE) == [{"uri": "note:1"}]
        await first.ask("p", "ping")
    assert len(first.of(UPDATED)) == 2
    assert third.of(UPDATED) == []


async def test_a_subscription_that_a_server_refuses_does_not_count() -> None:
    raw, client = full_server(), RawClient()
    error = {"code": -32002, "message": "no such resource", "data": {"uri": "note:1"}}
    async with gateway_of({"s": raw}, client):
        raw.answers[SUBSCRIBE] = error
        assert (await client.ask("s", SUBSCRIBE, {"uri": "mgp://s/note:1"}))["error"] == error
        raw.say(method=UPDATED, params={"uri": "note:1"})
        await client.ask("u", UNSUBSCRIBE, {"uri": "mgp://s/note:1"})
        client.hang_up()
        await client.settle()
    assert client.of(UPDATED) == []
    assert raw.of(UNSUBSCRIBE) == []


async def test_a_subscription_that_nobody_waits_for_any_more_ends_at_the_server() -> None:
    raw = full_server(resources_subscribe=NOTHING)
    first, second, third = RawClient(), RawClient(), RawClient()
    async with gateway_of({"s": raw}, first, second, third, limits=Limits(drain=0.01)):
        for number, client in enumerate((first, second), 1):
            client.say(id="s", method=SUBSCRIBE, params={"uri": f"mgp://s/note:{number}"})
            await raw.tells(SUBSCRIBE, number)
        first.say(method="notifications/cancelled", params={"requestId": "s"})
        await raw.tells(UNSUBSCRIBE)
        second.hang_up()
        assert await raw.wait_for(UNSUBSCRIBE, 2) == [{"uri": "note:1"}, {"uri": "note:2"}]
        raw.answers[SUBSCRIBE] = {}
        assert (await third.ask("s", SUBSCRIBE, {"uri": "mgp://s/note:3"}))["result"] == {}
        raw.answers[SUBSCRIBE] = {"code": -32603, "message": "not now"}
        assert "error" in await third.ask("again", SUBSCRIBE, {"uri": "mgp://s/note:3"})
        await raw.tells(UNSUBSCRIBE, 3)
        for number in (1, 2, 3):
            raw.say(method=UPDATED, params={"uri": f"note:{number}"})
        await third.ask("p", "ping")
    assert [*first.of(UPDATED), *second.of(UPDATED), *third.of(UPDATED)] == []


async def test_a_server_that_comes_back_is_subscribed_to_again_while_clients_stay() -> None:
    kernel, client = MgpKernel(), RawClient()
    host = Host("h", "1", extensions=[kernel])
    gateway = Gateway(kernel, host, level="L0")
    with anyio.fail_after(10):
        async with host, anyio.create_task_group() as tasks:
            raw = full_server("old")
            await host.connect(raw, server_id="s")
            tasks.start_soon(gateway.server.serve, client)
            await client.greet(None)
            await client.ask(1, SUBSCRIBE, {"uri": "mgp://s/note:1"})
            await client.ask("level", "logging/setLevel", {"level": "debug"})
            raw.hang_up()
            await client.tells("notifications/prompts/list_changed")
            for method in ("tools/list", "prompts/list", "resources/list"):
                [entries] = (await client.ask(method, method))["result"].values()
                assert entries == []
            raw = full_server("new")
            await host.connect(raw, server_id="s")
            await client.tells(UPDATED)
            assert client.of(UPDATED) == [{"uri": "mgp://s/note:1"}]
            assert raw.of(SUBSCRIBE) == [{"uri": "note:1"}]
            assert raw.of("logging/setLevel") == [{"level": "debug"}]
            assert "result" in await client.ask(2, "tools/call", {"name": "s__new"})
            assert (await client.ask(3, "tools/call", {"name": "s__old"}))["error"][
                "code"
            ] == -32602
            tasks.cancel_scope.cancel()
