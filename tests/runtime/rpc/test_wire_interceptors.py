"""What stands around the wire of a session: nothing of its method leaves without it."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.rpc.errors import SessionStateError
from kinwire.rpc.interceptors import Send
from kinwire.rpc.request import Request
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import TOOLS_CALL
from tests.runtime.rpc.fixtures_sessions import TOOL, connected, tool, tool_text

pytestmark = pytest.mark.anyio


async def echo(params: mcp.CallToolRequestParams, request: Request) -> mcp.CallToolResult:
    return tool_text(str(params.arguments))


async def test_every_path_of_a_request_passes_what_is_around_the_wire() -> None:
    log: list[str] = []

    def passing(name: str) -> Any:
        async def passed(params: JsonObject, send: Send) -> Any:
            log.append(name)
            result = await send({**params, "arguments": {"by": name, **params["arguments"]}})
            result["content"][0]["text"] += name
            return result

        return passed

    async with connected(tool(echo)) as peers:
        peers.client.intercept_wire(TOOLS_CALL.name, passing("outer"))
        peers.client.intercept_wire(TOOLS_CALL.name, passing("inner"))

        async def earlier(params: mcp.CallToolRequestParams, method: Any, go_on: Any) -> Any:
            return await go_on(params.model_copy(update={"arguments": {"own": 1}}))

        peers.client.intercept_outbound(earlier, TOOLS_CALL)
        typed = await peers.client.call(TOOLS_CALL, TOOL)
        body: JsonObject = {"name": "tool", "arguments": {"raw": [1]}}
        raw = await peers.client.raw(TOOLS_CALL.name, body)
        with pytest.raises(SessionStateError, match="as a request only"):
            await peers.client.raw_notify(TOOLS_CALL.name, body)
        with pytest.raises(SessionStateError, match="as a request only"):
            await peers.client.notify(TOOLS_CALL, TOOL)
        await peers.client.raw("ping")
    assert typed == tool_text("{'by': 'outer', 'own': 1}innerouter")
    assert raw["content"][0]["text"] == "{'by': 'outer', 'raw': [1]}innerouter"
    assert body == {"name": "tool", "arguments": {"raw": [1]}}
    assert log == ["outer", "inner"] * 2
    assert peers.sent_by(0) == ["tools/call", "tools/call", "ping"]


async def test_it_may_send_nothing_or_several_times_and_gets_a_copy_of_raw_params() -> None:
    body: JsonObject = {"name": "tool", "arguments": {"deep": {"value": 1}}}

    async def twice(params: JsonObject, send: Send) -> Any:
        body["arguments"]["deep"]["value"] = 2  # after the call has begun
        if params.get("name") == "none":
            return {"content": []}
        await send(params)
        return await send(params)

    async with connected(tool(echo)) as peers:
        peers.client.intercept_wire(TOOLS_CALL.name, twice)
        assert await peers.client.raw(TOOLS_CALL.name, {"name": "none"}) == {"content": []}
        body["arguments"]["deep"]["value"] = 1
        answer = await peers.client.raw(TOOLS_CALL.name, body)
    assert answer["content"][0]["text"] == "{'deep': {'value': 1}}"
    assert peers.sent_by(0) == ["tools/call", "tools/call"]
