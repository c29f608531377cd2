"""What stands around the wire of a session: nothing of its method leaves without it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

from kinwire.rpc.errors import SessionStateError, UnsendableError
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


# What JSON is written of without being JSON, and what the peer reads.
WRITTEN: dict[str, tuple[Callable[[], Any], Any]] = {
    "tuple": (lambda: ("a", ("b",)), ["a", ["b"]]),
    "set": (lambda: {"a"}, ["a"]),
    "frozenset": (lambda: frozenset("a"), ["a"]),
    "bytes": (lambda: b"a", "a"),
    "iterator": (lambda: iter(["a"]), ["a"]),
    "mapping": (lambda: OrderedDict(a=1), {"a": 1}),
    "model": (lambda: mcp.CallToolRequestParams(name="a"), {"name": "a"}),
    "key": (lambda: {1: "a"}, {"1": "a"}),
}


async def test_it_gets_what_the_peer_would_read() -> None:
    seen: list[Any] = []

    async def look(params: JsonObject, send: Send) -> Any:
        seen.append(params["arguments"]["value"])
        return await send(params)

    async with connected(tool(echo)) as peers:
        peers.client.intercept_wire(TOOLS_CALL.name, look)
        for make, read in WRITTEN.values():
            params = mcp.CallToolRequestParams(name="tool", arguments={"value": make()})
            typed = await peers.client.call(TOOLS_CALL, params)
            body: JsonObject = {"name": "tool", "arguments": {"value": make()}}
            raw = await peers.client.raw(TOOLS_CALL.name, body)
            assert typed == tool_text(str({"value": read}))
            assert raw["content"][0]["text"] == str({"value": read})
            assert seen == [read, read]
            assert type(seen[0]) is type(read)
            seen.clear()
        deep: list[Any] = []
        for _ in range(5000):
            deep = [deep]
        for value in (10**5000, deep, float("nan"), "\ud800", object()):
            with pytest.raises(UnsendableError):
                await peers.client.raw(TOOLS_CALL.name, {"name": "x", "arguments": {"v": value}})
    assert seen == []
    assert peers.sent_by(0) == ["tools/call"] * 2 * len(WRITTEN)


async def test_everything_around_the_wire_may_hear_the_id_of_a_request() -> None:
    heard: list[tuple[str, int]] = []

    def hearing(name: str) -> Any:
        async def passed(params: JsonObject, send: Send) -> Any:
            return await send(params, on_id=lambda id: heard.append((name, id)))

        return passed

    async def silent(params: JsonObject, send: Send) -> Any:
        return await send(params)

    async with connected(tool(echo)) as peers:
        for one in (hearing("outer"), silent, hearing("inner")):
            peers.client.intercept_wire(TOOLS_CALL.name, one)
        await peers.client.call(TOOLS_CALL, TOOL, on_id=lambda id: heard.append(("caller", id)))
        await peers.client.raw(TOOLS_CALL.name, {"name": "tool"})
    assert sorted(heard) == [
        *(("caller", 1), ("inner", 1), ("inner", 2)),
        *(("outer", 1), ("outer", 2)),
    ]
