"""MCPE on one connection with MGP and MCP Live: each works, and errors keep their protocol."""

from __future__ import annotations

import pytest

from kinwire import Extension, Host, Server, pair
from kinwire.mcpe import EventRates, McpeClient, McpeServer, new_event
from kinwire.mcpl import McplHost, McplServer
from kinwire.mgp import MgpKernel, MgpServer
from kinwire_protocols import mcpe

pytestmark = pytest.mark.anyio

NOBODY = "00000000-0000-4000-8000-000000000000"


async def test_events_come_also_where_other_protocols_are_spoken() -> None:
    events, client = McpeServer(rates=EventRates(subscriptions=1.0)), McpeClient()
    spoken: list[Extension] = [
        McplServer(feature_sets={}),
        MgpServer(channels=["model.usage"]),
        events,
    ]
    server = Server("s", "1", extensions=spoken)
    host = Host("h", "1", extensions=[McplHost(), MgpKernel(), client])
    async with pair(server, host) as connection:
        async with client.subscribe(connection, ["a.*"]) as subscription:
            await events.publish(new_event("a.b"))
            assert (await anext(subscription)).type == "a.b"
            with pytest.raises(mcpe.SubscriptionNotFoundError):
                await client.of(connection).unsubscribe(NOBODY)
            with pytest.raises(mcpe.SubscriptionLimitReachedError, match="too often"):
                async with client.subscribe(connection):
                    pass
        names = [tool.name async for tool in connection.tools()]
    assert "events_subscribe" in names
