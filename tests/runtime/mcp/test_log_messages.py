"""Log messages of a server: which client gets which, and what a client may ask for."""

from __future__ import annotations

from typing import Any, cast

import anyio.from_thread
import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.log_messages import LEVELS
from kinwire.mcp.server import Server
from kinwire.rpc.errors import HandlerDefinitionError, SessionStateError, UnsendableError
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from kinwire_protocols.mcp import methods
from kinwire_protocols.mcp.models import LoggingLevel
from tests.runtime.mcp.fake_client import RawClient, raw_client

pytestmark = pytest.mark.anyio

MESSAGE = "notifications/message"


def noisy(log_level: LoggingLevel | None = "info") -> Server:
    """A server with a tool that logs at every level."""
    server = Server("s", "1", log_level=log_level)

    @server.tool
    async def noise(context: Context) -> None:
        for level in LEVELS:
            await context.log(level, {"at": level}, logger="noise")

    return server


async def levels_heard(client: RawClient) -> list[str]:
    client.heard.clear()
    await client.session.raw("tools/call", {"name": "noise"})
    return [params["level"] for params in client.received(MESSAGE)]


@pytest.mark.spec("mcp-logging-5")
async def test_each_session_gets_its_own_level_in_the_order_of_syslog() -> None:
    server = noisy()
    async with raw_client(server) as first, raw_client(server) as second:
        for client in (first, second):
            assert (await client.greet())["capabilities"]["logging"] == {}
        assert await first.session.raw("logging/setLevel", {"level": "error"}) == {}
        await second.session.raw("logging/setLevel", {"level": "debug"})
        assert await levels_heard(first) == ["error", "critical", "alert", "emergency"]
        assert await levels_heard(second) == list(LEVELS)
        with pytest.raises(RpcError) as caught:
            await first.session.raw("logging/setLevel", {"level": "loud"})
        assert caught.value.code == -32602
        assert await levels_heard(first) == ["error", "critical", "alert", "emergency"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.spec("mcp-logging-2", "mcp-logging-3", "mcp-logging-4")
async def test_until_a_client_chooses_the_level_of_the_server_holds(level: LoggingLevel) -> None:
    async with raw_client(noisy(level)) as client:
        await client.greet()
        assert await levels_heard(client) == list(LEVELS[LEVELS.index(level) :])


@pytest.mark.spec("mcp-logging-1")
async def test_a_message_carries_level_logger_and_data() -> None:
    async with raw_client(noisy("emergency")) as client:
        await client.greet()
        await client.session.raw("tools/call", {"name": "noise"})
        assert client.received(MESSAGE) == [
            {"level": "emergency", "logger": "noise", "data": {"at": "emergency"}}
        ]


@pytest.mark.parametrize("data", ["text", None, 0, False, [1, None], {"a": None}])
@pytest.mark.spec("mcp-logging-1")
async def test_data_may_be_any_json_and_the_logger_may_be_absent(data: Any) -> None:
    server = Server("s", "1")

    @server.tool
    async def log(context: Context) -> None:
        await context.log("info", data)

    async with raw_client(server) as client:
        await client.greet()
        await client.session.raw("tools/call", {"name": "log"})
        assert client.received(MESSAGE) == [{"level": "info", "data": data}]


async def test_messages_may_go_out_before_the_client_says_it_is_ready() -> None:
    async with raw_client(noisy()) as client:
        await client.greet(done=False)
        assert len(await levels_heard(client)) == 7


async def test_a_server_without_logging_sends_nothing_and_lacks_the_method() -> None:
    async with raw_client(noisy(None)) as client:
        assert "logging" not in (await client.greet())["capabilities"]
        assert await levels_heard(client) == []
        with pytest.raises(RpcError) as caught:
            await client.session.raw("logging/setLevel", {"level": "debug"})
        assert caught.value.code == -32601


async def test_an_unknown_level_and_data_that_is_not_json_fail_the_tool() -> None:
    server, raised = Server("s", "1"), list[Exception]()

    @server.tool
    async def log(context: Context) -> None:
        for level, data in (("loud", ""), ("info", object())):
            try:
                await context.log(cast(LoggingLevel, level), data)
            except Exception as error:
                raised.append(error)

    async with pair(server) as client:
        await client.mcp.tools_call(name="log")
    assert [type(error) for error in raised] == [ValueError, UnsendableError]
    with pytest.raises(ValueError, match=r"Server\.log_level: expected 'debug', .*, got 'loud'"):
        Server("s", "1", log_level=cast(LoggingLevel, "loud"))


async def test_a_plain_function_logs_from_its_thread() -> None:
    server = Server("s", "1")

    @server.tool
    def log(context: Context) -> None:
        anyio.from_thread.run(context.log, "warning", "from a thread")

    async with raw_client(server) as client:
        await client.greet()
        await client.session.raw("tools/call", {"name": "log"})
        assert client.received(MESSAGE) == [{"level": "warning", "data": "from a thread"}]


async def test_a_handler_of_your_own_takes_the_place_of_the_servers() -> None:
    server, chosen = noisy(), list[str]()

    @server.on.logging_set_level
    async def set_level(params: mcp.SetLevelRequestParams) -> mcp.EmptyResult:
        chosen.append(params.level)
        return mcp.EmptyResult()

    async with raw_client(server) as client:
        await client.greet()
        await client.session.raw("logging/setLevel", {"level": "error"})
        assert chosen == ["error"]
        assert len(await levels_heard(client)) == 7
        server.remove_handler(methods.LOGGING_SET_LEVEL)
        await client.session.raw("logging/setLevel", {"level": "error"})
        assert len(await levels_heard(client)) == 4
    server.on.logging_set_level(set_level)
    with pytest.raises(HandlerDefinitionError, match="there is a handler already"):
        server.on.logging_set_level(set_level)


async def test_a_client_has_nobody_to_log_to() -> None:
    server, host, raised = Server("s", "1"), Host("h", "1"), list[str]()

    @host.on.roots_list
    async def roots(params: mcp.RequestParams, context: Context) -> mcp.ListRootsResult:
        with pytest.raises(SessionStateError, match="context of a client's handler") as caught:
            await context.log("info", "")
        raised.append(str(caught.value))
        return mcp.ListRootsResult(roots=[])

    @server.tool
    async def ask(context: Context) -> int:
        return len(await context.roots())

    async with pair(server, host) as client:
        await client.mcp.tools_call(name="ask")
    assert len(raised) == 1
