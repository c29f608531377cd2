"""The client of MCP-lite against raw servers over HTTP, on both event loops."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire.mcplite.client.client import LiteClient
from kinwire.mcplite.client.errors import UnknownToolError, error_from
from kinwire.mcplite.client.outcomes import (
    LiteAnswer,
    LiteFailure,
    LitePart,
    LiteResourceRequest,
    LiteUnknown,
)
from kinwire.rpc.errors import (
    ConnectionClosedError,
    InsecureAddressError,
    InvalidResponseError,
    RequestTimeoutError,
    RpcError,
    SessionStateError,
    ShapeError,
    UnsendableError,
)
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError, MethodNotFoundError
from kinwire_protocols.mcp import methods as mcp_methods
from tests.each import each
from tests.runtime.mcp.http_client.fake_server import Asked, Line, RawServer
from tests.runtime.mcplite.client.fixtures_raw import ANSWER, BASE, answering, of, result_of
from tests.runtime.transports.fixtures_certificates import made_certificate, needs_openssl

pytestmark = pytest.mark.anyio


ODD = b'{"error":{"code":-32600,"message":"y"}}'


TEXT = [{"type": "text", "text": "a"}, {"document_id": "d"}, {"type": "text", "text": "b"}]


@pytest.mark.spec("mcp-lite-4.2.2-1", "mcp-lite-4.2.2-2", "mcp-lite-4.1-3")
async def test_a_call_is_a_post_of_json_rpc() -> None:
    async with of(answering(ANSWER), token="secret", headers={"X-Trace": "1"}) as (client, server):
        outcome = await client.call("search", {"query": "bread"})
        assert isinstance(outcome, LiteAnswer)
        asked = server.asked[0]
        assert (asked.method, asked.target) == ("POST", f"{BASE}calltools")
        assert asked.headers["content-type"] == "application/json"
        assert asked.headers["accept"] == "application/json"
        assert asked.headers["authorization"] == "Bearer secret"
        assert asked.headers["x-trace"] == "1"
        message = asked.message
        assert message == {
            "jsonrpc": "2.0",
            "id": message["id"],
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "bread"}},
        }
        await client.call("search", idempotency_key="k", session_context=None)
        again = server.asked[1].message
        assert again["id"] != message["id"]
        assert again["params"] == {
            "name": "search",
            "arguments": {},
            "_meta": {"idempotency_key": "k", "session_context": None},
        }
        assert server.connections == 1


@pytest.mark.spec("mcp-lite-3.3-2", "mcp-lite-3.4-4", "mcp-lite-1-6")
async def test_each_kind_of_result_has_a_class() -> None:
    meta = {"timestamp": "2024-01-01T12:00:00Z", "processing_time_ms": 145, "server_version": "2"}
    results: list[Any] = [
        result_of("Answer", content=TEXT, meta=meta),
        result_of("failure", error={"code": "OUT", "message": "Gone.", "data": {"item": 1}}),
        {"content": [{"type": "text", "text": "Broken."}], "isError": True},
        {"isError": True},
        result_of("request-for-more-resource", content=[{"type": "text", "text": "More."}]),
        result_of("tea", content=[]),
    ]
    async with of(answering(*results)) as (client, _):
        found = [await client.call("x") for _ in results]
    match found:
        case [
            LiteAnswer(content) as answer,
            LiteFailure("OUT", "Gone.", {"item": 1}),
            LiteFailure(None, "Broken.", None),
            LiteFailure(None, "The tool failed."),
            LiteResourceRequest([{"text": "More."}]),
            LiteUnknown("tea"),
        ]:
            assert content == TEXT
            assert answer.text == "a\nb"
            assert answer.meta.processing_time_ms == 145
            assert answer.meta.server_version == "2"
            assert answer.result["_meta"]["timestamp"] == "2024-01-01T12:00:00Z"
        case _:
            pytest.fail(f"{found}")


@pytest.mark.spec("mcp-lite-A.5-1", "mcp-lite-4.4-3")
async def test_errors_have_their_types() -> None:
    data = {
        "requested_tool": "serch",
        "available_tools": ["search"],
        "suggestion": "Did you mean 'search'?",
    }

    def error(code: int, data: Any = None) -> dict[str, Any]:
        return {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": code, "message": "no", **({} if data is None else {"data": data})},
        }

    bodies = [
        error(-32601, data),
        error(-32601, {"requested_tool": 5}),
        error(-32601),
        error(-32602),
        error(-32603, {"correlationId": "x"}),
        error(4000),
    ]
    kinds = [
        UnknownToolError,
        UnknownToolError,
        MethodNotFoundError,
        InvalidParamsError,
        InternalError,
        RpcError,
    ]
    raised: list[RpcError] = []
    async with of(answering(*bodies)) as (client, _):
        for kind in kinds:
            with pytest.raises(kind) as caught:
                await client.call("serch")
            raised.append(caught.value)
    assert [type(error) for error in raised] == kinds
    unknown, broken = raised[0], raised[1]
    assert isinstance(unknown, UnknownToolError)
    assert (unknown.requested_tool, unknown.available_tools) == ("serch", ["search"])
    assert unknown.suggestion == "Did you mean 'search'?"
    assert isinstance(broken, UnknownToolError)
    assert (broken.requested_tool, broken.available_tools, broken.suggestion) == (None, None, None)


async def test_an_error_about_an_unknown_tool_says_what_may_be_meant() -> None:
    rows: list[tuple[str, Any, str]] = [
        ("Tool not found", {"requested_tool": "serch"}, "Tool not found: 'serch'"),
        ("There is no serch.", {"requested_tool": "serch"}, "There is no serch."),
        ("no", {"requested_tool": "a", "suggestion": "Try b."}, "no: 'a'. Try b."),
        ("no", {"requested_tool": 5}, "no"),
    ]
    for message, data, text in rows:
        assert str(error_from(-32601, message, data)) == f"{text} (ToolNotFound -32601)"


async def test_a_token_that_is_refused_is_not_asked_for() -> None:
    for options in ({"token": "t"}, {"headers": {"authorization": "x"}}, {"auth": lambda _: "x"}):
        async with of(answering(401), **options) as (client, _):
            with pytest.raises(InvalidResponseError, match="does not accept the token"):
                await client.call("x")


async def test_what_comes_of_a_call_is_shown_without_its_token() -> None:
    meta = {"promise_token": "secret", "estimated_completion": "2024-01-01T00:00:00Z"}
    promise = result_of("promise", meta=meta)
    async with of(answering(promise)) as (client, _):
        shown = repr(await client.call("x"))
    assert shown == "LitePromise(estimated_completion='2024-01-01T00:00:00Z')"
    assert repr(LitePart("a", {"partial": "a"})) == "LitePart(text='a')"
    part = LitePart("", {"partial": "", "progress": {"progress": 1}})
    assert repr(part) == "LitePart(progress={'progress': 1})"


async def test_what_is_no_answer_is_an_error_with_the_status() -> None:
    rows: list[tuple[int, bytes, str, int | None, str]] = [
        (200, b"not json", "application/json", None, "it is not JSON"),
        (200, b"", "application/json", None, "it is not JSON"),
        (200, b"[1]", "application/json", None, "it is not a JSON object"),
        (200, b'{"jsonrpc":"2.0","id":77,"result":{}}', "application/json", None, "its id is"),
        (200, b'{"_meta":{},"content":NaN}', "application/json", None, "it is not JSON"),
        (502, b"<html>", "text/html", 502, "HTTP status 502"),
        (503, b'{"error":{"code":"x","message":"y"}}', "application/json", 503, "status 503"),
        (404, b"gone", "text/plain", 404, "/mcp-lite/v1/"),
        (405, b"", "text/plain", 405, "/mcp-lite/v1/"),
        (404, ODD, "application/json", 404, "/mcp-lite/v1/"),
        (401, ODD, "application/json", 401, "who calls. Pass token="),
        (302, b"", "text/plain", 302, "It has moved"),
        (200, b'{"a":"' + b"x" * 3000 + b'"}', "application/json", None, "longer than 2000 bytes"),
    ]
    left = list(rows)

    async def handle(asked: Asked, line: Line) -> None:
        status, body, kind, *_ = left[0]
        await line.status(status, body, content_type=kind)

    async with of(handle, answer_size=2000) as (client, server):
        while left:
            with pytest.raises(InvalidResponseError) as caught:
                await client.call("x")
            _, _, _, status, words = left.pop(0)
            assert caught.value.status == status
            assert words in str(caught.value)
            if status != 404:
                assert f":{server.port}/" not in str(caught.value)


async def test_an_error_with_an_error_status_keeps_its_type() -> None:
    async def handle(asked: Asked, line: Line) -> None:
        await line.json(
            {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "bad"}}, status=400
        )

    async with of(handle) as (client, _):
        with pytest.raises(RpcError, match="bad"):
            await client.call("x")


@pytest.mark.spec("mcp-lite-4.2-1")
async def test_paths_that_the_specification_writes_otherwise_are_tried_where_nothing_is() -> None:
    tools = [{"name": "a"}]

    async def handle(asked: Asked, line: Line) -> None:
        if not asked.target.endswith("/rpc"):
            await line.status(404)
        elif asked.message["method"] == "tools/list":
            message = {"jsonrpc": "2.0", "id": asked.message["id"], "result": {"tools": tools}}
            await line.json(message)
        else:
            await line.json({"jsonrpc": "2.0", "id": asked.message["id"], "result": ANSWER})

    async with of(handle, "/any/base") as (client, server):
        assert [one.name for one in await client.list_tools()] == ["a"]
        await client.call("a")
        await client.call("a")
        await client.list_tools()
        assert [one.target.removeprefix("/any/base/") for one in server.asked] == [
            *("listtools", "tools", "rpc"),
            *("calltools", "calltoolsEndpoint", "rpc"),
            *("rpc", "rpc"),
        ]


@pytest.mark.spec("mcp-lite-4.2.1-1", "mcp-lite-4.2.1-2")
@pytest.mark.parametrize("bare", [True, False])
async def test_tools_are_listed_as_an_array_or_an_object(bare: bool) -> None:
    tools = [{"name": "a", "@type": "query", "description": "A", "inputSchema": {"type": "object"}}]

    async def handle(asked: Asked, line: Line) -> None:
        await line.json(tools if bare else {"tools": tools})

    async with of(handle, "/") as (client, server):
        (tool,) = await client.list_tools()
        assert (tool.name, tool.type, tool.description) == ("a", "query", "A")
        assert tool.input_schema == {"type": "object"}
        assert (server.asked[0].target, server.asked[0].body) == ("/listtools", b"{}")


async def test_lists_that_are_none_are_errors() -> None:
    bodies: list[Any] = [
        5,
        {"tools": [{"name": 5}]},
        {"detail": "x"},
        {"error": {"code": -32603, "message": "no"}},
    ]
    kinds = [InvalidResponseError, ShapeError, InvalidResponseError, InternalError]
    left = list(bodies)

    async def handle(asked: Asked, line: Line) -> None:
        await line.json(left.pop(0))

    async with of(handle) as (client, _):
        for kind in kinds:
            with pytest.raises(kind):
                await client.list_tools()


@each(
    ("url", "target"),
    [
        ("http://127.0.0.1:1", "/mcp-lite/v1/"),
        ("http://127.0.0.1:1/", "/"),
        ("http://127.0.0.1:1/lite", "/lite/"),
        ("http://127.0.0.1:1/lite/?key=1", "/lite/?key=1"),
        ("http://127.0.0.1:1?key=1", "/mcp-lite/v1/?key=1"),
    ],
)
async def test_the_base_of_a_server_ends_with_a_slash(url: str, target: str) -> None:
    client: Any = LiteClient(url, trust_env=False)
    assert client._transport._requests.base.target == target


async def test_results_that_lack_what_their_kind_has_are_shape_errors() -> None:
    rows = [
        (result_of("promise"), "/_meta/promise_token"),
        (result_of("elicitation"), "/elicitation"),
        (result_of("answer", content="x"), "/content"),
        (result_of("answer", content=[5]), "/content/0"),
        (result_of("failure", error={"code": "x"}), "/error/message"),
        (result_of("answer", content=[], meta={"retry_after_ms": -1}), "/_meta/retry_after_ms"),
    ]
    async with of(answering(*(result for result, _ in rows))) as (client, _):
        for _, pointer in rows:
            with pytest.raises(ShapeError) as caught:
                await client.call("x")
            assert caught.value.pointer == pointer


async def test_calls_and_streams_have_a_timeout_and_cancel_at_the_server() -> None:
    begun = closed = 0

    async def handle(asked: Asked, line: Line) -> None:
        nonlocal begun, closed
        begun += 1
        if asked.headers["accept"].startswith("text/event-stream"):
            await line.stream()
        await line.until_closed()
        closed += 1

    async def call(seconds: float) -> None:
        with pytest.raises(RequestTimeoutError):
            await client.call("x", timeout=seconds)

    async def stream(seconds: float) -> None:
        with pytest.raises(RequestTimeoutError):
            _ = [part async for part in client.stream("x", timeout=seconds)]

    async def cancelled(seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await client.call("x")

    async with of(handle) as (client, _):
        for ask in (call, stream, cancelled):
            await _until_more(lambda: begun, ask)
        with anyio.fail_after(5):
            while closed < begun:
                await anyio.lowlevel.checkpoint()


async def _until_more(begun: Callable[[], int], ask: Callable[[float], Awaitable[None]]) -> None:
    """Ask, for longer where a busy machine has not brought a request to the server in time."""
    before, seconds = begun(), 0.02
    while begun() == before:
        await ask(seconds)
        seconds *= 2


async def test_nothing_is_sent_twice_unless_the_server_may_get_it_twice() -> None:
    async def handle(asked: Asked, line: Line) -> None:
        if asked.earlier:
            await line.reset()
        else:
            await line.json({"jsonrpc": "2.0", "id": asked.message["id"], "result": ANSWER})

    async with of(handle) as (client, server):
        await client.call("x")
        with pytest.raises(ConnectionClosedError):
            await client.call("x")
        assert len(server.asked) == 2
        await client.call("x")
        await client.call("x", idempotency_key="k")
        await client.promise("p").redeem()
        assert [one.connection for one in server.asked] == [1, 1, 2, 2, 3, 3, 4]


async def test_other_credentials_are_asked_for_once() -> None:
    asked_for: list[str | None] = []

    def auth(challenge: str | None) -> str:
        asked_for.append(challenge)
        return f"Bearer {len(asked_for)}"

    async def handle(asked: Asked, line: Line) -> None:
        if asked.headers["authorization"] == "Bearer 2":
            await line.json({"jsonrpc": "2.0", "id": asked.message["id"], "result": ANSWER})
        else:
            await line.status(401, www_authenticate="Bearer")

    async with of(handle, auth=auth) as (client, server):
        await client.call("x")
        await client.call("x")
        assert asked_for == [None, "Bearer"]
        assert len(server.asked) == 3


async def test_a_server_that_is_not_there_is_named_without_its_path() -> None:
    async with of(answering(ANSWER), "/secret/") as (client, server):
        server.stop()
        await anyio.lowlevel.checkpoint()
        with pytest.raises(ConnectionClosedError) as caught:
            await client.call("x", timeout=5)
        assert str(server.port) in str(caught.value)
        assert "secret" not in str(caught.value)


async def test_a_client_is_used_in_its_block() -> None:
    client = LiteClient("http://127.0.0.1:9", trust_env=False)
    with pytest.raises(SessionStateError):
        await client.call("x")
    async with client:
        with pytest.raises(SessionStateError):
            await client.__aenter__()
        with pytest.raises(UnsendableError):
            await client.call("x", {"a": float("nan")})
        with pytest.raises(UnsendableError):
            await client.call("x", {"a": object()})
    with pytest.raises(SessionStateError):
        await client.list_tools()


@each(
    ("arguments", "kind", "words"),
    [
        (("http://192.0.2.1/",), InsecureAddressError, "without TLS"),
        (("127.0.0.1:8000",), ValueError, "expected a URL"),
        (("ftp://127.0.0.1/",), ValueError, "expected a URL"),
        ((5,), TypeError, "url: expected a string"),
        (("http://127.0.0.1/", {"token": 5}), TypeError, "token: expected a string"),
        (("http://127.0.0.1/", {"token": "a\nb"}), ValueError, "Authorization"),
        (("http://127.0.0.1/", {"timeout": 0}), ValueError, "timeout"),
        (("http://127.0.0.1/", {"tokens": "x"}), TypeError, "answer_size, auth.*mean token"),
        (("ws://127.0.0.1/",), ValueError, "http, https, grpc or grpcs, got one with 'ws'"),
        (("//127.0.0.1/",), ValueError, "got none"),
        (("grpcs://127.0.0.1/", {"certificates": b"x"}), ValueError, "as PEM, got other"),
        (("http://127.0.0.1/", {"certificates": "x"}), TypeError, "certificates"),
        (("http://127.0.0.1/", {"headers": {"Accept": "x"}}), ValueError, "Leave it out"),
        (
            ("http://127.0.0.1/", {"token": "t", "auth": lambda _: "Bearer x"}),
            ValueError,
            "one way to authenticate",
        ),
        (
            ("grpc://127.0.0.1/", {"token": "t", "headers": {"authorization": "x"}}),
            ValueError,
            "token: expected one way to authenticate",
        ),
    ],
)
async def test_wrong_options_are_refused(arguments: Any, kind: type[Exception], words: str) -> None:
    url, options = arguments[0], arguments[1] if len(arguments) > 1 else {}
    with pytest.raises(kind, match=words):
        LiteClient(url, **options)


async def test_a_client_has_at_most_128_requests_under_way() -> None:
    open_now, most = 0, 0
    full = anyio.Event()

    async def handle(asked: Asked, line: Line) -> None:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        if open_now == 128:
            full.set()
        await full.wait()
        open_now -= 1
        await line.json({"jsonrpc": "2.0", "id": asked.message["id"], "result": ANSWER})

    async with of(handle) as (client, server), anyio.create_task_group() as tasks:
        for _ in range(150):
            tasks.start_soon(client.call, "x")
    assert most == 128
    assert len(server.asked) == 150


@pytest.mark.spec("mcp-lite-7.1-2")
async def test_a_call_has_the_form_that_mcp_has() -> None:
    async with of(answering(ANSWER)) as (client, server):
        await client.call("search", {"query": "bread"})
        message = server.asked[0].message
        params = mcp_methods.TOOLS_CALL.decode_params(message["params"])
        assert (message["jsonrpc"], message["method"]) == ("2.0", mcp_methods.TOOLS_CALL.name)
        assert (params.name, params.arguments) == ("search", {"query": "bread"})


@needs_openssl
async def test_a_server_with_a_certificate_of_its_own_is_reached(tmp_path: Path) -> None:
    file = made_certificate(tmp_path)
    theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    theirs.load_cert_chain(file)
    pem = file.read_bytes().partition(b"-----BEGIN PRIVATE KEY")[0]
    async with RawServer.serving(answering(ANSWER), BASE, tls=theirs) as server:
        ways: list[Any] = [
            {"certificates": pem},
            {"tls": ssl.create_default_context(cafile=str(file))},
        ]
        for way in ways:
            async with LiteClient(server.url, trust_env=False, **way) as client:
                assert isinstance(await client.call("x"), LiteAnswer)
        async with LiteClient(server.url, trust_env=False) as client:
            with pytest.raises(ConnectionClosedError, match="not to be trusted"):
                await client.call("x")
