"""Messages of a session come in requests of their own, so one may overtake another."""

from __future__ import annotations

import anyio
import pytest

from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, message

pytestmark = pytest.mark.anyio


def cancel(id: object) -> dict[str, object]:
    params = {"requestId": id, "reason": "never mind"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


async def test_a_cancellation_that_comes_first_is_heeded(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    for id in (7, "7"):
        assert (await client.post(cancel(id))).status == 202
    with anyio.fail_after(10):  # `wait` would not end
        for id in (7, "7"):
            reply = await client.post(message("tools/call", id, name="wait", arguments={}))
            assert (reply.status, reply.body) == (202, b"")
    assert not tools.running
    echo = {"name": "echo", "arguments": {"text": "x"}}
    assert (await client.post(message("tools/call", 7, **echo))).answer["id"] == 7


async def test_a_cancellation_that_comes_too_late_stops_no_other_request(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    echo = {"name": "echo", "arguments": {"text": "x"}}
    for _ in range(2):
        assert (await client.post(message("tools/call", 7, **echo))).answer["id"] == 7
        await client.post(cancel(7))
