"""The client over gRPC, with servers that protoc's messages make."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any

import anyio
import grpc
import grpc.aio
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from kinwire import InsecureAddressError, KinwireError, RpcError
from kinwire.mcplite.client.client import LiteClient
from kinwire.mcplite.client.errors import UnknownToolError
from kinwire.mcplite.client.outcomes import (
    LiteAnswer,
    LiteElicitation,
    LiteFailure,
    LitePart,
    LiteResourceRequest,
)
from kinwire.mcplite.client.promise import LitePromise
from kinwire.rpc.errors import (
    ConnectionClosedError,
    InvalidResponseError,
    RequestTimeoutError,
    SessionStateError,
    UnsendableError,
)
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError, MethodNotFoundError
from tests.runtime.mcplite.fixtures_grpc import IN_TIME, Json, as_json, kind_of, message

pytestmark = [pytest.mark.anyio]
on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)

Code = grpc.StatusCode
Answer = Callable[[Json, Any], Any]
ANSWER: Json = {"result": {"content": [{"n": 5}]}, "meta": {"timestamp": "1704110400000"}}


class _RawServer:
    """Answers calls as a test says; each response is a message in JSON, bytes, or a status."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[Json] = []
        self.metadata: list[dict[str, Any]] = []
        self.remaining: list[float | None] = []
        self.begun = anyio.Event()
        self.waiting = anyio.Event()
        self.cancelled = anyio.Event()

    async def get_tools(self, _request: bytes, context: Any) -> bytes:
        self._note({}, context)
        return await self._send(self.answers.pop(0), "ToolsList", context)

    async def call(self, request: bytes, context: Any) -> bytes:
        self._note(as_json(kind_of("ToolRequest").FromString(request)), context)
        return await self._send(self.answers.pop(0), "ToolResponse", context)

    async def stream(self, request: bytes, context: Any) -> AsyncIterator[bytes]:
        self._note(as_json(kind_of("ToolRequest").FromString(request)), context)
        for answer in self.answers.pop(0):
            yield await self._send(answer, "ToolResponse", context)

    def _note(self, request: Json, context: Any) -> None:
        self.asked.append(request)
        self.metadata.append(dict(context.invocation_metadata()))
        self.remaining.append(context.time_remaining())
        self.begun.set()

    async def _send(self, answer: Any, kind: str, context: Any) -> bytes:
        if answer is None:
            try:
                self.waiting.set()
                await anyio.sleep_forever()
            finally:
                self.cancelled.set()
        if isinstance(answer, tuple):
            await context.abort(*answer)
        encoded: bytes = (
            answer if isinstance(answer, bytes) else message(kind, answer).SerializeToString()
        )
        return encoded


@asynccontextmanager
async def serving(raw: _RawServer) -> AsyncGenerator[str]:
    server = grpc.aio.server()
    methods: dict[str, Any] = {
        "GetTools": grpc.unary_unary_rpc_method_handler(raw.get_tools),
        "CallTool": grpc.unary_unary_rpc_method_handler(raw.call),
        "CallToolStream": grpc.unary_stream_rpc_method_handler(raw.stream),
    }
    handlers = grpc.method_handlers_generic_handler("mcplite.MCPLite", methods)
    server.add_generic_rpc_handlers([handlers])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"grpc://127.0.0.1:{port}"
    finally:
        await server.stop(None)


@asynccontextmanager
async def of(*answers: Any, **options: Any) -> AsyncGenerator[tuple[LiteClient, _RawServer]]:
    raw = _RawServer(*answers)
    async with serving(raw) as url:
        with anyio.fail_after(IN_TIME):
            async with LiteClient(url, **options) as client:
                yield client, raw


def refusal(status_code: Code, said: str, reason: str = "WHY", **facts: str) -> Any:
    """Return a status with an `ErrorInfo`."""
    info: Any = error_details_pb2.ErrorInfo(reason=reason, domain="mcp-lite", metadata=facts)
    packed = AnyMessage()
    packed.Pack(info)
    status: Any = status_pb2.Status(code=status_code.value[0], message=said, details=[packed])
    return status_code, said, (("grpc-status-details-bin", status.SerializeToString()),)


@on_asyncio
@pytest.mark.spec("mcp-lite-5.3-2", "mcp-lite-A.2-4")
async def test_a_call_is_a_message_and_so_is_its_answer() -> None:
    async with of(ANSWER, headers={"X-Trace": "1"}, token="secret") as (client, raw):
        outcome = await client.call(
            "search", {"query": "q", "limit": 5}, idempotency_key="k", session_context=[1]
        )
    assert isinstance(outcome, LiteAnswer)
    assert repr(outcome.content) == "[{'n': 5}]"
    assert outcome.result["_meta"]["timestamp"] == "2024-01-01T12:00:00.000Z"
    assert raw.asked == [
        {
            "name": "search",
            "arguments": {"query": "q", "limit": 5.0},
            "meta": {"idempotency_key": "k", "session_context": [1.0]},
        }
    ]
    assert raw.metadata[0]["x-trace"] == "1"
    assert raw.metadata[0]["authorization"] == "Bearer secret"
    assert 50 < (raw.remaining[0] or 0) <= 60


@on_asyncio
async def test_tools_are_listed() -> None:
    schema = {"type": "object", "properties": {"limit": {"minimum": 1, "maximum": 100}}}
    listed = {
        "tools": [
            {"name": "search", "type": "query", "description": "S", "input_schema": schema},
            {"name": "plain"},
        ]
    }
    async with of(listed) as (client, _):
        search, plain = await client.list_tools()
    assert (search.name, search.type, search.description) == ("search", "query", "S")
    assert repr(search.input_schema["properties"]["limit"]["maximum"]) == "100"
    assert (plain.name, plain.description, plain.input_schema) == ("plain", "", {})


KINDS: list[tuple[Json, type[Any]]] = [
    ({"response_type": "ANSWER"}, LiteAnswer),
    ({"response_type": "PROMISE", "promise_token": "prom_1"}, LitePromise),
    ({"response_type": "ELICITATION"}, LiteElicitation),
    ({"response_type": "FAILURE"}, LiteFailure),
    ({"response_type": "REQUEST_FOR_MORE_RESOURCE"}, LiteResourceRequest),
]


@on_asyncio
@pytest.mark.spec("mcp-lite-5.3-1", "mcp-lite-5.2-7", "mcp-lite-A.3-3")
async def test_each_kind_of_response_has_its_class() -> None:
    body = {"elicitation": {"text": "Which?"}, "error": {"code": "C", "message": "m"}}
    answers = [{"result": body, "meta": meta} for meta, _ in KINDS]
    async with of(*answers, {"result": {"content": []}}) as (client, _):
        for _, kind in KINDS:
            assert isinstance(await client.call("x"), kind)
        assert isinstance(await client.call("x"), LiteAnswer)


@on_asyncio
async def test_a_promise_is_redeemed_until_it_is_kept() -> None:
    promise = {"meta": {"response_type": "PROMISE", "promise_token": "prom_1", "retry_after_ms": 1}}
    async with of(promise, promise, ANSWER) as (client, raw):
        found = await client.call("slow")
        assert isinstance(found, LitePromise)
        assert isinstance(await found, LiteAnswer)
    assert [asked["name"] for asked in raw.asked] == ["slow", "redeem", "redeem"]
    assert raw.asked[1]["arguments"] == {"promise": "prom_1"}


@on_asyncio
@pytest.mark.spec("mcp-lite-5.3-3")
async def test_a_stream_is_parts_and_an_outcome() -> None:
    parts = [{"result": {"partial": "a"}}, {"result": {"partial": "b", "progress": {"n": 1}}}]
    async with of([*parts, ANSWER], [*parts, None]) as (client, raw):
        async with aclosing(client.stream("report")) as found:
            first, second, last = [one async for one in found]
        assert isinstance(first, LitePart)
        assert isinstance(second, LitePart)
        assert (first.text, second.text) == ("a", "b")
        assert isinstance(last, LiteAnswer)
        assert raw.remaining == [None]
        async with aclosing(client.stream("report")) as found:
            async for _ in found:
                break
        await raw.cancelled.wait()


TOOLS = '["redeem","search"]'
TLS = "failed to connect to all addresses; last error: SSL_ERROR_SSL: error:1000007d:OPENSSL:"
OLD = "its certificate is not to be trusted: old. The option certificates names"
FAULTS: list[tuple[Any, type[Exception], str]] = [
    (
        refusal(
            Code.NOT_FOUND,
            "Tool not found: serch",
            code="-32601",
            requested_tool="serch",
            available_tools=TOOLS,
            suggestion="Did you mean 'search'?",
        ),
        UnknownToolError,
        "Tool not found",
    ),
    ((Code.NOT_FOUND, "no such tool"), UnknownToolError, "no such tool"),
    ((Code.INVALID_ARGUMENT, "/limit"), InvalidParamsError, "/limit"),
    ((Code.INTERNAL, "broken"), InternalError, "broken"),
    (refusal(Code.INTERNAL, "odd", code="-32042", data='{"a":1}'), RpcError, "odd"),
    (refusal(Code.INTERNAL, "odd", code="many", data="no JSON"), InternalError, "odd"),
    ((Code.UNIMPLEMENTED, "Method not found!"), MethodNotFoundError, "Method not found"),
    ((Code.DEADLINE_EXCEEDED, "late"), RequestTimeoutError, "no answer within"),
    ((Code.UNAVAILABLE, "gone\x07away"), ConnectionClosedError, "No answer from grpc://127"),
    ((Code.CANCELLED, ""), ConnectionClosedError, "CANCELLED"),
    (refusal(Code.UNAVAILABLE, "store away", code="-32603"), InvalidResponseError, "store away"),
    ((Code.UNAVAILABLE, f"{TLS}CERTIFICATE_VERIFY_FAILED: old: OK."), ConnectionClosedError, OLD),
    ((Code.UNAVAILABLE, f"{TLS}WRONG_VERSION_NUMBER: x."), ConnectionClosedError, "not speak TLS"),
    ((Code.UNAUTHENTICATED, "who?"), InvalidResponseError, "UNAUTHENTICATED: who?"),
    ((Code.RESOURCE_EXHAUSTED, "slow down"), InvalidResponseError, "RESOURCE_EXHAUSTED"),
    ((Code.UNKNOWN, "x" * 2000), InvalidResponseError, r"UNKNOWN: x{290,}"),
    (b"\xff\xff", InvalidResponseError, "expected a ToolResponse"),
    ({"result": {"n": 2.0**60}}, InvalidResponseError, "/n: expected a number of at most"),
]


@on_asyncio
async def test_a_status_is_the_error_that_http_has() -> None:
    streams = [[answer] for answer, _, _ in FAULTS]
    async with of(*[answer for answer, _, _ in FAULTS], *streams) as (client, _):
        for _, kind, text in FAULTS:
            with pytest.raises(kind, match=text):
                await client.call("serch")
        for _, kind, text in FAULTS:
            with pytest.raises(kind, match=text):
                [one async for one in client.stream("serch")]


@on_asyncio
@pytest.mark.spec("mcp-lite-A.5-2")
async def test_an_unknown_tool_says_what_there_is() -> None:
    async with of(FAULTS[0][0], FAULTS[1][0], FAULTS[4][0]) as (client, _):
        with pytest.raises(UnknownToolError) as caught:
            await client.call("serch")
        error = caught.value
        assert error.message == "Tool not found"
        assert (error.requested_tool, error.available_tools, error.suggestion) == (
            "serch",
            ["redeem", "search"],
            "Did you mean 'search'?",
        )
        with pytest.raises(UnknownToolError) as caught:
            await client.call("serch")
        assert caught.value.requested_tool == "serch"
        with pytest.raises(RpcError) as other:
            await client.call("serch")
        assert (other.value.code, other.value.data) == (-32042, {"a": 1})


@on_asyncio
async def test_a_status_that_says_who_may_call_has_its_number() -> None:
    statuses = [(Code.UNAUTHENTICATED, ""), (Code.PERMISSION_DENIED, "")]
    async with of(*statuses) as (client, _):
        for number, hint in ((401, "Pass token="), (403, "PERMISSION_DENIED")):
            with pytest.raises(InvalidResponseError, match=hint) as caught:
                await client.call("x")
            assert caught.value.status == number
    async with of(statuses[0], token="t") as (client, _):
        with pytest.raises(InvalidResponseError, match=r"UNAUTHENTICATED: $"):
            await client.call("x")


@on_asyncio
async def test_a_status_that_asks_to_come_back_has_the_number_that_http_has() -> None:
    busy = refusal(Code.RESOURCE_EXHAUSTED, "too many", "TOO_MANY_CALLS")
    hint = refusal(Code.UNAVAILABLE, "later", code="-32603", data='{"retry_after_ms":2500}')
    odd = refusal(Code.UNAVAILABLE, "later", code="-32603", data='{"retry_after_ms":-1}')
    async with of(busy, hint, odd) as (client, _):
        for seconds in (None, 2.5, None):
            with pytest.raises(InvalidResponseError) as caught:
                await client.call("x")
            assert (caught.value.status, caught.value.retry_after) == (503, seconds)


@on_asyncio
async def test_a_new_token_is_asked_for_once() -> None:
    tokens = iter(["Bearer old", "Bearer new", "Bearer newer", "Bearer newest"])
    refused = (Code.UNAUTHENTICATED, "")
    answers = (refused, ANSWER, [refused], [ANSWER], refused, refused)
    async with of(*answers, auth=lambda _: next(tokens)) as (client, raw):
        assert isinstance(await client.call("x"), LiteAnswer)
        assert [one async for one in client.stream("x")]
        with pytest.raises(InvalidResponseError, match="UNAUTHENTICATED"):
            await client.call("x")
    sent = [metadata["authorization"].removeprefix("Bearer ") for metadata in raw.metadata]
    assert sent == ["old", "new", "new", "newer", "newer", "newest"]


@on_asyncio
async def test_time_runs_out_at_the_client_and_the_call_ends_at_the_server() -> None:
    async with of(None, [None]) as (client, raw):
        with pytest.raises(RequestTimeoutError):
            await client.call("x", timeout=0.03)
        await raw.cancelled.wait()
        raw.cancelled = anyio.Event()
        with pytest.raises(RequestTimeoutError):
            [one async for one in client.stream("x", timeout=0.03)]
        await raw.cancelled.wait()


@on_asyncio
async def test_a_cancelled_caller_ends_the_call_and_nothing_else() -> None:
    async with of(None, [{"result": {"partial": "a"}}, None]) as (client, raw):

        async def stream() -> None:
            _ = [one async for one in client.stream("x")]

        for ask in (partial(client.call, "x"), stream):
            raw.waiting, raw.cancelled = anyio.Event(), anyio.Event()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                await raw.waiting.wait()
                tasks.cancel_scope.cancel()
            await raw.cancelled.wait()


@on_asyncio
async def test_what_gRPC_cannot_carry_is_not_sent() -> None:  # noqa: N802
    async with of() as (client, raw):
        with pytest.raises(UnsendableError, match="/arguments/n: expected a number of at most"):
            await client.call("x", {"n": 9007199254740993})
        with pytest.raises(UnsendableError, match=r"/arguments/n: .* nan"):
            [one async for one in client.stream("x", {"n": float("nan")})]
    assert raw.asked == []


@on_asyncio
async def test_a_server_that_is_not_there_is_told_without_a_wait() -> None:
    async with of() as (_, _):
        pass
    async with LiteClient("grpc://127.0.0.1:1") as client:
        with pytest.raises(ConnectionClosedError, match="No answer from grpc://127"):
            await client.call("x")
    with pytest.raises(SessionStateError):
        await client.call("x")


@on_asyncio
async def test_a_stream_that_ends_without_a_result_is_no_answer() -> None:
    async with of([{"result": {"partial": "a"}}]) as (client, _):
        with pytest.raises(InvalidResponseError, match="ended without a result"):
            [one async for one in client.stream("x")]


WRONG: list[tuple[str, Json, type[Exception], str]] = [
    ("grpc://example.com", {}, InsecureAddressError, "connect to"),
    ("grpc://a.example/path", {"insecure": True}, ValueError, "without a path"),
    ("grpc://me:secret@localhost", {}, ValueError, "without a name"),
    ("grpc://", {}, ValueError, "with a host"),
    ("grpc://localhost:99999", {}, ValueError, "malformed"),
    ("grpcs://localhost", {"proxy": "http://localhost:1"}, ValueError, "proxy"),
    ("grpc://localhost", {"headers": {"X-Ü": "1"}}, ValueError, "headers"),
    ("grpc://localhost", {"headers": {"x-a-bin": "1"}}, ValueError, "headers"),
    ("grpc://localhost", {"headers": {"x": "ü"}}, ValueError, "headers"),
    ("grpc://localhost", {"headers": {"Grpc-Timeout": "1S"}}, ValueError, "by gRPC itself"),
    ("grpc://localhost", {"token": "t", "auth": lambda _: ""}, ValueError, "one way"),
]


def test_addresses_and_options_that_gRPC_does_not_have_are_refused() -> None:  # noqa: N802
    for url, options, kind, text in WRONG:
        with pytest.raises(kind, match=text) as caught:
            LiteClient(url, **options)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("anyio_backend", ["trio"], indirect=True)
async def test_trio_is_refused() -> None:
    with pytest.raises(KinwireError, match="asyncio only"):
        async with LiteClient("grpc://127.0.0.1:1"):
            pass
