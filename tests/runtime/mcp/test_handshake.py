"""The first three messages of a session, and what either side may send around them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinwire.mcp.host import Host
from kinwire.mcp.server import Server
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.testing import pair
from kinwire_protocols import mcp

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mcp-lifecycle-specification-1", "mcp-initialized-notification-1")
async def test_a_session_begins_with_three_messages_and_ends_with_its_transport() -> None:
    async with pair(Server("s", "1"), Host("h", "1")) as client:
        await client.mcp.ping()
        frames: list[tuple[str, Any]] = [
            (frame.sender, json.loads(frame.data)) for frame in client.frames
        ]
    assert [(sender, message.get("method")) for sender, message in frames[:4]] == [
        ("client", "initialize"),
        ("server", None),
        ("client", "notifications/initialized"),
        ("client", "ping"),
    ]
    assert frames[1][1]["id"] == frames[0][1]["id"]
    with pytest.raises(ConnectionClosedError):
        await client.mcp.ping()


@pytest.mark.spec("mcp-ping-1")
async def test_either_side_may_ping_the_other() -> None:
    server = Server("s", "1")

    @server.on.notifications_roots_list_changed
    async def changed(params: mcp.NotificationParams, context: Any) -> None:
        answered.append(await mcp.ClientStub(context.session).ping())

    answered: list[mcp.EmptyResult] = []
    async with pair(server, Host("h", "1", roots=[])) as client:
        answered.append(await client.mcp.ping())
        await client.session.raw_notify("notifications/roots/list_changed")
        await client.mcp.ping()
    assert answered == [mcp.EmptyResult(), mcp.EmptyResult()]
