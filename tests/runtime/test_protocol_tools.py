"""Tools that a protocol defines, between a server and a host of this project."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcp.server import Server
from kinwire.rpc.errors import ShapeError
from kinwire.testing import pair
from kinwire_protocols import mcp, mcpe
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.peer import Peer
from kinwire_protocols.tool_methods import ToolMethod

pytestmark = pytest.mark.anyio


class Tools(mcpe.ServerTools):
    async def events_subscribe(self, params: mcpe.EventsSubscribeParams) -> mcpe.Subscription:
        return mcpe.Subscription(
            id="s1",
            client_id="c1",
            filter=params.filter,
            delivery=params.delivery,
            status="active",
            created_at="2026-01-01T00:00:00Z",
            updated_at="2026-01-01T00:00:00Z",
        )

    async def events_pause(self, params: mcpe.EventsPauseParams) -> mcpe.EventsPauseResult:
        raise mcpe.SubscriptionNotFoundError


def serving(tools: mcpe.ServerTools) -> Server:
    server = Server("events", "1")

    async def call(params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        return from_wire(mcp.CallToolResult, await tools.call(params.name, params.arguments))

    for row in tools.served():
        server.add_tool(from_wire(mcp.Tool, row.definition), call)
    return server


async def test_a_host_calls_them_as_methods_and_gets_typed_results() -> None:
    wanted = mcpe.EventFilter(event_types=["github.*"])
    delivery = mcpe.DeliveryPreferences(channels=["realtime"])
    async with pair(serving(Tools())) as client:
        listed = [tool.name async for tool in client.tools()]
        events = mcpe.ServerStub(client.session)
        made = await events.events_subscribe(filter=wanted, delivery=delivery)
        with pytest.raises(mcpe.SubscriptionNotFoundError):
            await events.events_pause(subscription_id="s1")
        with pytest.raises(InvalidParamsError):
            await events.events_unsubscribe(subscription_id="s1")
    assert listed == ["events_subscribe", "events_pause"]
    assert (made.id, made.filter, made.delivery) == ("s1", wanted, delivery)


async def test_the_schema_of_a_tool_refuses_what_its_type_refuses() -> None:
    arguments: JsonObject = {"filter": {"eventTypes": 5}, "delivery": {"channels": []}}
    async with pair(serving(Tools())) as client:
        with pytest.raises(InvalidParamsError, match="/arguments/filter/eventTypes"):
            await client.mcp.tools_call(name="events_subscribe", arguments=arguments)


@pytest.mark.parametrize("row", mcpe.tools.TOOLS.values(), ids=mcpe.tools.TOOLS)
def test_every_tool_has_a_schema_that_a_server_can_check(row: ToolMethod[Any, Any]) -> None:
    server = Server("events", "1")

    async def never(params: mcp.CallToolRequestParams) -> None:
        raise AssertionError

    server.add_tool(from_wire(mcp.Tool, row.definition), never)


@pytest.mark.parametrize("through", ["session", "connection", "options"])
async def test_a_result_that_does_not_fit_fails_the_call_as_a_methods_does(through: str) -> None:
    server = Server("events", "1")

    async def pause(params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        said: JsonObject = {"content": [], "structuredContent": {"success": 7}}
        return from_wire(mcp.CallToolResult, said)

    server.add_tool(from_wire(mcp.Tool, mcpe.tools.EVENTS_PAUSE.definition), pause)
    async with pair(server) as client:
        peers: dict[str, Peer] = {
            "session": client.session,
            "connection": client,
            "options": client.session.with_options(timeout=5),
        }
        peer = peers[through]
        with pytest.raises(ShapeError) as caught:
            await mcpe.ServerStub(peer).events_pause(subscription_id="s1")
    told = (caught.value.where, caught.value.pointer, caught.value.got)
    assert told == ("events_pause", "/success", "7")
