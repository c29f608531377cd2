"""Streams whose response over HTTP breaks off: the tool waits until the kernel comes back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from kinwire import HttpLimits, Server
from kinwire.mgp import MgpServer
from tests.runtime.mcp.http.fake_asgi_client import Client, message

pytestmark = pytest.mark.anyio

OFFER = {"version": "0.2.0", "extensions": ["streaming"]}
CALL = {"name": "flood", "arguments": {}, "_mgp": {"stream": True}}


class Flood:
    """A server with a tool that yields for ever."""

    def __init__(self) -> None:
        self.made = 0
        self.closed = anyio.Event()
        self.server = Server("flood", "1", extensions=[MgpServer()])
        self.server.tool(self.flood)

    async def flood(self) -> AsyncIterator[str]:
        try:
            while True:
                self.made += 1
                yield "x" * 1000
        finally:
            self.closed.set()


async def test_a_tool_waits_for_a_kernel_whose_response_has_broken_off() -> None:
    flood = Flood()
    app = flood.server.asgi()
    client = await Client(app).begin(mgp=OFFER)
    async with client.open("POST", message("tools/call", 7, **CALL)) as response:
        first: Any = await response.event()
    await anyio.wait_all_tasks_blocked()
    made = flood.made
    for _ in range(100):
        await anyio.lowlevel.checkpoint()
    assert flood.made == made  # it does not go on for nobody
    async with client.open("GET", last_event_id=first.id) as response:
        chunk = await response.frame()
        assert chunk["params"]["index"] == 1
        while flood.made < made + 10:
            await response.event()
    assert not flood.closed.is_set()
    await app.aclose()
    assert flood.closed.is_set()


async def test_a_tool_ends_when_the_kernel_cannot_come_back() -> None:
    flood = Flood()
    app = flood.server.asgi(limits=HttpLimits(event_age=0.0))
    client = await Client(app).begin(mgp=OFFER)
    async with client.open("POST", message("tools/call", 7, **CALL)) as response:
        await response.event()
    with anyio.fail_after(5):
        await flood.closed.wait()
    await app.aclose()
