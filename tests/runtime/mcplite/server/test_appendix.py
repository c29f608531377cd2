"""Appendix A, played over both bindings of one service in one process: the same results."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import anyio
import pytest

from kinwire import Server
from kinwire.mcplite import LiteServer
from tests.runtime.mcplite.fixtures_grpc import (
    Json,
    Peer,
    connected,
    details_of,
)
from tests.runtime.mcplite.server.http.fixtures_lite import caller_at

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True),
]

_VOLATILE = {"timestamp", "processing_time_ms", "server_version", "promise_token", "expires_at"}
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Service:
    """The tools of the appendix."""

    def __init__(self) -> None:
        self.server = server = Server("appendix", "1.0")
        self.go_on = anyio.Event()

        @server.tool(type="query")
        async def search_documents(query: str, limit: int = 10) -> list[Json]:
            """Search through available documents."""
            found = {"document_id": "doc_123", "title": query, "limit": limit}
            return [found]

        @server.tool(promise_after=0)
        async def analyze_dataset(
            dataset_id: str, analysis_type: Literal["comprehensive", "quick"]
        ) -> Json:
            """Analyze a dataset."""
            await self.go_on.wait()
            return {"dataset": dataset_id, "analysis": analysis_type}

        @server.tool
        async def generate_report(topic: str) -> Any:
            """Write a report."""
            yield "Quarterly Report\n\nExecutive Summary"
            yield "\n\nRevenue for Q4 increased by 15%..."


async def both(service: LiteServer, peer: Peer, name: str, arguments: Json) -> tuple[Json, Json]:
    """Return the results of one call over HTTP and over gRPC, in the same form."""
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": "call-001", "method": "tools/call", "params": params}
    answer = (await caller_at(service.asgi()).post(body)).json
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", "call-001")
    return answer["result"], of_grpc(await peer.call(name, arguments))


def of_grpc(response: Json) -> Json:
    """Return a `ToolResponse` in the form that HTTP has."""
    meta = dict(response["meta"])
    meta["response_type"] = meta.get("response_type", "ANSWER").lower()
    return {**response.get("result", {}), "_meta": meta}


def settled(result: Json) -> Json:
    """Return a result without what differs from call to call."""
    meta = {name: value for name, value in result["_meta"].items() if name not in _VOLATILE}
    return {**result, "_meta": meta}


@pytest.mark.spec("mcp-lite-2.1-1", "mcp-lite-6-3")
async def test_every_call_of_the_appendix_has_one_result_over_both_bindings() -> None:
    tools = Service()
    service = LiteServer(tools.server)
    async with connected(service) as peer:
        call = {"query": "MCP specification", "limit": 5}
        web, rpc = await both(service, peer, "search_documents", call)
        assert settled(web) == settled(rpc)
        assert web["content"][0]["limit"] == 5
        assert _ISO.fullmatch(web["_meta"]["timestamp"])
        assert int(rpc["_meta"]["timestamp"]) > 1_700_000_000_000
        call = {"dataset_id": "large_dataset_001", "analysis_type": "comprehensive"}
        web, rpc = await both(service, peer, "analyze_dataset", call)
        assert web["_meta"]["response_type"] == rpc["_meta"]["response_type"] == "promise"
        assert web["_meta"].keys() == rpc["_meta"].keys() | {"processing_time_ms"}
        tools.go_on.set()
        # Each promise is redeemed over the binding that did not make it.
        for token in (web["_meta"]["promise_token"], rpc["_meta"]["promise_token"]):
            *_, last = await peer.stream("redeem", {"promise": token})
            assert of_grpc(last)["_meta"]["response_type"] == "answer"
            redeemed = await both(service, peer, "redeem", {"promise": token})
            assert settled(redeemed[0]) == settled(redeemed[1])
            assert redeemed[0]["content"] == [
                {"dataset": "large_dataset_001", "analysis": "comprehensive"}
            ]
    await service.close()


@pytest.mark.spec("mcp-lite-1-2", "mcp-lite-2.1-2", "mcp-lite-2.1-3")
async def test_tools_streams_and_errors_of_the_appendix_are_the_same_over_both_bindings() -> None:
    service = LiteServer(Service().server)
    app = service.asgi()
    async with connected(service) as peer:
        web = (await caller_at(app, "/tools").post({})).json["tools"]
        rpc = await peer.tools()
        assert [tool["name"] for tool in web] == [tool["name"] for tool in rpc]
        assert web[0]["@type"] == rpc[0]["type"] == "system"
        assert web[1]["inputSchema"] == rpc[1]["input_schema"]
        params = {"name": "generate_report", "arguments": {"topic": "quarterly results"}}
        body = {"jsonrpc": "2.0", "id": "stream-001", "method": "tools/call", "params": params}
        streaming = caller_at(app, "/rpc", accept="text/event-stream")
        events = [json.loads(one.data) for one in (await streaming.post(body)).events]
        parts = await peer.stream("generate_report", {"topic": "quarterly results"})
        assert events[:-1] == [one["result"] for one in parts[:-1]]
        assert events[-1].pop("id") == "stream-001"
        assert settled(events[-1]) == settled(of_grpc(parts[-1]))
        params = {"name": "nonexistent_tool", "arguments": {}}
        error = (await caller_at(app).post({**body, "params": params})).json["error"]
        facts = details_of(await peer.refusal("nonexistent_tool"))[2]
        assert error["code"] == int(facts["code"]) == -32601
        assert error["data"]["available_tools"] == json.loads(facts["available_tools"])
