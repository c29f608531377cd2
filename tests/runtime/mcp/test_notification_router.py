"""Notifications of a server: lists that change, log messages, and unknown ones."""

from __future__ import annotations

import logging
from asyncio import CancelledError
from typing import Any

import anyio
import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.server import Server
from kinwire.rpc.limits import Limits
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp import methods

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Server:
    """A server whose tools say things before they answer."""
    server = Server("talker", "1.0")

    @server.tool
    async def say(method: str, params: JsonObject, context: Context) -> str:
        await context.session.raw_notify(method, params)
        await context.roots()  # what was said before has been handled
        return "said"

    @server.tool
    async def tell_of_lists(context: Context) -> str:
        for _ in range(5):
            for name in ("tools", "prompts", "resources"):
                await context.session.raw_notify(f"notifications/{name}/list_changed")
        await context.roots()
        return "done"

    return server


async def say(client: Any, method: str, **params: Any) -> mcp.CallToolResult:
    result: mcp.CallToolResult = await client.mcp.tools_call(
        name="say", arguments={"method": method, "params": params}
    )
    return result


async def test_lists_that_change_are_yielded_once_each(server: Server) -> None:
    async with pair(server, Host("h", "1", roots=[])) as client:
        with client.changes() as changes, client.changes() as others:
            await client.mcp.tools_call(name="tell_of_lists")
            with anyio.fail_after(20):
                assert sorted([await anext(changes) for _ in range(3)]) == [
                    "prompts",
                    "resources",
                    "tools",
                ]
                assert await anext(others)
            with anyio.move_on_after(0.01) as scope:
                await anext(changes)
            assert scope.cancelled_caught
        with pytest.raises(StopAsyncIteration):
            await anext(changes)


async def test_handlers_of_the_host_hear_of_changes_too(server: Server) -> None:
    heard: list[str] = []
    host = Host("h", "1", roots=[])

    @host.on.notifications_tools_list_changed
    async def changed(params: mcp.NotificationParams, context: Context) -> None:
        heard.append(context.session.__class__.__name__)

    async with pair(server, host) as client:
        with client.changes() as changes:
            await say(client, "notifications/tools/list_changed")
            assert await anext(changes) == "tools"
        assert heard == ["Session"]
        host.remove_handler(methods.NOTIFICATIONS_TOOLS_LIST_CHANGED)
        await say(client, "notifications/tools/list_changed")
        assert heard == ["Session"]


@pytest.mark.spec("mcp-listchanged-flag-2")
async def test_a_handler_may_ask_the_server_while_a_call_is_under_way(server: Server) -> None:
    host = Host("h", "1", roots=[])
    fetched: list[str] = []
    done = anyio.Event()

    @host.on.notifications_tools_list_changed
    async def changed(params: mcp.NotificationParams, context: Context) -> None:
        listed = await mcp.ServerStub(context.session).tools_list()
        fetched.extend(tool.name for tool in listed.tools)
        done.set()

    @host.on.notifications_message
    async def logged(params: mcp.LoggingMessageNotificationParams, context: Context) -> None:
        await mcp.ServerStub(context.session).ping()

    with anyio.fail_after(20):
        async with pair(server, host) as client:
            await say(client, "notifications/message", level="info", data="x")
            await say(client, "notifications/tools/list_changed")
            await done.wait()
    assert fetched == ["say", "tell_of_lists"]


async def test_a_handler_for_log_messages_may_ask_a_server_that_asks_back() -> None:
    server, host = Server("talker", "1.0"), Host("h", "1", roots=["file:///a"])
    heard: list[Any] = []
    done = anyio.Event()

    @server.tool
    async def log(context: Context) -> None:
        for number in range(3):
            await context.log("info", number)

    @server.tool
    async def count_roots(context: Context) -> int:
        return len(await context.roots())

    @host.on.notifications_message
    async def logged(params: mcp.LoggingMessageNotificationParams, context: Context) -> None:
        result = await mcp.ServerStub(context.session).tools_call(name="count_roots")
        heard.append((params.data, result.content))
        if params.data == 2:
            done.set()

    with anyio.fail_after(20):
        async with pair(server, host) as client:
            await client.mcp.tools_call(name="log")
            await done.wait()
    assert heard == [(number, [mcp.TextContent(text="1")]) for number in range(3)]


async def test_a_handler_for_log_messages_that_fails_or_hangs_holds_nothing_up(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    host = Host("h", "1", roots=[], limits=Limits(drain=0.01))
    heard: list[Any] = []

    @host.on.notifications_message
    async def logged(params: mcp.LoggingMessageNotificationParams) -> None:
        heard.append(params.data)
        if params.data == 0:
            raise ZeroDivisionError
        await anyio.sleep_forever()

    with anyio.fail_after(20):
        async with pair(server, host) as client:
            for number in range(3):
                await say(client, "notifications/message", level="info", data=number)
    assert heard == [0, 1]
    assert "the handler of notifications/message failed" in caplog.text


@pytest.mark.parametrize("error", [CancelledError, SystemExit])
async def test_a_handler_for_log_messages_that_ends_oddly_ends_alone(
    server: Server, error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    host, heard = Host("h", "1", roots=[]), list[Any]()

    @host.on.notifications_message
    async def logged(params: mcp.LoggingMessageNotificationParams) -> None:
        heard.append(params.data)
        raise error

    async with pair(server, host) as client:
        for number in range(3):
            await say(client, "notifications/message", level="info", data=number)
    assert heard == [0, 1, 2]
    assert caplog.text.count("the handler of notifications/message failed") == 3


async def test_a_burst_of_log_messages_is_heard_whole_and_crowds_nothing_out() -> None:
    server, host, heard = Server("s", "1"), Host("h", "1", roots=[]), list[Any]()
    most = Limits().in_flight

    @server.tool
    async def burst(context: Context) -> None:
        for number in range(2 * most):
            message: JsonObject = {"level": "info", "data": number}
            await context.session.raw_notify("notifications/message", message)
        await context.session.raw_notify("notifications/tools/list_changed")
        await context.roots()

    async with pair(server, host, on_log=lambda message: heard.append(message.data)) as client:
        with client.changes() as changes:
            await client.mcp.tools_call(name="burst")
            with anyio.fail_after(20):
                assert await anext(changes) == "tools"
        assert client.session.counts.dropped_notifications == 0
    assert heard == list(range(2 * most))


async def test_an_interceptor_stands_around_log_messages_as_well(server: Server) -> None:
    heard: list[Any] = []

    async def redact(params: Any, request: Any, go_on: Any) -> Any:
        return await go_on(params.model_copy(update={"data": "redacted"}))

    async with pair(
        server, Host("h", "1", roots=[]), on_log=lambda message: heard.append(message.data)
    ) as client:
        client.session.intercept_inbound(redact, methods.NOTIFICATIONS_MESSAGE)
        await say(client, "notifications/message", level="info", data="secret")
    assert heard == ["redacted"]


async def test_log_messages_that_wait_are_bounded(server: Server) -> None:
    host = Host("h", "1", roots=[])
    heard: list[Any] = []
    go_on, all_heard = anyio.Event(), anyio.Event()

    @server.tool
    async def flood(context: Context) -> None:
        for hundred in range(12):
            for number in range(100):
                message = {"level": "info", "data": 100 * hundred + number}
                await context.session.raw_notify("notifications/message", message)
            await context.roots()

    @host.on.notifications_message
    async def logged(params: mcp.LoggingMessageNotificationParams) -> None:
        heard.append(params.data)
        await go_on.wait()
        if len(heard) == 1001:
            all_heard.set()

    with anyio.fail_after(20):
        async with pair(server, host) as client:
            await client.mcp.tools_call(name="flood")
            go_on.set()
            await all_heard.wait()  # closing gives handlers a moment only
    assert heard == list(range(1001))


async def test_what_nobody_knows_is_ignored_and_the_call_goes_on(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[mcp.LoggingMessageNotificationParams] = []
    async with pair(server, Host("h", "1", roots=[]), on_log=heard.append) as client:
        for method, params in (
            ("notifications/stderr", {"text": "x"}),
            ("codex/event", {"msg": {"type": "y"}}),
            ("notifications/message", {"level": "info", "data": 1, "extra": {"a": 1}}),
            ("notifications/message", {"level": 7}),
            ("notifications/resources/updated", {}),
        ):
            result = await say(client, method, **params)
            assert result.content == [mcp.TextContent(text="said")]
    assert [message.model_dump()["extra"] for message in heard] == [{"a": 1}]
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_log_messages_go_to_the_logger_of_their_server(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "kinwire.server")
    async with pair(server, Host("h", "1", roots=[])) as client:
        await say(client, "notifications/message", level="notice", logger="db", data="it is open")
        await say(client, "notifications/message", level="loud", data={"a": [1, None]})
    logged = [
        (record.name, record.levelname, record.getMessage())
        for record in caplog.records
        if record.name.startswith("kinwire.server")
    ]
    assert logged == [
        ("kinwire.server.talker", "INFO", "db: it is open"),
        ("kinwire.server.talker", "WARNING", '(loud) {"a": [1, null]}'),
    ]


async def test_a_handler_for_log_messages_stands_in_for_the_logger(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    host = Host("h", "1", roots=[])
    heard: list[str] = []

    @host.on.notifications_message
    async def logged(params: mcp.LoggingMessageNotificationParams) -> None:
        heard.append(params.level)

    async with pair(server, host) as client:
        await say(client, "notifications/message", level="alert", data="x")
    assert heard == ["alert"]
    assert [record for record in caplog.records if record.name.startswith("kinwire.server")] == []


async def test_log_messages_keep_their_order() -> None:
    server = Server("talker", "1.0")
    heard: list[Any] = []

    @server.tool
    async def count(context: Context) -> None:
        for number in range(100):
            message = {"level": "info", "data": number}
            await context.session.raw_notify("notifications/message", message)
        await context.roots()

    async with pair(
        server, Host("h", "1", roots=[]), on_log=lambda message: heard.append(message.data)
    ) as client:
        await client.mcp.tools_call(name="count")
    assert heard == list(range(100))


async def test_a_callback_that_fails_harms_nothing(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(message: object) -> None:
        raise ZeroDivisionError

    async with pair(server, Host("h", "1", roots=[]), on_log=fail) as client:
        await say(client, "notifications/message", level="info", data="x")
        await client.mcp.ping()
    assert "the on_log function for talker failed" in caplog.text


async def test_a_callback_for_log_messages_is_a_plain_function(server: Server) -> None:
    async def on_log(message: object) -> None:
        raise NotImplementedError

    with pytest.raises(TypeError, match="on_log: expected a plain function"):
        async with pair(server, Host("h", "1", roots=[]), on_log=on_log):
            raise AssertionError
