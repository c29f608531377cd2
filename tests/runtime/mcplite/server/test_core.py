"""What tools answer over MCP-lite, whatever the transport."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import anyio
import pytest

from kinwire import Context, Server, ToolDefinitionError
from kinwire.managers.tool_outcomes import MoreResources, Promised, ToolError
from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.server.service import LiteServer
from kinwire.mcplite.server.source import ANYONE, LiteCaller, NoSuchToolError, ToolRun
from kinwire_protocols import mcp, mcplite
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from kinwire_protocols.mcp.methods import TOOLS_CALL
from tests.each import each
from tests.runtime.mcplite.fixtures_tools import Work, lite_call, text_of, tools

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> LiteServer:
    return LiteServer(tools(Work()))


@pytest.mark.spec("mcp-lite-3.1-1", "mcp-lite-3.1-3", "mcp-lite-3.9-2")
async def test_the_tools_of_a_server_are_listed_with_their_types(server: LiteServer) -> None:
    listed = {one["name"]: one for one in (await server.list_tools())["tools"]}
    assert listed["search"]["@type"] == "query"
    assert listed["search"]["description"] == "Search through available documents."
    assert listed["search"]["inputSchema"]["required"] == ["query"]
    assert "@type" not in listed["pay"]


@pytest.mark.spec("mcp-lite-3.1-4", "mcp-lite-3.6-2", "mcp-lite-3.6-5")
async def test_redeem_is_listed_as_soon_as_a_tool_may_promise() -> None:
    mcp_server = Server("s", "1")
    server = LiteServer(mcp_server)
    assert (await server.list_tools())["tools"] == []
    mcp_server.tool(promise_after=1)(slow)
    (redeem, other) = (await server.list_tools())["tools"]
    assert (redeem["name"], redeem["@type"], other["name"]) == ("redeem", "system", "slow")


async def slow() -> None: ...


async def redeem() -> None: ...


def test_a_tool_of_the_name_of_the_system_tool_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="redeems promises"):
        LiteServer(with_tool(redeem))
    late = Server("s", "1")
    LiteServer(late)
    with pytest.raises(ToolDefinitionError, match="Give name="):
        late.tool(redeem)


def with_tool(function: Any) -> Server:
    server = Server("s", "1")
    server.tool(function)
    return server


async def test_a_promise_that_the_tool_does_not_declare_is_awaited_and_the_log_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def order() -> Promised:
        async def work() -> str:
            return "ordered"

        return Promised(work)

    server = LiteServer(with_tool(order))
    for _ in range(2):
        assert text_of(await lite_call(server, "order")) == "ordered"
    (record,) = caplog.records
    assert "tool 'order' returned Promised without promise_after=" in record.getMessage()
    declared = Server("s", "1")
    declared.tool(promise_after=60)(order)
    assert (await lite_call(LiteServer(declared), "order"))["_meta"]["response_type"] == "promise"
    assert len(caplog.records) == 1


async def test_a_list_that_has_not_changed_is_the_same_object() -> None:
    mcp_server = with_tool(slow)
    server = LiteServer(mcp_server)
    first = await server.list_tools()
    assert await server.list_tools() is first
    mcp_server.tool(name="other")(slow)
    assert len((await server.list_tools())["tools"]) == 2


async def test_a_gate_that_does_not_say_true_or_false_lets_nobody_in(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def never(who: object, name: str) -> bool:
        return False

    with pytest.raises(TypeError, match="expected a plain function, got an async one"):
        LiteServer(tools(Work()), may_call=never)  # type: ignore[arg-type]
    answers: list[Any] = [lambda: never("ada", "quick"), lambda: None, lambda: 1, lambda: "no"]
    for answer in answers:
        made: list[Any] = []

        def gate(who: object, name: str, answer: Any = answer, made: list[Any] = made) -> Any:
            made.append(answer())
            return made[-1]

        server = LiteServer(tools(Work()), may_call=gate)
        with pytest.raises(InternalError):
            await lite_call(server, "quick")
        with pytest.raises(TypeError, match="expected it to return True or False, got"):
            await server.list_tools()
        for one in made:
            if hasattr(one, "close"):
                one.close()
    assert "expected it to return True or False, got coroutine" in caplog.text


@pytest.mark.spec("mcp-lite-3.2-2")
async def test_arguments_are_checked_and_errors_are_those_of_the_protocol(
    server: LiteServer, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(InvalidParamsError, match="/arguments/limit"):
        await lite_call(server, "search", query="x", limit="many")
    with pytest.raises(InvalidParamsError, match="progressToken"):
        await lite_call(server, "search", meta={"progressToken": []}, query="x")
    with caplog.at_level(logging.CRITICAL), pytest.raises(InternalError) as caught:
        await lite_call(server, "crash")
    assert "secret" not in str(caught.value)


@pytest.mark.spec("mcp-lite-A.5-1", "mcp-lite-4.4-3")
async def test_a_tool_that_is_not_there_is_answered_with_those_there_are() -> None:
    server = LiteServer(tools(Work()), may_call=lambda who, name: who == "eve" or name != "pay")
    for name in ("serch", "pay"):
        with pytest.raises(mcplite.ToolNotFoundError) as caught:
            await lite_call(server, name)
        data = caught.value.data
        assert data["requested_tool"] == name
        assert "pay" not in data["available_tools"]
        assert {"redeem", "search"} <= {*data["available_tools"]}
    with pytest.raises(mcplite.ToolNotFoundError) as caught:
        await lite_call(server, "serch", LiteCaller("eve"))
    assert "pay" in caught.value.data["available_tools"]
    assert caught.value.data["suggestion"] == "Did you mean 'search'?"
    assert "pay" not in str(await server.list_tools())
    assert "'pay'" in str(await server.list_tools(LiteCaller("eve")))


@each("what", ["sample", "roots", "session"])
async def test_a_tool_that_needs_the_session_is_a_failure(what: str) -> None:
    result = await lite_call(LiteServer(tools(Work())), "needy", what=what)
    assert result["error"]["code"] == "SESSION_NEEDED"
    assert result["_meta"]["response_type"] == "failure"


@pytest.mark.spec("mcp-lite-1-4", "mcp-lite-3.7-1", "mcp-lite-3.7-3")
async def test_a_tool_that_yields_is_streamed_or_joined(server: LiteServer) -> None:
    parts: list[JsonObject] = []

    async def send(part: JsonObject) -> None:
        parts.append(part)

    for fail, code in ((False, None), (True, "BROKEN")):
        parts.clear()
        result = await server.stream(ToolCall("pieces", {"fail": fail}), ANYONE, send)
        assert parts == [{"partial": "one "}, {"partial": "two"}]
        assert text_of(result).startswith("one two")
        assert result.get("error", {}).get("code") == code
        assert "timestamp" in result["_meta"]
    assert text_of(await lite_call(server, "pieces")) == "one two"


@pytest.mark.spec("mcp-lite-3.4-3", "mcp-lite-3.8-1")
async def test_questions_are_answered_by_the_same_call_without_state_at_the_server() -> None:
    secret = "s" * 32
    first, second = (LiteServer(tools(Work()), secret=secret) for _ in range(2))
    asked = await lite_call(first, "report", topic="a")
    assert asked["_meta"]["response_type"] == "elicitation"
    meta = {
        "elicitation_answers": {"format": "short", "unknown": 1},
        "elicitation_context": asked["elicitation"]["context"],
    }
    result = await lite_call(second, "report", meta=meta, topic="a")
    assert result["content"] == [{"answers": {"format": "short"}, "state": {"topic": "a"}}]
    refused = [
        lite_call(second, "report", meta=meta, topic="b"),
        lite_call(second, "report", LiteCaller("eve"), meta, topic="a"),
        lite_call(second, "report", meta={"elicitation_answers": {}}, topic="a"),
        lite_call(LiteServer(tools(Work())), "report", meta=meta, topic="a"),
    ]
    for call in refused:
        assert (await call)["error"]["code"] == "ANSWERS_UNAVAILABLE"
    with pytest.raises(InvalidParamsError, match="elicitation_answers"):
        await lite_call(first, "report", meta={"elicitation_answers": []})


@pytest.mark.spec("mcp-lite-2.2-5", "mcp-lite-3.3-3")
async def test_the_context_of_a_session_goes_to_the_tool_and_back() -> None:
    mcp_server = Server("s", "1")

    @mcp_server.tool
    async def remember(context: Context) -> mcp.CallToolResult:
        return mcp.CallToolResult(
            content=[], meta={"session_context": [context.meta.session_context]}
        )

    server = LiteServer(mcp_server, version="9")
    result = await lite_call(server, "remember", meta={"session_context": "conv"})
    assert result["_meta"]["session_context"] == ["conv"]
    assert result["_meta"]["server_version"] == "9"


async def test_a_tool_sees_the_params_and_the_message_of_its_call() -> None:
    mcp_server = Server("s", "1")

    @mcp_server.tool
    async def look(context: Context, depth: int) -> JsonObject:
        params = context.params
        assert isinstance(params, mcp.CallToolRequestParams)
        assert context.params is params
        return {"name": params.name, "depth": params.arguments, "message": context.message}

    server = LiteServer(mcp_server)
    for meta in ({}, {"session_context": "conv"}):
        (seen,) = (await lite_call(server, "look", meta=meta, depth=1))["content"]
        params = {"name": "look", "arguments": {"depth": 1}, **({"_meta": meta} if meta else {})}
        message = {"jsonrpc": "2.0", "method": "tools/call", "params": params}
        assert seen == {"name": "look", "depth": {"depth": 1}, "message": message}
    with pytest.raises(InvalidParamsError, match="tools/call#/_meta/progressToken"):
        await lite_call(server, "look", meta={"progressToken": []}, depth=1)


async def test_a_handler_may_come_and_go_while_the_tools_are_served() -> None:
    mcp_server = Server("s", "1")
    server = LiteServer(mcp_server)

    @mcp_server.on.tools_call
    async def called(params: mcp.CallToolRequestParams, context: Context) -> Any:
        assert context.params is params
        return {"content": [{"type": "text", "text": "own"}]}

    assert text_of(await lite_call(server, "any")) == "own"
    mcp_server.remove_handler(TOOLS_CALL)
    with pytest.raises(mcplite.ToolNotFoundError):
        await lite_call(server, "any")


class Upstream:
    """A source of tools that is not a server of MCP."""

    version = None
    may_promise = False

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    def promise_after(self, name: str) -> None:
        return None

    async def list_tools(self, caller: LiteCaller) -> list[JsonObject]:
        return [{"name": "t", "inputSchema": {}}, {"name": "redeem", "inputSchema": {}}]

    async def run(self, run: ToolRun) -> object:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


MORE = {"content": [], "_meta": {"response_type": "request-for-more-resource"}}


@pytest.mark.spec("mcp-lite-1-6")
@each(
    ("outcome", "kind"),
    [
        ({"content": []}, "answer"),
        (MoreResources(MORE), "request-for-more-resource"),
        ({"content": [], "_meta": {"response_type": "later"}}, "later"),
        (ToolError("x"), "failure"),
    ],
)
async def test_what_another_source_answers_is_passed_on(outcome: Any, kind: str) -> None:
    server = LiteServer(Upstream(outcome))
    assert (await lite_call(server, "t"))["_meta"]["response_type"] == kind
    assert (await server.list_tools())["tools"] == [
        {"name": "t", "inputSchema": {}, "description": ""}
    ]


async def test_an_unknown_tool_of_another_source_and_its_own_key_error_differ(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(mcplite.ToolNotFoundError):
        await lite_call(LiteServer(Upstream(NoSuchToolError())), "t")

    async def work() -> object:
        raise KeyError("t")

    own = Server("s", "1")

    @own.tool(name="t")
    def looked_up() -> str:
        raise KeyError("t")

    for server in (own, Upstream(KeyError("t")), Upstream(Promised(work))):
        with caplog.at_level(logging.CRITICAL), pytest.raises(InternalError):
            await lite_call(LiteServer(server), "t")


@each(
    "made",
    [
        "hunter2",
        {"_meta": "hunter2"},
        SystemExit("hunter2"),
        GeneratorExit("hunter2"),
        asyncio.CancelledError("hunter2"),
        BaseException("hunter2"),
        BaseExceptionGroup("hunter2", [SystemExit(3)]),
    ],
)
async def test_whatever_a_tool_raises_or_returns_is_an_internal_error(
    made: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = LiteServer(Upstream(made))
    with caplog.at_level(logging.CRITICAL):
        with pytest.raises(InternalError) as caught:
            await lite_call(server, "t")
        assert "hunter2" not in str(caught.value)
        server.source.promise_after = lambda name: 0.0  # type: ignore[method-assign]
        with pytest.raises(InternalError):
            await lite_call(server, "t")


async def test_a_call_that_is_cancelled_is_not_an_error(server: LiteServer) -> None:
    for name in ("pay", "order"):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await lite_call(server, name, amount=1)
        assert scope.cancelled_caught


@pytest.mark.spec("mcp-lite-7.1-1")
async def test_handlers_of_a_program_are_served_as_well() -> None:
    mcp_server = Server("s", "1")

    @mcp_server.on.tools_list
    async def listed(params: mcp.PaginatedRequestParams) -> Any:
        tool = {"name": f"t{params.cursor or 0}", "inputSchema": {"type": "object"}}
        return {"tools": [tool], **({} if params.cursor else {"nextCursor": "1"})}

    @mcp_server.on.tools_call
    async def called(params: mcp.CallToolRequestParams) -> Any:
        if params.name == "t0":
            text = mcp.TextContent(text=str(params.arguments))
            return mcp.CallToolResult(content=[text], is_error=params.arguments == {"a": 0})
        raise InvalidParamsError("what?")

    server = LiteServer(mcp_server)
    first = await server.list_tools()
    assert [one["name"] for one in first["tools"]] == ["t0", "t1"]
    assert await server.list_tools() is first
    assert text_of(await lite_call(server, "t0", a=1)) == "{'a': 1}"
    assert (await lite_call(server, "t0", a=0))["error"]["code"] == "TOOL_FAILED"
    with pytest.raises(InvalidParamsError, match="what"):
        await lite_call(server, "t1")
    with pytest.raises(mcplite.ToolNotFoundError):
        await lite_call(server, "t2")


@each(
    "arguments",
    [{"secret": "short"}, {"limits": 5}, {"version": 1}, {"may_call": 1}, {"records": 1}],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match="LiteServer") as caught:
        LiteServer(Server("s", "1"), **arguments)
    assert "short" not in str(caught.value)
    wrong: Any = 5
    with pytest.raises(TypeError, match="LiteServer"):
        LiteServer(wrong)


@each("name", [name for name in LiteLimits.__slots__])
def test_limits_are_checked(name: str) -> None:
    wrong: Any = {name: 0}
    with pytest.raises(ValueError, match=name):
        LiteLimits(**wrong)


async def test_nothing_is_kept_of_calls_that_are_over(server: LiteServer) -> None:
    with anyio.fail_after(30):
        for _ in range(20):
            await lite_call(server, "quick")
    assert not server._promises.works.open
    assert not server._promises.works._running
