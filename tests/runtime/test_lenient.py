"""Lenient readings of messages and tool arguments, against peers that send bytes by hand."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

import pytest

from kinwire import Context, Host, InvalidResponseError, RpcError, Server, connect, pair
from kinwire.mcp.extension import ExtensionBase
from kinwire.mcp.rules.json_schema import JsonSchema
from kinwire.mcp.rules.json_schema_lenient import corrected
from kinwire.rpc.session import Session
from kinwire_protocols import mcp, mcpe
from kinwire_protocols.base import JsonObject, UnknownVariant, from_wire
from tests.each import each
from tests.runtime.mcp.fake_client import raw_client
from tests.runtime.mcp.http.fake_asgi_client import Client, message
from tests.runtime.mcp.http_client.fake_server import (
    GREETING,
    Asked,
    Line,
    RawServer,
    polite,
    reply_to,
)
from tests.runtime.rpc.engine.fixtures_engine import Bench

pytestmark = pytest.mark.anyio


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if "read leniently" in one.getMessage()]


def test_a_null_next_to_a_result_or_an_error_is_absent(  # C010
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", "kinwire.session")
    bench = Bench()
    first, second, third = bench.called(), bench.called(), bench.called()
    frame = b'{"jsonrpc":"2.0","id":%d,"result":{"n":1},"error":null}'
    bench.engine.feed(frame % first.id)
    error = b'{"jsonrpc":"2.0","id":%d,"result":null,"error":{"code":-32000,"message":"no oven"}}'
    bench.engine.feed(error % second.id)
    bench.engine.feed(frame % third.id)
    assert bench.settled[first.id] == (bench.settled[third.id]) == ({"n": 1}, None)
    failure = bench.settled[second.id].error
    assert isinstance(failure, RpcError)
    assert (failure.code, failure.message) == (-32000, "no oven")
    assert [text.split(")")[0] for text in logged(caplog)] == [
        "read leniently (null-error",
        "read leniently (null-result",
    ]


@each(
    "body",
    [
        b'"result":{},"error":{"code":1,"message":"m"}',
        b'"result":null,"error":null',
        b'"error":null',
        b'"result":5,"error":null',
    ],
)
def test_other_responses_with_both_stay_errors(body: bytes) -> None:  # C010
    bench = Bench()
    call = bench.called()
    bench.engine.feed(b'{"jsonrpc":"2.0","id":%d,%b}' % (call.id, body))
    assert bench.settled[call.id].error is not None


@pytest.mark.parametrize("params", [b"null", b"[]"])
def test_params_that_are_null_or_an_empty_array_are_absent(  # C011
    params: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "kinwire.session")
    bench = Bench()
    bench.engine.feed(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":%b}' % params)
    bench.engine.feed(b'{"jsonrpc":"2.0","id":2,"method":"ping","params":%b}' % params)
    assert [work.id for work in bench.started] == [1, 2]
    assert len(logged(caplog)) == 1
    got = "null" if params == b"null" else "an array"
    place = f"ping#: expected an object, got {got}"
    assert bench.engine.counts.lenient == {"absent-params": place}


@pytest.mark.parametrize("params", ["null", "[]"])
async def test_a_session_begins_with_a_notification_that_has_no_real_params(  # C011
    params: str,
) -> None:
    client = await Client(Server("s", "1").asgi()).begin()
    body = f'{{"jsonrpc":"2.0","method":"notifications/initialized","params":{params}}}'
    assert (await client.post(json.loads(body))).status == 202
    assert (await client.post(message("ping"))).status == 200


def counting() -> Server:
    server = Server("s", "1")

    @server.tool
    def count(n: int, context: Context, names: dict[str, list[int]] | None = None) -> str:
        return f"{n} {type(n).__name__} {names}"

    schema = {
        "type": "object",
        "properties": {
            "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "names": {"type": "object", "additionalProperties": {"type": "integer"}},
            "either": {"anyOf": [{"type": "array"}, {"type": "object"}]},
        },
    }

    async def raw(params: mcp.CallToolRequestParams, context: Context) -> str:
        return json.dumps(params.arguments)

    server.add_tool(from_wire(mcp.Tool, {"name": "raw", "inputSchema": schema}), raw)
    return server


async def text_of(client: Any, tool: str, **arguments: Any) -> str:
    result = await client.mcp.tools_call(name=tool, arguments=arguments)
    block = result.content[0]
    assert isinstance(block, mcp.TextContent)
    return block.text


async def test_arguments_of_a_function_are_read_leniently(  # C012, C014
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", "kinwire.session")
    async with pair(counting()) as client:
        assert await text_of(client, "count", n=5.0) == "5 int None"
        assert await text_of(client, "count", n=5, names=[]) == "5 int {}"
        assert await text_of(client, "count", n=5, names={"a": [1.0]}) == "5 int {'a': [1]}"
        assert len(logged(caplog)) == 2
        for wrong in ({"n": 5.5}, {"n": True}, {"n": 1, "names": [1]}):
            with pytest.raises(RpcError, match="/arguments/n") as caught:
                await text_of(client, "count", **wrong)
            assert caught.value.code == -32602


async def test_arguments_of_a_handler_are_read_leniently() -> None:  # C012, C014
    async with pair(counting()) as client:
        said = await text_of(client, "raw", n=5.0, names=[], either=[])
        assert json.loads(said) == {"n": 5, "names": {}, "either": []}
        assert '"n": 5,' in said
        assert json.loads(await text_of(client, "raw", names={"a": 2.0}))["names"] == {"a": 2}
        for wrong in ({"n": 5.5}, {"names": [1]}):
            with pytest.raises(RpcError, match="/arguments/n"):
                await text_of(client, "raw", **wrong)


TOO_LARGE = [
    ("count", '{"n":1e400}', "/arguments/n"),
    ("count", '{"n":5,"names":{"a":[-1e400]}}', "/arguments/names/a/0"),
    ("raw", '{"n":1e400}', "/arguments/n"),
    ("raw", '{"names":{"a":1e400}}', "/arguments/names/a"),
]


@pytest.mark.parametrize(("tool", "arguments", "pointer"), TOO_LARGE)
async def test_a_number_that_no_integer_is_as_large_as_is_refused_in_a_request(  # C012
    tool: str, arguments: str, pointer: str
) -> None:
    client = await Client(counting().asgi()).begin()
    frame = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
    answer = await client.request("POST", body=(frame % (tool, arguments)).encode())
    assert answer.json["error"]["code"] == -32602
    assert f"{pointer}: expected" in answer.json["error"]["message"]
    assert (await client.post(message("ping"))).json["result"] == {}


async def test_a_number_that_no_integer_is_as_large_as_is_refused_in_an_answer() -> None:  # C012
    async def listed(asked: Asked, line: Line) -> None:
        result = b'{"resources":[{"uri":"u","name":"n","size":%s}]}' % sizes.pop().encode()
        frame = b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (asked.message["id"], result)
        await line.status(200, frame, content_type="application/json")

    async def greet(asked: Asked, line: Line) -> None:
        await line.json(reply_to(asked, {**GREETING, "capabilities": {"resources": {}}}))

    sizes = ["5.0", "-1e400", "5.5", "1e400"]
    handler = polite(initialize=greet, resources_list=listed)
    async with RawServer.serving(handler) as server, connect(server.url) as client:
        for _ in range(3):
            with pytest.raises(InvalidResponseError, match="/resources/0/size: expected"):
                await client.mcp.resources_list()
        assert (await client.mcp.resources_list()).resources[0].size == 5


OTHER_OFFERS: list[Any] = [[1], 5, None, "x", True]


class Offering(ExtensionBase[Any]):
    """One side of MCP Events, which only says that it is there."""

    protocol = mcpe.PROTOCOL

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        return {"protocolVersion": "2025-01-01", "protocolName": "mcpe"}

    def join(self, session: Session, theirs: JsonObject) -> JsonObject:
        return theirs


@pytest.mark.parametrize("offered", [[], *OTHER_OFFERS])
async def test_an_offer_that_is_an_empty_array_is_an_empty_object_to_a_server(  # C014
    offered: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "kinwire.session")
    async with raw_client(Server("s", "1", extensions=[Offering()])) as client:
        answer = await client.greet({"experimental": {"mcpe": offered}})
    assert ("mcpe" in answer["capabilities"].get("experimental", {})) == (offered == [])
    place = "initialize#/capabilities/experimental/mcpe: expected an object, got an array"
    noted = [f"read leniently (empty-array): {place}"] if offered == [] else []
    assert logged(caplog) == noted


@pytest.mark.parametrize("offered", [[], *OTHER_OFFERS])
async def test_an_offer_that_is_an_empty_array_is_an_empty_object_to_a_host(  # C014
    offered: Any,
) -> None:
    async def greet(asked: Asked, line: Line) -> None:
        capabilities = {"experimental": {"mcpe": offered}}
        await line.json(reply_to(asked, {**GREETING, "capabilities": capabilities}))

    extension = Offering()
    async with (
        RawServer.serving(polite(initialize=greet)) as server,
        Host("h", "1", extensions=[extension]) as host,
    ):
        connection = await host.connect(server.url)
        found = extension.peer_of(connection.session)
        assert found == ({} if offered == [] else None)
        assert list(connection.session.counts.lenient) == ["empty-array"] * (offered == [])
        await connection.mcp.ping()


def test_what_a_schema_may_change_is_found_wherever_it_is() -> None:
    count, table = {"type": "integer"}, {"type": "object"}
    item = {"type": "object", "properties": {"n": count, "x": table}}
    list_of_items = {"type": "array", "items": item}
    schema = JsonSchema(
        {"type": "object", "properties": {"a": item, "b": list_of_items, "c": {"type": "number"}}}
    )
    for given, read in (
        ({"a": {"n": 5.0}}, {"a": {"n": 5}}),
        (
            {"b": [{"n": 1, "x": {}}, {"n": 2.0, "x": []}]},
            {"b": [{"n": 1, "x": {}}, {"n": 2, "x": {}}]},
        ),
        ({"c": 5.0, "b": [{"x": []}]}, {"c": 5.0, "b": [{"x": {}}]}),
    ):
        assert repr(corrected(schema, given)) == repr(read)
    unchanged: list[dict[str, Any]] = [
        {},
        {"a": {"n": 1}},
        {"c": 1.5, "b": [{"n": 5}]},
        {"c": 5.0},
        {"b": []},
        {"a": None},
    ]
    for same in unchanged:
        assert corrected(schema, same) is same


def test_a_schema_with_branches_in_a_circle_is_read_in_bounded_time() -> None:
    node: Any = {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}
    fields = {"type": "object", "properties": {"x": node, "n": {"type": "integer"}}}
    schema = JsonSchema({**node, "$defs": {"a": fields, "b": {**fields, "required": ["y"]}}})
    value: Any = {"n": "wrong"}
    for _ in range(60):
        value = {"x": value}
    began = time.perf_counter()
    assert corrected(schema, value) is value
    assert time.perf_counter() - began < 5


async def test_an_unknown_block_reaches_a_typed_caller_and_no_tool_can_return_it() -> None:  # C013
    server = Server("s", "1")
    blocks: list[Any] = []

    @server.tool
    def again() -> Any:
        return blocks[0]

    async def link(params: mcp.CallToolRequestParams, context: Context) -> mcp.CallToolResult:
        content = [{"type": "text", "text": "a"}, {"type": "resource_link", "uri": "u"}]
        return from_wire(mcp.CallToolResult, {"content": content})  # as a proxy hands it on

    server.add_tool(mcp.Tool(name="link", input_schema=mcp.ToolInputSchema(type="object")), link)
    async with pair(server) as client:
        result = await client.mcp.tools_call(name="link")
        assert isinstance(result.content[1], UnknownVariant)
        assert result.content[1].fields == {"type": "resource_link", "uri": "u"}
        blocks.append(result.content[1])
        with pytest.raises(RpcError):
            await client.mcp.tools_call(name="again")


@pytest.mark.parametrize("version", ["2026-07-28", "2025-06-18"])
async def test_a_header_with_another_version_is_logged_once_a_session(  # C015
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = Server("s", "1").asgi()
    for _ in range(2):
        client = await Client(app).begin()
        for _ in range(3):
            answer = await client.post(message("ping"), mcp_protocol_version=version)
            assert answer.status == 200
    warnings = [one for one in caplog.records if "MCP-Protocol-Version" in one.getMessage()]
    assert [one.levelno for one in warnings] == [logging.WARNING] * 2
    assert version in warnings[0].getMessage()
