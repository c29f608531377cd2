"""Whole conversations with a server that once broke others."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.server import Server
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from tests.runtime.mcp.fake_client import RawClient, raw_client

pytestmark = pytest.mark.anyio


async def code_of(client: RawClient, method: str, params: dict[str, Any] | None = None) -> int:
    with pytest.raises(RpcError) as caught:
        await client.session.raw(method, params)
    return caught.value.code


def with_tool() -> Server:
    server = Server("s", "1", log_level=None)

    @server.tool
    async def report(context: Context) -> None:
        for step in (1, 1, 0, 2, 3):
            await context.progress(step)

    return server


async def test_unknown_methods_unknown_tools_and_bad_params_have_own_codes() -> None:
    async with raw_client(with_tool()) as client:
        await client.greet()
        assert await code_of(client, "totally/unknown") == -32601
        assert await code_of(client, "logging/setLevel", {"level": "info"}) == -32601
        assert await code_of(client, "tools/call", {}) == -32602
        assert await code_of(client, "tools/call", {"name": "no_such_tool"}) == -32602


async def test_a_request_before_the_handshake_is_an_error_and_no_more() -> None:
    async with raw_client(with_tool()) as client:
        assert await code_of(client, "tools/list") == -32600
        assert await client.session.raw("ping") == {}
        await client.greet()
        assert len((await client.session.raw("tools/list"))["tools"]) == 1
        again = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {}}
        info = {"name": "x", "version": "1"}
        assert await code_of(client, "initialize", {**again, "clientInfo": info}) == -32600
        assert len((await client.session.raw("tools/list"))["tools"]) == 1


async def test_a_handshake_without_a_version_is_invalid() -> None:
    async with raw_client(with_tool()) as client:
        params = {"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        assert await code_of(client, "initialize", params) == -32602


@pytest.mark.parametrize("token", [0, "p", "", 2**63])
async def test_progress_carries_the_token_it_was_asked_for_with_and_rises(token: int | str) -> None:
    async with raw_client(with_tool()) as client:
        await client.greet()
        call = {"name": "report", "_meta": {"progressToken": token}}
        await client.session.raw("tools/call", call)
        reports = client.received("notifications/progress")
        assert [report["progress"] for report in reports] == [1, 2, 3]
        assert [report["progressToken"] for report in reports] == [token] * 3
        assert "result" in client.heard[-1]


async def test_progress_that_nobody_asked_for_is_not_sent() -> None:
    async with raw_client(with_tool()) as client:
        await client.greet()
        await client.session.raw("tools/call", {"name": "report"})
        assert client.received("notifications/progress") == []


async def test_a_client_may_ask_for_the_list_while_the_call_that_changed_it_runs() -> None:
    server, host, seen = Server("s", "1"), Host("h", "1"), list[list[str]]()
    asked = anyio.Event()

    @server.tool
    async def grow() -> None:
        server.tool(name="new")(grow)
        await asked.wait()

    @host.on.notifications_tools_list_changed
    async def changed(params: mcp.NotificationParams, context: Context) -> None:
        listed = await mcp.ServerStub(context.session).tools_list()
        seen.append([tool.name for tool in listed.tools])
        asked.set()

    with anyio.fail_after(20):
        async with pair(server, host) as client:
            await client.mcp.tools_call(name="grow")
    assert seen == [["grow", "new"]]
