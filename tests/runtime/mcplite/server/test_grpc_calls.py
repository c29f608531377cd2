"""The gRPC binding of a server, with a client that protoc's messages make."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

import anyio
import grpc
import grpc.aio
import pytest
from pydantic import Field

from kinwire import Context, Server, ToolError, current_principal
from kinwire.managers.tool_outcomes import NeedsAnswers, ToolQuestion
from kinwire.mcplite.server.service import LiteServer
from kinwire.mcplite.server.source import LiteCaller, NoSuchToolError, ToolRun
from kinwire.transports.grpc.limits import GrpcLimits
from kinwire.transports.grpc.status import details_in
from tests.runtime.mcplite.fixtures_grpc import (
    Json,
    as_json,
    connected,
    details_of,
    kind_of,
    request_of,
)

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True),
]

Code = grpc.StatusCode


class _Shop:
    """A server whose tools the tests use, and what happened in it."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.cancelled = anyio.Event()
        self.seen: list[Any] = []
        self.server = Server("shop", "2.1")
        tools: list[Any] = [self.search, self.report, self.wait, self.bug, self.broke, self.ask]
        for tool in (*tools, self.cancels_itself, self.returns, self.endless):
            self.server.tool(tool)

    async def search(self, query: str, limit: int = 10) -> Json:
        """Search documents."""
        self.seen.append((query, limit, current_principal()))
        return {"query": query, "limit": limit, "kind": type(limit).__name__}

    async def report(self, topic: str) -> Any:
        """Write a report."""
        yield f"On {topic}: "
        yield "all is well."

    async def wait(self) -> None:
        """Never answer."""
        self.begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled.set()

    async def bug(self) -> None:
        """Fail."""
        raise RuntimeError("the password is hunter2")

    async def broke(self) -> None:
        """Fail as foreseen."""
        raise ToolError("Out of stock.", code="OUT_OF_STOCK", data={"item": "sku-1"})

    async def ask(self) -> NeedsAnswers:
        """Ask."""
        return NeedsAnswers("Which?", [ToolQuestion("format", "Which format?")])

    async def cancels_itself(self) -> None:
        """Raise a cancellation that nobody asked for."""
        raise asyncio.CancelledError

    async def returns(self, what: str) -> Json:
        """Return something that a Struct cannot hold."""
        deep: Json = {}
        for _ in range(40):
            deep = {"deeper": deep}
        values: Json = {"big": {"n": 2**60}, "deep": deep, "large": {"text": "x" * 5_000_000}}
        return dict(values[what])

    async def endless(self, context: Context) -> Any:
        """Never stop."""
        piece = "x" * 65536
        try:
            while True:
                self.seen.append(1)
                yield piece
        finally:
            self.cancelled.set()


class _Many:
    """A source of very many tools."""

    version = None
    may_promise = False

    def promise_after(self, name: str) -> float | None:
        return None

    async def list_tools(self, caller: LiteCaller) -> list[Json]:
        return [
            {"name": f"tool_with_a_rather_long_name_{n}", "inputSchema": {}} for n in range(2000)
        ]

    async def run(self, run: ToolRun) -> object:
        raise NoSuchToolError


async def test_a_call_has_its_result_and_all_of_the_metadata() -> None:
    shop = _Shop()
    before = time.time()
    async with connected(LiteServer(shop.server)) as peer:
        meta = {"session_context": {"conversation": 7}}
        found = await peer.call("search", {"query": "q", "limit": 5}, meta)
    assert found["result"] == {"content": [{"query": "q", "limit": 5.0, "kind": "int"}]}
    told = found["meta"]
    assert told.get("response_type", "ANSWER") == "ANSWER"
    assert int(before * 1000) <= int(told["timestamp"]) <= time.time() * 1000
    assert told["server_version"] == "2.1"
    assert told["session_context"] == {"conversation": 7.0}


@pytest.mark.spec("mcp-lite-A.1-4")
async def test_tools_are_listed_with_their_type_and_a_schema_of_whole_numbers() -> None:
    server = Server("shop", "1")

    @server.tool(type="query")
    async def search(query: str, limit: int = 10) -> str:
        """Search."""
        return query

    async with connected(LiteServer(server)) as peer:
        (tool,) = await peer.tools()
        again = await peer.tools()
    assert (tool["name"], tool["type"], tool["description"]) == ("search", "query", "Search.")
    assert tool["input_schema"]["required"] == ["query"]
    assert tool["input_schema"]["properties"]["limit"]["default"] == 10
    assert again == [tool]


async def test_a_tool_whose_schema_fits_no_struct_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shop = _Shop()

    @shop.server.tool
    async def huge(n: Annotated[int, Field(le=2**63 - 1)]) -> str:
        """Take a large number."""
        return str(n)

    async with connected(LiteServer(shop.server)) as peer:
        names = [tool["name"] for tool in await peer.tools()]
        assert (await peer.call("huge", {"n": 1}))["meta"]["timestamp"]
    assert "search" in names
    assert "huge" not in names
    assert "/properties/n/maximum: expected a number of at most 2^53 - 1" in caplog.text


@pytest.mark.spec("mcp-lite-5.4-1", "mcp-lite-5.4-2", "mcp-lite-A.4-4")
async def test_a_stream_has_parts_and_then_the_whole_result_with_meta() -> None:
    shop = _Shop()
    async with connected(LiteServer(shop.server)) as peer:
        *parts, last = await peer.stream("report", {"topic": "Q4"})
        (alone,) = await peer.stream("search", {"query": "q"})
    assert parts == [
        {"result": {"partial": "On Q4: "}},
        {"result": {"partial": "all is well."}},
    ]
    assert last["result"] == {"content": [{"type": "text", "text": "On Q4: all is well."}]}
    assert {"timestamp", "server_version"} <= last["meta"].keys()
    assert alone["result"]["content"][0]["query"] == "q"


async def test_failures_and_questions_are_results() -> None:
    shop = _Shop()
    async with connected(LiteServer(shop.server)) as peer:
        failed = await peer.call("broke")
        asked = await peer.call("ask")
    assert failed["meta"]["response_type"] == "FAILURE"
    assert failed["result"]["error"] == {
        "code": "OUT_OF_STOCK",
        "message": "Out of stock.",
        "data": {"item": "sku-1"},
    }
    assert asked["meta"]["response_type"] == "ELICITATION"
    assert asked["result"]["elicitation"]["questions"][0]["id"] == "format"


REFUSED: list[tuple[str, Json, Code, str]] = [
    ("nothing", {}, Code.NOT_FOUND, "Tool not found: nothing"),
    ("search", {"query": "q", "limit": 5.5}, Code.INVALID_ARGUMENT, "/arguments/limit"),
    ("search", {"query": 5}, Code.INVALID_ARGUMENT, "/arguments/query"),
    ("search", {"query": "q", "limit": 9007199254740993}, Code.INVALID_ARGUMENT, "2^53"),
    ("bug", {}, Code.INTERNAL, "Internal error."),
    ("cancels_itself", {}, Code.INTERNAL, "Internal error."),
    ("returns", {"what": "big"}, Code.INVALID_ARGUMENT, "/content/0/n: expected a number"),
    ("returns", {"what": "deep"}, Code.INVALID_ARGUMENT, "at most 32 nested"),
    ("returns", {"what": "large"}, Code.RESOURCE_EXHAUSTED, "more than 4194304"),
]


@pytest.mark.spec("mcp-lite-5.5-1", "mcp-lite-5.5-2", "mcp-lite-5.5-4")
async def test_a_call_that_cannot_be_answered_ends_with_a_status_that_tells_nothing_else() -> None:
    shop = _Shop()
    async with connected(LiteServer(shop.server)) as peer:
        for name, arguments, code, message in REFUSED:
            error = await peer.refusal(name, arguments)
            assert (error.code(), message in error.details()) == (code, True), error
            assert "hunter2" not in str(error)
            assert details_of(error)[1] == "mcp-lite"
            call = peer("CallToolStream", request_of(name, arguments))
            with pytest.raises(grpc.aio.AioRpcError) as streamed:
                await call.read()
            assert streamed.value.code() is code
        assert (await peer.call("search", {"query": "still here"}))["meta"]


@pytest.mark.spec("mcp-lite-A.5-2")
async def test_an_unknown_tool_is_told_with_what_there_is() -> None:
    shop = _Shop()
    async with connected(LiteServer(shop.server)) as peer:
        reason, _, facts = details_of(await peer.refusal("serch"))
    assert reason == "TOOL_NOT_FOUND"
    assert facts["requested_tool"] == "serch"
    assert facts["available_tools"].startswith('["search","report"')
    assert facts["suggestion"] == "Did you mean 'search'?"
    assert facts["code"] == "-32601"


async def test_details_fit_into_headers_even_with_very_many_tools() -> None:
    async with connected(LiteServer(_Many())) as peer:
        error = await peer.refusal("é" * 5000)
    assert error.code() is Code.NOT_FOUND
    _, _, facts = details_of(error)
    assert facts["available_tools"].startswith('["tool_with_a_rather_long_name_0",')


async def test_bytes_that_are_no_message_are_invalid() -> None:
    async with connected(LiteServer(_Shop().server)) as peer:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await peer("CallTool", b"\xff\xff\xff")
        assert caught.value.code() is Code.INVALID_ARGUMENT
        assert details_of(caught.value)[0] == "INVALID_PARAMS"


async def test_deep_and_infinite_arguments_are_refused() -> None:
    async with connected(LiteServer(_Shop().server)) as peer:
        request = kind_of("ToolRequest")(name="search")
        request.arguments.fields["query"].number_value = float("nan")
        with pytest.raises(grpc.aio.AioRpcError, match="/arguments/query: expected a number"):
            await peer("CallTool", request)
        deep: Json = {}
        for _ in range(32):
            deep = {"d": deep}
        error = await peer.refusal("search", deep)
        assert error.code() is Code.INVALID_ARGUMENT
        assert "at most 32 nested" in error.details()


async def test_messages_beyond_the_limit_are_refused_before_they_are_read() -> None:
    limits = GrpcLimits(message_size=2000)
    async with connected(LiteServer(_Shop().server), limits=limits) as peer:
        error = await peer.refusal("search", {"query": "x" * 3000})
        assert error.code() is Code.RESOURCE_EXHAUSTED
        assert (await peer.call("search", {"query": "x" * 100}))["meta"]


async def test_calls_beyond_the_limit_are_refused() -> None:
    shop = _Shop()
    async with connected(LiteServer(shop.server), limits=GrpcLimits(in_flight=1)) as peer:
        first = peer("CallTool", request_of("wait"))
        await shop.begun.wait()
        refused = await asyncio.gather(*(peer.refusal("search", {"query": "q"}) for _ in range(40)))
        assert {error.code() for error in refused} == {Code.RESOURCE_EXHAUSTED}
        details = details_in(refused[0].trailing_metadata() or ())
        assert details is not None
        assert details.reason == "TOO_MANY_CALLS"
        first.cancel()
        await shop.cancelled.wait()
        assert (await peer.call("search", {"query": "x"}))["meta"]


@pytest.mark.spec("mcp-lite-3.7-4", "mcp-lite-5.5-3")
async def test_work_ends_with_its_client_and_at_its_deadline() -> None:
    for method in ("CallTool", "CallToolStream"):
        for seconds in (None, 0.05):
            shop = _Shop()
            async with connected(LiteServer(shop.server)) as peer:
                call = peer(method, request_of("wait"), timeout=seconds)
                reading = asyncio.ensure_future(call.read() if "Stream" in method else call)
                await shop.begun.wait()
                if seconds is None:
                    call.cancel()
                await shop.cancelled.wait()
                with pytest.raises((grpc.aio.AioRpcError, asyncio.CancelledError)):
                    await reading
                expected = Code.CANCELLED if seconds is None else Code.DEADLINE_EXCEEDED
                assert await call.code() is expected


@pytest.mark.spec("mcp-lite-5.4-3")
async def test_a_stream_waits_for_a_slow_reader() -> None:
    shop = _Shop()
    async with connected(LiteServer(shop.server)) as peer:
        call = peer("CallToolStream", request_of("endless"))
        await call.read()
        made = -1
        while made != len(shop.seen):  # until it stands still
            made = len(shop.seen)
            await anyio.sleep(0.05)
        assert made < 1000
        call.cancel()
        await shop.cancelled.wait()


async def test_a_token_says_who_calls() -> None:
    shop = _Shop()
    broken = {"error": RuntimeError("hunter2"), "exit": SystemExit("hunter2")}

    async def authenticate(token: str) -> str | None:
        if token in broken:
            raise broken[token]
        return {"secret": "ann"}.get(token)

    async with connected(LiteServer(shop.server), authenticate=authenticate) as peer:
        call = {"query": "q"}
        for header in (None, "Basic secret", "Bearer", "Bearer wrong"):
            peer.metadata = () if header is None else (("authorization", header),)
            error = await peer.refusal("search", call)
            assert error.code() is Code.UNAUTHENTICATED
            assert details_of(error)[0].startswith("TOKEN_")
        peer.metadata = (("authorization", "Bearer secret"), ("authorization", "Bearer secret"))
        assert (await peer.refusal("search", call)).code() is Code.UNAUTHENTICATED
        for token in broken:
            peer.metadata = (("authorization", f"Bearer {token}"),)
            error = await peer.refusal("search", call)
            assert (error.code(), "hunter2" in str(error)) == (Code.INTERNAL, False)
        peer.metadata = (("authorization", "bearer secret"),)
        await peer.call("search", call)
        assert await peer.tools()
    assert [principal for _, _, principal in shop.seen] == ["ann"]


async def test_a_tool_exists_for_those_who_may_call_it() -> None:
    service = LiteServer(_Shop().server, may_call=lambda who, tool: who == "ann" or tool == "bug")
    async with connected(service, authenticate=lambda token: token) as peer:
        peer.metadata = (("authorization", "Bearer bob"),)
        assert [tool["name"] for tool in await peer.tools()] == ["bug"]
        error = await peer.refusal("search", {"query": "q"})
        assert error.code() is Code.NOT_FOUND
        assert details_of(error)[2]["available_tools"] == '["bug"]'
        peer.metadata = (("authorization", "Bearer ann"),)
        assert len(await peer.tools()) > 1


@pytest.mark.spec("mcp-lite-5.5-3", "mcp-lite-5.3-1")
async def test_a_tool_that_may_promise_does_so_before_the_deadline() -> None:
    server = Server("late", "1")

    @server.tool(promise_after=60)
    async def late() -> None:
        """Never end."""
        await anyio.sleep_forever()

    service = LiteServer(server)
    async with connected(service) as peer:
        found = await peer.call("late", timeout=0.4)
        assert found["meta"]["response_type"] == "PROMISE"
        assert found["meta"]["promise_token"]
        await service.close(0)


@pytest.mark.spec("mcp-lite-5.3-2", "mcp-lite-5.3-3")
async def test_a_promise_is_followed_by_a_stream_of_its_progress() -> None:
    server, go = Server("long", "1"), anyio.Event()

    @server.tool(promise_after=0)
    async def long(context: Context) -> str:
        """Take long."""
        await context.progress(0, 2, "begun")
        await go.wait()
        await context.progress(1, 2, "half")
        return "done"

    service = LiteServer(server)
    async with connected(service) as peer:
        promise = await peer.call("long")
        token = {"promise": promise["meta"]["promise_token"]}
        call = peer("CallToolStream", request_of("redeem", token))
        found = aiter(call)
        assert as_json(await anext(found))["result"]["progress"]["message"] == "begun"
        go.set()
        *parts, last = [as_json(message) async for message in found]
        assert {"progress": 1.0, "total": 2.0, "message": "half"} in [
            part["result"].get("progress") for part in parts
        ]
        done = [{"type": "text", "text": "done"}]
        assert last["result"]["content"] == done
        assert (await peer.call("redeem", token))["result"]["content"] == done
        unknown = await peer.call("redeem", {"promise": "prom_x"})
        assert unknown["meta"]["response_type"] == "FAILURE"
        await service.close(0)
