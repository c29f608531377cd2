"""A server: the handshake, what its capabilities follow from, handlers and tools while it runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.profile import PROFILE
from kinwire.mcp.server import Server
from kinwire.rpc.errors import HandlerDefinitionError, ToolDefinitionError
from kinwire.rpc.session import Session
from kinwire.support.background import background
from kinwire.testing import pair
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.base import Message, RpcError
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp import methods
from kinwire_protocols.peer import Method
from tests.each import each

pytestmark = pytest.mark.anyio

INITIALIZE = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "0"},
}


class Echo(Message):
    text: str


VENDOR_ECHO = Method[Echo, Echo](
    name="vendor/echo",
    protocol="vendor",
    attribute="vendor_echo",
    kind="request",
    sender="client",
    params=Echo,
    result=Echo,
    section="none",
)


@pytest.fixture
def server() -> Server:
    server = Server("notes", "1.2", instructions="Be brief.")

    @server.tool
    async def echo(text: str) -> str:
        """Return the text."""
        return text

    return server


@asynccontextmanager
async def opened(server: Server) -> AsyncGenerator[Session]:
    """A session with `server` on which nothing has been said yet."""
    client_end, server_end = memory_pair()
    async with background() as tasks, Session(client_end, profile=PROFILE, routes={}) as session:
        tasks.start_soon(server.serve, server_end)
        yield session


async def code_of(session: Session, method: str, params: dict[str, Any] | None = None) -> int:
    with pytest.raises(RpcError) as caught:
        await session.raw(method, params)
    return caught.value.code


# -- the handshake --


@pytest.mark.parametrize("offered", ["2024-11-05", "2025-11-25", "2099-01-01", "1.0"])
@pytest.mark.spec(
    "mcp-protocol-version-1", "mcp-initialize-response-1", "mcp-initialize-response-3"
)
async def test_initialize_answers_with_the_version_this_server_speaks(
    server: Server, offered: str
) -> None:
    async with opened(server) as session:
        assert await session.raw("initialize", {**INITIALIZE, "protocolVersion": offered}) == {
            "protocolVersion": "2024-11-05",
            "capabilities": {"logging": {}, "tools": {"listChanged": True}},
            "serverInfo": {"name": "notes", "version": "1.2"},
            "instructions": "Be brief.",
        }


async def test_a_session_opens_by_initialize_and_only_once(server: Server) -> None:
    async with opened(server) as session:
        with pytest.raises(RpcError, match=r"tools/list: .* Send initialize first") as caught:
            await session.raw("tools/list")
        assert caught.value.code == -32600
        assert await session.raw("ping") == {}
        assert await code_of(session, "server/discover") == -32601
        assert await code_of(session, "initialize", {"capabilities": {}}) == -32602
        await session.raw("initialize", INITIALIZE)
        await session.raw_notify("notifications/initialized")
        assert await code_of(session, "initialize", INITIALIZE) == -32600
        assert len((await session.raw("tools/list"))["tools"]) == 1


async def test_what_is_sent_right_behind_initialize_waits_for_it(server: Server) -> None:
    answers: dict[str, Any] = {}

    async def ask(session: Session, method: str, params: dict[str, Any] | None) -> None:
        answers[method] = await session.raw(method, params)

    async with opened(server) as session, anyio.create_task_group() as tasks:
        # Both leave before either is answered: the session writes once a turn.
        await tasks.start(_then, ask, session, "initialize", INITIALIZE)
        tasks.start_soon(ask, session, "tools/list", None)
    assert [tool["name"] for tool in answers["tools/list"]["tools"]] == ["echo"]


async def _then(ask: Any, *arguments: Any, task_status: Any) -> None:
    task_status.started()
    await ask(*arguments)


async def test_each_session_has_a_handshake_of_its_own(server: Server) -> None:
    async with opened(server) as first, opened(server) as second:
        await first.raw("initialize", INITIALIZE)
        assert await code_of(second, "tools/list") == -32600
        assert await first.raw("tools/list")


async def test_a_notification_before_the_handshake_reaches_no_handler(server: Server) -> None:
    seen: list[Message] = []

    @server.on.notifications_roots_list_changed
    async def changed(params: mcp.NotificationParams) -> None:
        seen.append(params)

    async with opened(server) as session:
        await session.raw_notify("notifications/roots/list_changed")
        await session.raw("ping")
        await session.raw("initialize", INITIALIZE)
        assert seen == []
        await session.raw_notify("notifications/roots/list_changed")
        await session.raw("ping")
    assert len(seen) == 1


# -- capabilities --


@pytest.mark.parametrize(
    ("row", "capabilities"),
    [
        (None, {}),
        (methods.PING, {}),
        (methods.COMPLETION_COMPLETE, {}),
        (methods.TOOLS_LIST, {"tools": {}}),
        (methods.PROMPTS_GET, {"prompts": {}}),
        (methods.RESOURCES_READ, {"resources": {}}),
        (methods.RESOURCES_SUBSCRIBE, {"resources": {"subscribe": True}}),
        (methods.LOGGING_SET_LEVEL, {"logging": {}}),
        (methods.NOTIFICATIONS_ROOTS_LIST_CHANGED, {}),
    ],
    ids=lambda value: getattr(value, "name", None),
)
@pytest.mark.spec("mcp-initialize-response-2")
async def test_capabilities_follow_from_the_handlers(
    row: Method[Any, Any] | None, capabilities: dict[str, Any]
) -> None:
    server = Server("s", "1", log_level=None)

    async def handler(params: Any) -> Any:
        raise NotImplementedError

    if row is not None:
        server.on(row)(handler)
    async with opened(server) as session:
        assert (await session.raw("initialize", INITIALIZE))["capabilities"] == capabilities
        if not capabilities:
            assert await code_of(session, "tools/list") == -32601


# -- handlers --


async def test_a_handler_takes_params_or_params_and_context(server: Server) -> None:
    seen: list[Any] = []

    @server.on.completion_complete
    async def complete(params: mcp.CompleteRequestParams) -> mcp.CompleteResult:
        return mcp.CompleteResult(completion=mcp.Completion(values=[params.argument.value]))

    @server.on(VENDOR_ECHO)
    async def echo(params: Echo, context: Context) -> Echo:
        seen.extend([context.request_id, context.meta, context.session.closed])
        return params

    async with pair(server) as client:
        completed = await client.mcp.completion_complete(
            ref=mcp.PromptReference(name="p"),
            argument=mcp.CompletionArgument(name="a", value="v"),
        )
        assert completed.completion.values == ["v"]
        assert (await client.call(VENDOR_ECHO, Echo(text="hi"))).text == "hi"
    assert seen[1:] == [None, False]
    assert isinstance(seen[0], int)


async def none() -> Any: ...
async def three(a: Any, b: Any, c: Any) -> Any: ...
async def keyword(params: Any, *, context: Any) -> Any: ...
def plain(params: Any) -> Any: ...


@each(
    ("handler", "message"),
    [
        (
            none,
            r"tools/list: none: expected parameters \(params\) or \(params, context\), got \(\)",
        ),
        (three, r"got \(a: 'Any', b: 'Any', c: 'Any'\).* Write `async def ...\(params: Paginated"),
        (keyword, r"expected parameters"),
        (plain, r"tools/list: plain: expected an async function\. Write it as `async def`"),
    ],
)
def test_an_invalid_handler_is_refused_with_a_hint(
    handler: Callable[..., Any], message: str
) -> None:
    with pytest.raises(HandlerDefinitionError, match=message):
        Server("s", "1").on.tools_list(handler)


@each("row", [methods.INITIALIZE, methods.NOTIFICATIONS_CANCELLED, methods.NOTIFICATIONS_PROGRESS])
def test_what_the_session_serves_itself_takes_no_handler(row: Method[Any, Any]) -> None:
    async def handler(params: Any) -> Any: ...

    with pytest.raises(HandlerDefinitionError, match="the session serves this method itself"):
        Server("s", "1").on(row)(handler)


def test_a_method_has_one_handler(server: Server) -> None:
    async def handler(params: Any) -> Any: ...

    with pytest.raises(HandlerDefinitionError, match="tools/call: there is a handler already"):
        server.on.tools_call(handler)

    other = Server("s", "1")
    other.on.tools_list(handler)
    with pytest.raises(HandlerDefinitionError, match="tools/list: there is a handler already"):
        other.tool(keyword)


async def test_handlers_come_and_go_while_a_session_is_open(server: Server) -> None:
    async def echo(params: Echo) -> Echo:
        return params

    async def pong(params: Message) -> mcp.EmptyResult:
        return mcp.EmptyResult(meta={"mine": True})

    async with pair(server) as client:
        assert await code_of(client.session, "vendor/echo", {"text": "a"}) == -32601
        server.on(VENDOR_ECHO)(echo)
        server.on.ping(pong)
        assert await client.session.raw("vendor/echo", {"text": "a"}) == {"text": "a"}
        assert await client.session.raw("ping") == {"_meta": {"mine": True}}
        server.remove_handler(VENDOR_ECHO)
        server.remove_handler(methods.PING)
        assert await code_of(client.session, "vendor/echo", {"text": "a"}) == -32601
        assert await client.session.raw("ping") == {}
    with pytest.raises(KeyError):
        server.remove_handler(VENDOR_ECHO)


# -- tools --


@pytest.mark.spec("mcp-listchanged-flag-3")
async def test_tools_come_and_go_while_a_session_is_open() -> None:
    server = Server("s", "1", offers=["tools"])

    async def names() -> list[str]:
        return [tool.name for tool in (await client.mcp.tools_list()).tools]

    async with pair(server) as client:
        server.tool(lambda_named("one"))
        server.tool(description="")(lambda_named("two"))
        assert await names() == ["one", "two"]
        server.remove_tool("one")
        assert await names() == ["two"]
        server.tool(name="three", description="The third.")(lambda_named("ignored"))
        listed = (await client.mcp.tools_list()).tools
        assert [(tool.name, tool.description) for tool in listed] == [
            ("two", None),
            ("three", "The third."),
        ]
    with pytest.raises(KeyError):
        server.remove_tool("one")


def lambda_named(name: str) -> Callable[[], None]:
    def function() -> None: ...

    function.__name__ = name
    return function


def test_a_tool_name_is_used_once(server: Server) -> None:
    with pytest.raises(ToolDefinitionError, match="Tool 'echo': expected a name that is free"):
        server.tool(name="echo")(lambda_named("other"))


async def test_an_unknown_tool_is_refused_with_the_nearest_name(server: Server) -> None:
    async with pair(server) as client:
        with pytest.raises(InvalidParamsError, match=r"Unknown tool: 'ecoh'\. Did you mean 'echo'"):
            await client.mcp.tools_call(name="ecoh")
        with pytest.raises(InvalidParamsError, match=r"Unknown tool: 'x'\. tools/list names"):
            await client.mcp.tools_call(name="x")


async def test_a_cursor_that_nobody_gave_is_refused(server: Server) -> None:
    async with pair(server) as client:
        with pytest.raises(InvalidParamsError, match="tools/list#/cursor"):
            await client.mcp.tools_list(cursor="bogus")
        assert "nextCursor" not in await client.session.raw("tools/list")


@pytest.mark.spec("mcp-error-codes-4", "mcp-tool-error-vs-json-rpc-error-2")
async def test_arguments_that_break_the_schema_do_not_reach_the_tool() -> None:
    server, calls = Server("s", "1"), list[int]()

    @server.tool
    async def count(number: int) -> None:
        calls.append(number)

    async with pair(server) as client:
        with pytest.raises(InvalidParamsError) as caught:
            await client.mcp.tools_call(name="count", arguments={"number": "5"})
        await client.mcp.tools_call(name="count", arguments={"number": 5})
    assert calls == [5]
    assert caught.value.data["problems"] == [
        {"pointer": "/arguments/number", "expected": "a valid integer", "got": '"5"'}
    ]


@pytest.mark.spec("mcp-tools-call-request-2", "mcp-progress-1", "mcp-progress-2")
async def test_a_tool_reports_progress_to_who_asked() -> None:
    server = Server("s", "1")

    @server.tool
    async def work(context: Context) -> None:
        await context.progress(1, total=2, message="half")
        await context.progress(2, total=2)

    reports: list[tuple[float, float | None, str | None]] = []

    def report(params: mcp.ProgressNotificationParams) -> None:
        reports.append((params.progress, params.total, params.message))

    async with pair(server) as client:
        await client.mcp.tools_call(name="work")
        assert not [frame for frame in client.frames if b"notifications/progress" in frame.data]
        await client.with_options(on_progress=report).mcp.tools_call(name="work")
    assert reports == [(1, 2, "half"), (2, 2, None)]


async def test_a_failing_tool_reveals_no_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("s", "1")

    @server.tool
    async def broken() -> None:
        raise RuntimeError("password is hunter2")

    @server.tool
    async def unsendable() -> object:
        return object()

    async with pair(server) as client:
        for name in ("broken", "unsendable"):
            with pytest.raises(RpcError) as caught:
                await client.mcp.tools_call(name=name)
            assert caught.value.code == -32603
        assert not [frame for frame in client.frames if b"hunter2" in frame.data]
    assert "hunter2" in caplog.text
