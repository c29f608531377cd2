"""The exchanges of appendix A, over both bindings of one server: the same comes of each."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any, Protocol

import anyio
import grpc
import grpc.aio
import pytest
from pydantic import Field

from kinwire import Server
from kinwire.mcplite.server.service import LiteServer
from tests.runtime.mcplite.fixtures_grpc import Json, Peer, connected, details_of
from tests.runtime.mcplite.server.http.fixtures_lite import caller_at

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True),
]

OVERVIEW: Json = {
    "document_id": "doc_123",
    "title": "MCP Protocol Overview",
    "excerpt": "The Model Context Protocol enables...",
}
PIECES = ("Quarterly Report\n\nExecutive Summary", "\n\nRevenue for Q4 increased by 15%...")


SHOWN = ("requested_tool", "available_tools", "suggestion")  # in A.5; we say more over HTTP


class _Documents:
    """The server of the appendix."""

    def __init__(self) -> None:
        self.go = anyio.Event()
        server = Server("documents", "2.1")
        server.tool(type="query")(self.search_documents)
        server.tool(promise_after=0)(self.analyze_dataset)
        server.tool(self.generate_report)
        self.service = LiteServer(server)

    async def search_documents(
        self,
        query: Annotated[str, Field(description="Search query")],
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
    ) -> list[Json]:
        """Search through available documents"""
        assert (query, limit, type(limit)) == ("MCP specification", 5, int)
        return [OVERVIEW]

    async def analyze_dataset(self, dataset_id: str, analysis_type: str) -> Json:
        """Analyze"""
        await self.go.wait()
        return {"dataset_id": dataset_id, "analysis_type": analysis_type}

    async def generate_report(self, topic: str) -> Any:
        """Report"""
        assert topic == "quarterly results"
        for piece in PIECES:
            yield piece


class _Binding(Protocol):
    async def tools(self) -> list[Json]: ...
    async def call(self, name: str, arguments: Json) -> Json: ...
    async def stream(self, name: str, arguments: Json) -> list[Json]: ...
    async def refusal(self, name: str) -> Json: ...


class _Http:
    """The exchanges as the appendix writes them for HTTP, byte by byte as far as it goes."""

    def __init__(self, service: LiteServer) -> None:
        self._app = service.asgi()

    async def tools(self) -> list[Json]:
        answer = await caller_at(self._app, "/tools").post({})
        assert answer.status == 200
        return list(answer.json["tools"])

    async def call(self, name: str, arguments: Json) -> Json:
        return dict((await self._post("/calltools", name, arguments)).json["result"])

    async def stream(self, name: str, arguments: Json) -> list[Json]:
        answer = await self._post("/rpc", name, arguments, accept="text/event-stream")
        found = [(event.name, json.loads(event.data)) for event in answer.events]
        assert [kind for kind, _ in found] == ["message"] * (len(found) - 1) + ["done"]
        assert found[-1][1].pop("id") == "call-001"
        return [value for _, value in found]

    async def refusal(self, name: str) -> Json:
        error = (await self._post("/calltools", name, {})).json["error"]
        data = {key: value for key, value in error["data"].items() if key in SHOWN}
        return {"code": error["code"], "message": error["message"], **data}

    async def _post(self, path: str, name: str, arguments: Json, **headers: str) -> Any:
        params = {"name": name, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": "call-001", "method": "tools/call", "params": params}
        answer: Any = await caller_at(self._app, path, **headers).post(request)
        if hasattr(answer, "until"):
            await answer.until("ended")
        assert answer.status == 200
        return answer


class _Grpc:
    """The same with protoc's messages; what comes is put into the form of HTTP by hand."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def tools(self) -> list[Json]:
        names = {"type": "@type", "input_schema": "inputSchema"}
        listed = await self._peer.tools()
        return [{names.get(key, key): value for key, value in tool.items()} for tool in listed]

    async def call(self, name: str, arguments: Json) -> Json:
        return _as_http(await self._peer.call(name, arguments))

    async def stream(self, name: str, arguments: Json) -> list[Json]:
        return [_as_http(one) for one in await self._peer.stream(name, arguments)]

    async def refusal(self, name: str) -> Json:
        error: grpc.aio.AioRpcError = await self._peer.refusal(name)
        assert error.code() is grpc.StatusCode.NOT_FOUND
        assert error.details() == f"Tool not found: {name}"
        _, _, facts = details_of(error)
        names = json.loads(facts["available_tools"])
        return {
            **facts,
            "code": int(facts["code"]),
            "message": "Tool not found",
            "available_tools": names,
        }


def _as_http(response: Json) -> Json:
    if "meta" not in response:
        return dict(response["result"])
    meta: Json = response["meta"]
    word = meta.get("response_type", "ANSWER").lower()
    return {**response.get("result", {}), "_meta": {**meta, "response_type": word}}


def normalised(result: Mapping[str, Any]) -> Json:
    """Return a result without times and tokens, which differ from call to call."""
    meta = result["_meta"]
    assert meta["timestamp"]
    kept = {
        key: value if key in ("response_type", "server_version") else "some"
        for key, value in meta.items()
        if key not in ("timestamp", "processing_time_ms")
    }
    return {**result, "_meta": kept}


@asynccontextmanager
async def both(documents: _Documents) -> AsyncGenerator[list[_Binding]]:
    async with connected(documents.service) as peer:
        yield [_Http(documents.service), _Grpc(peer)]
        await documents.service.close()


def meta(kind: str, **fields: str) -> Json:
    return {"response_type": kind, "server_version": "2.1", **fields}


@pytest.mark.spec("mcp-lite-A-1", "mcp-lite-A.1-3", "mcp-lite-2.1-1")
async def test_tools_are_the_same_over_both() -> None:
    async with both(_Documents()) as bindings:
        http, over_grpc = [await one.tools() for one in bindings]
    assert http == over_grpc
    redeem, search, *_ = http
    assert (redeem["name"], redeem["@type"]) == ("redeem", "system")
    assert redeem["inputSchema"]["required"] == ["promise"]
    assert (search["name"], search["@type"]) == ("search_documents", "query")
    limit = search["inputSchema"]["properties"]["limit"]
    assert (limit["default"], limit["minimum"], limit["maximum"]) == (10, 1, 100)


@pytest.mark.spec("mcp-lite-A.2-1", "mcp-lite-A.2-3", "mcp-lite-A.2-4")
async def test_an_answer_is_the_same_over_both() -> None:
    async with both(_Documents()) as bindings:
        call = {"query": "MCP specification", "limit": 5}
        found = [normalised(await one.call("search_documents", call)) for one in bindings]
    assert found == [{"content": [OVERVIEW], "_meta": meta("answer")}] * 2


@pytest.mark.spec("mcp-lite-A.3-1", "mcp-lite-A.3-2", "mcp-lite-A.3-3")
async def test_a_promise_made_over_one_is_redeemed_over_the_other() -> None:
    documents = _Documents()
    call = {"dataset_id": "large_dataset_001", "analysis_type": "comprehensive"}
    async with both(documents) as bindings:
        made = [await one.call("analyze_dataset", call) for one in bindings]
        pending = [normalised(one) for one in made]
        assert pending[0] == pending[1]
        assert pending[0]["_meta"]["response_type"] == "promise"
        assert [key for key in pending[0] if key != "_meta"] == []
        tokens = [{"promise": one["_meta"]["promise_token"]} for one in made]
        other_way = list(zip(bindings, reversed(tokens), strict=True))
        still = [await one.call("redeem", token) for one, token in other_way]
        assert [one["_meta"]["promise_token"] for one in still] == [
            token["promise"] for token in reversed(tokens)
        ]
        documents.go.set()
        kept = [normalised((await one.stream("redeem", token))[-1]) for one, token in other_way]
        again = [normalised(await one.call("redeem", token)) for one, token in other_way]
    assert kept == again == [{"content": [call], "_meta": meta("answer")}] * 2


@pytest.mark.spec("mcp-lite-A.4-2", "mcp-lite-A.4-3", "mcp-lite-A.4-4")
async def test_a_stream_is_the_same_over_both() -> None:
    async with both(_Documents()) as bindings:
        call = {"topic": "quarterly results"}
        for one in bindings:
            *parts, last = await one.stream("generate_report", call)
            assert parts == [{"partial": piece} for piece in PIECES]
            whole = {"type": "text", "text": "".join(PIECES)}
            assert normalised(last) == {"content": [whole], "_meta": meta("answer")}


@pytest.mark.spec("mcp-lite-A.5-1", "mcp-lite-A.5-2", "mcp-lite-7.1-3")
async def test_an_unknown_tool_is_the_same_over_both() -> None:
    async with both(_Documents()) as bindings:
        for one in bindings:
            assert await one.refusal("search_document") == {
                "code": -32601,
                "message": "Tool not found",
                "requested_tool": "search_document",
                "available_tools": [
                    "redeem",
                    "search_documents",
                    "analyze_dataset",
                    "generate_report",
                ],
                "suggestion": "Did you mean 'search_documents'?",
            }
