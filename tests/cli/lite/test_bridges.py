"""The two bridges between MCP and MCP-lite, without a process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Host, LiteServer, Server, ToolError
from kinwire.mcplite import ToolCall
from kinwire.testing import pair
from kinwire_cli.lite.service import LiteBridge, mcp_result
from kinwire_cli.lite.upstream import UpstreamTools
from kinwire_protocols.base import RpcError, to_wire
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from kinwire_protocols.mcplite.errors import ToolNotFoundError
from tests.each import each
from tests.runtime.mcp.http_client.fake_server import Asked, Line
from tests.runtime.mcplite.client.fixtures_raw import of, result_of

pytestmark = pytest.mark.anyio


def upstream() -> Server:
    """Return an MCP server with a tool of each kind."""
    server = Server("up", "2.0")

    @server.tool(type="math")
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    def broken() -> str:
        raise ToolError("It is broken.")

    @server.tool
    async def slow() -> str:
        await anyio.sleep(0.05)
        return "done"

    return server


@asynccontextmanager
async def behind(
    server: Server, after: float | None = None
) -> AsyncGenerator[tuple[LiteServer, UpstreamTools]]:
    """Yield a server of MCP-lite in front of an MCP server."""
    async with Host("bridge", "1") as host:
        source = UpstreamTools(await host.connect(server), after)
        lite = LiteServer(source)
        yield lite, source
        await lite.close()


async def test_the_tools_of_an_mcp_server_are_listed_and_called_over_mcp_lite() -> None:
    async with behind(upstream()) as (lite, _):
        tools = (await lite.list_tools())["tools"]
        assert [(one["name"], one.get("@type")) for one in tools] == [
            ("add", "math"),
            ("broken", None),
            ("slow", None),
        ]
        assert await lite.list_tools() is await lite.list_tools()
        answer = await lite.call(ToolCall("add", {"a": 1, "b": 2}))
        assert answer["content"] == [{"type": "text", "text": "3"}]
        assert answer["_meta"]["response_type"] == "answer"
        assert answer["_meta"]["server_version"] == "2.0"
        failure = await lite.call(ToolCall("broken"))
        assert failure["_meta"]["response_type"] == "failure"
        assert failure["error"] == {"code": "TOOL_FAILED", "message": "It is broken."}
        with pytest.raises(ToolNotFoundError) as unknown:
            await lite.call(ToolCall("ad"))
        assert unknown.value.data["suggestion"] == "Did you mean 'add'?"
        with pytest.raises(InvalidParamsError):
            await lite.call(ToolCall("add", {"a": "x", "b": 2}))


async def test_calls_of_an_mcp_server_that_take_long_become_promises() -> None:
    async with behind(upstream(), 0.0) as (lite, _):
        tools = (await lite.list_tools())["tools"]
        assert tools[0]["name"] == "redeem"
        promise = await lite.call(ToolCall("slow"))
        assert promise["_meta"]["response_type"] == "promise"
        token = promise["_meta"]["promise_token"]
        with anyio.fail_after(5):
            result = promise
            while result["_meta"]["response_type"] == "promise":
                result = await lite.call(ToolCall("redeem", {"promise": token}))
                await anyio.sleep(0.01)
        assert result["content"] == [{"type": "text", "text": "done"}]


async def test_a_list_that_has_changed_is_read_again() -> None:
    server = upstream()
    async with behind(server) as (lite, source), anyio.create_task_group() as tasks:
        tasks.start_soon(source.follow)
        await lite.list_tools()
        await anyio.wait_all_tasks_blocked()
        server.remove_tool("broken")
        with anyio.fail_after(5):
            while len((await lite.list_tools())["tools"]) == 3:
                await anyio.lowlevel.checkpoint()
        with pytest.raises(ToolNotFoundError):
            await lite.call(ToolCall("broken"))
        tasks.cancel_scope.cancel()


async def test_an_mcp_server_that_has_gone_is_an_internal_error() -> None:
    async with Host("bridge", "1") as host:
        connection = await host.connect(upstream())
        lite = LiteServer(UpstreamTools(connection, None))
        await lite.list_tools()
        await connection.session.aclose()
        with pytest.raises(InternalError, match="did not answer"):
            await lite.call(ToolCall("add", {"a": 1, "b": 2}))


# -- a service of MCP-lite as an MCP server --

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
TOOLS = [
    {"name": "redeem", "@type": "system", "description": "Redeem", "inputSchema": {}},
    {"name": "one", "@type": "query", "description": "One", "inputSchema": SCHEMA},
    {"name": "two", "description": "Two", "inputSchema": {}},
]


class Service:
    """A raw service: each tool answers with what `results` has for it, in order."""

    def __init__(self, *results: Any) -> None:
        self.results = list(results)
        self.tools = list(TOOLS)
        self.params: list[dict[str, Any]] = []
        self.cancelled = anyio.Event()

    async def handle(self, asked: Asked, line: Line) -> None:
        if asked.target.endswith("listtools"):
            await line.json({"tools": self.tools})
            return
        self.params.append(asked.message["params"])
        if "action" in self.params[-1]["arguments"]:
            self.cancelled.set()
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        name = "error" if "code" in result else "result"
        await line.json({"jsonrpc": "2.0", "id": asked.message["id"], name: result})


@asynccontextmanager
async def bridged(service: Service) -> AsyncGenerator[tuple[Any, LiteBridge]]:
    """Yield an MCP client of the bridge to a raw service."""
    async with of(service.handle) as (client, _):
        bridge = LiteBridge(client)
        await bridge.refresh()
        async with pair(bridge.server) as mcp_client:
            yield mcp_client, bridge


async def test_the_tools_of_a_service_are_listed_over_mcp_without_redeem() -> None:
    service = Service({})
    async with bridged(service) as (client, bridge):
        listed = (await client.session.raw("tools/list"))["tools"]
        assert listed == [TOOLS[1], {**TOOLS[2], "inputSchema": {"type": "object"}}]
        service.tools = [{**TOOLS[1], "description": "Another"}, {**TOOLS[2], "name": "three"}]
        await bridge.refresh()
        listed = (await client.session.raw("tools/list"))["tools"]
        assert [(one["name"], one["description"]) for one in listed] == [
            ("one", "Another"),
            ("three", "Two"),
        ]


QUESTION = {"id": "style", "text": "Which style?", "options": ["short", "long"]}
SOON = {"promise_token": "p", "retry_after_ms": 1}


@each(
    ("results", "text", "is_error"),
    [
        ([result_of("answer", content=[{"type": "text", "text": "hello"}])], "hello", None),
        ([result_of("answer", content=[])], None, None),
        ([result_of("failure", error={"code": "X", "message": "Gone."})], "Gone.", True),
        (
            [result_of("elicitation", elicitation={"text": "Two.", "questions": [QUESTION]})],
            "Two.\n- style: Which style? (short, long)",
            True,
        ),
        (
            [
                result_of("promise", meta=SOON),
                result_of("promise", meta=SOON),
                result_of("answer", content=[{"type": "text", "text": "kept"}]),
            ],
            "kept",
            None,
        ),
        (
            [
                result_of("promise", meta=SOON),
                result_of("failure", error={"code": "X", "message": "Gone."}),
            ],
            "Gone.",
            True,
        ),
        (
            [result_of("request-for-more-resource", content=[{"type": "text", "text": "More"}])],
            "More",
            True,
        ),
        ([result_of("tea")], "The service answered with 'tea'.", True),
    ],
)
async def test_what_a_call_comes_to_is_a_result_of_mcp(
    results: list[Any], text: str | None, is_error: bool | None
) -> None:
    service = Service(*results)
    async with bridged(service) as (client, _):
        found = to_wire(await client.mcp.tools_call(name="one", arguments={"a": 1}))
    assert found["content"] == ([] if text is None else [{"type": "text", "text": text}])
    assert found.get("isError") == is_error
    assert service.params[0] == {"name": "one", "arguments": {"a": 1}}


async def test_an_error_of_the_service_is_one_of_mcp() -> None:
    unknown = {"code": -32601, "message": "Tool not found", "data": {"requested_tool": "one"}}
    refused = {"code": -32602, "message": "a is wrong"}
    async with bridged(Service(unknown, refused)) as (client, _):
        with pytest.raises(InvalidParamsError, match="Unknown tool: one"):
            await client.mcp.tools_call(name="one", arguments={})
        with pytest.raises(RpcError, match="a is wrong"):
            await client.mcp.tools_call(name="one", arguments={})


async def test_a_promise_that_nobody_waits_for_is_given_up() -> None:
    service = Service(result_of("promise", meta={"promise_token": "p", "retry_after_ms": 60_000}))
    async with bridged(service) as (client, _):
        with anyio.move_on_after(0.1):
            await client.mcp.tools_call(name="one", arguments={})
        with anyio.fail_after(5):
            await service.cancelled.wait()
    assert service.params[1] == {
        "name": "redeem",
        "arguments": {"promise": "p", "action": "cancel"},
    }


@each(
    ("content", "blocks", "structured"),
    [
        ([{"type": "text", "text": "a"}], [{"type": "text", "text": "a"}], None),
        (
            [{"document_id": "d", "n": 1}],
            [{"type": "text", "text": '{"document_id":"d","n":1}'}],
            {"content": [{"document_id": "d", "n": 1}]},
        ),
        (
            [{"type": "text"}, {"type": "text", "text": "a"}],
            [{"type": "text", "text": '{"type":"text"}'}, {"type": "text", "text": "a"}],
            {"content": [{"type": "text"}]},
        ),
        (
            [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
            [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
            None,
        ),
    ],
)
async def test_content_that_mcp_does_not_have_is_text_and_structured(
    content: list[Any], blocks: list[Any], structured: Any
) -> None:
    found = to_wire(mcp_result({"content": content}))
    assert found["content"] == blocks
    assert found.get("structuredContent") == structured
    kept = to_wire(mcp_result({"content": content, "structuredContent": {"x": 1}}))
    assert kept["structuredContent"] == {"x": 1}
