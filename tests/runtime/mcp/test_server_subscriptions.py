"""Subscriptions: who hears of which resource, how often, and where that ends."""

from __future__ import annotations

import anyio
import pytest

from kinwire.mcp.rules.subscriptions import MAX_SUBSCRIPTIONS
from kinwire.mcp.server import Server
from kinwire.testing import pair
from kinwire_protocols.base import RpcError
from kinwire_protocols.mcp.errors import ResourceNotFoundError
from tests.runtime.mcp.fake_client import RawClient, raw_client

pytestmark = pytest.mark.anyio

UPDATED = "notifications/resources/updated"


@pytest.fixture
def server() -> Server:
    server = Server("s", "1")

    @server.resource("x:all")
    def everything() -> str:
        return ""

    @server.resource("x:{id}")
    def one(id: str) -> str:
        return id

    @server.tool
    def touch(uri: str) -> None:
        server.resource_updated(uri)

    return server


async def subscribe(client: RawClient, *uris: str) -> None:
    for uri in uris:
        assert await client.session.raw("resources/subscribe", {"uri": uri}) == {}


async def uris_heard(client: RawClient) -> list[str]:
    await client.session.raw("ping")
    return [params["uri"] for params in client.received(UPDATED)]


@pytest.mark.spec("mcp-resource-subscriptions-1", "mcp-resource-subscriptions-2")
async def test_only_sessions_that_subscribed_hear_of_a_change(server: Server) -> None:
    async with raw_client(server) as first, raw_client(server) as second:
        for client in (first, second):
            resources = (await client.greet())["capabilities"]["resources"]
            assert resources == {"listChanged": True, "subscribe": True}
        await subscribe(first, "x:all", "x:1")
        await subscribe(second, "x:1")
        for uri in ("x:all", "x:1", "x:2"):
            server.resource_updated(uri)
        assert await uris_heard(first) == ["x:all", "x:1"]
        assert await uris_heard(second) == ["x:1"]
        await first.session.raw("resources/unsubscribe", {"uri": "x:1"})
        await first.session.raw("resources/unsubscribe", {"uri": "x:never"})
        server.resource_updated("x:1")
        assert await uris_heard(first) == ["x:all", "x:1"]
        assert await uris_heard(second) == ["x:1", "x:1"]


async def test_changes_before_the_notification_are_merged(server: Server) -> None:
    async with raw_client(server) as client:
        await client.greet()
        await subscribe(client, "x:1", "x:1")
        for _ in range(1000):
            server.resource_updated("x:1")
        assert await uris_heard(client) == ["x:1"]
        server.resource_updated("x:1")
        assert await uris_heard(client) == ["x:1", "x:1"]


async def test_what_cannot_be_read_cannot_be_subscribed_to(server: Server) -> None:
    async with pair(server) as client:
        for uri in ("y:1", "x:a/b"):
            with pytest.raises(ResourceNotFoundError) as caught:
                await client.mcp.resources_subscribe(uri=uri)
            assert caught.value.data["uri"] == uri


async def test_there_is_an_end_to_the_subscriptions_of_a_session(server: Server) -> None:
    async with raw_client(server) as client, raw_client(server) as other:
        await client.greet()
        await other.greet()
        await subscribe(client, *(f"x:{number}" for number in range(MAX_SUBSCRIPTIONS)))
        with pytest.raises(RpcError, match="expected at most 1000 subscriptions") as caught:
            await client.session.raw("resources/subscribe", {"uri": "x:more"})
        assert caught.value.code == -32602
        await subscribe(client, "x:0")
        await subscribe(other, "x:more")


async def test_a_change_may_be_reported_from_the_thread_of_a_tool(server: Server) -> None:
    async with raw_client(server) as client:
        await client.greet()
        await subscribe(client, "x:1")
        await client.session.raw("tools/call", {"name": "touch", "arguments": {"uri": "x:1"}})
        assert await uris_heard(client) == ["x:1"]


async def test_subscriptions_end_with_their_session(server: Server) -> None:
    async with raw_client(server) as client:
        await client.greet()
        await subscribe(client, "x:1")
    server.resource_updated("x:1")
    async with raw_client(server) as client:
        await client.greet()
        server.resource_updated("x:1")
        assert await uris_heard(client) == []


async def test_a_host_hears_of_what_it_subscribed_to(server: Server) -> None:
    async with pair(server) as client, client.subscription("x:1") as updates:
        server.resource_updated("x:1")
        with anyio.fail_after(20):
            assert await anext(updates) == "x:1"
