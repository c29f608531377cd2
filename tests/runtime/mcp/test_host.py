"""A host: the handshake from the client's side, and the life of its connections."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.mcp import host as mcp_host
from kinwire.mcp.context import Context
from kinwire.mcp.host import Host, connect
from kinwire.mcp.profile import PROFILE
from kinwire.mcp.server import Server
from kinwire.rpc.errors import (
    ConnectionClosedError,
    HandlerDefinitionError,
    ProtocolVersionError,
    RequestTimeoutError,
    SessionStateError,
)
from kinwire.rpc.limits import Limits
from kinwire.rpc.routes import Handler, Route
from kinwire.rpc.session import Session
from kinwire.rpc.transport import Transport
from kinwire.support.background import background
from kinwire.testing import pair
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.base import RpcError
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from kinwire_protocols.mcp import methods

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Server:
    limits = Limits(drain=0.05)
    server = Server("notes", "1.2", instructions="Be brief.", limits=limits)

    @server.tool
    async def wait(context: Context) -> None:
        await context.progress(1)
        await anyio.sleep_forever()

    return server


@asynccontextmanager
async def served(server: Server, count: int = 1) -> AsyncGenerator[list[Transport]]:
    """The client ends of `count` connections to `server`."""
    ends = [memory_pair() for _ in range(count)]
    async with background() as tasks:
        for _, server_end in ends:
            tasks.start_soon(server.serve, server_end)
        yield [client_end for client_end, _ in ends]


@asynccontextmanager
async def answering(initialize: Handler) -> AsyncGenerator[Transport]:
    """The client end of a connection to a peer that answers the handshake so."""
    client_end, server_end = memory_pair()
    routes = {"initialize": Route(methods.INITIALIZE, initialize)}
    async with Session(server_end, profile=PROFILE, routes=routes):
        yield client_end


@pytest.mark.spec("mcp-protocol-version-2", "mcp-protocol-version-4")
async def test_a_connection_says_what_was_negotiated(server: Server) -> None:
    async with pair(server) as client:
        assert client.protocol_version == "2024-11-05"
        assert client.server_info == mcp.Implementation(name="notes", version="1.2")
        assert client.capabilities == mcp.ServerCapabilities(
            logging={}, tools=mcp.ToolsCapability(list_changed=True)
        )
        assert client.instructions == "Be brief."


async def test_unknown_members_of_the_greeting_survive() -> None:
    async def initialize(params: mcp.InitializeRequestParams, request: Any) -> Any:
        return {
            "protocolVersion": "2024-11-05",
            "capabilities": {"mgp": {"version": "0.2"}},
            "serverInfo": {"name": "s", "version": "1", "title": "S"},
        }

    async with answering(initialize) as target, connect(target) as client:
        assert client.capabilities.model_dump() == {"mgp": {"version": "0.2"}}
        assert client.server_info.model_dump()["title"] == "S"


@pytest.mark.spec("mcp-protocol-version-3", "mcp-initialize-request-1", "mcp-initialize-request-3")
async def test_the_server_learns_who_the_host_is_and_what_it_serves() -> None:
    seen: list[mcp.InitializeRequestParams] = []

    async def initialize(params: mcp.InitializeRequestParams, request: Any) -> Any:
        seen.append(params)
        raise InvalidRequestError("enough")

    host = Host("my-host", "3.1")

    @host.on.roots_list
    async def roots(params: mcp.RequestParams) -> mcp.ListRootsResult:
        raise NotImplementedError

    async with answering(initialize) as target, host:
        with pytest.raises(InvalidRequestError, match="enough"):
            await host.connect(target)
    assert seen == [
        mcp.InitializeRequestParams(
            protocol_version="2024-11-05",
            capabilities=mcp.ClientCapabilities(roots=mcp.RootsCapability()),
            client_info=mcp.Implementation(name="my-host", version="3.1"),
        )
    ]


@pytest.mark.spec("mcp-protocol-version-2")
async def test_a_version_this_host_does_not_speak_ends_the_connection() -> None:
    async def initialize(params: mcp.InitializeRequestParams, request: Any) -> Any:
        return mcp.InitializeResult(
            protocol_version="2099-01-01",
            capabilities=mcp.ServerCapabilities(),
            server_info=mcp.Implementation(name="s", version="1"),
        )

    client_end, server_end = memory_pair()
    routes = {"initialize": Route(methods.INITIALIZE, initialize)}
    async with (
        Session(server_end, profile=PROFILE, routes=routes) as session,
        Host("h", "1") as host,
    ):
        with pytest.raises(ProtocolVersionError, match="expected 2024-11-05, got '2099-01-01'"):
            await host.connect(client_end)
        await session.wait_closed()


async def test_a_server_that_hangs_up_during_the_handshake_is_reported() -> None:
    async def initialize(params: mcp.InitializeRequestParams, request: Any) -> Any:
        await request.session.aclose()

    async with answering(initialize) as target, Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError):
            await host.connect(target)


async def test_a_server_that_never_answers_the_handshake_can_be_left() -> None:
    async def initialize(params: mcp.InitializeRequestParams, request: Any) -> Any:
        await anyio.sleep_forever()

    async with answering(initialize) as target, Host("h", "1") as host:
        with anyio.move_on_after(0.05) as scope:
            await host.connect(target)
        assert scope.cancelled_caught


@pytest.mark.parametrize(
    ("limit", "options", "seconds"),
    [
        (60.0, {"handshake_timeout": 0.05}, "0.05"),
        (0.01, {"handshake_timeout": 0.05}, "0.05"),
        (0.05, {}, "0.05"),
        (60.0, {}, "0.1"),
        (None, {}, "0.1"),
    ],
)
async def test_a_handshake_that_is_not_answered_ends_in_time(
    limit: float | None, options: Any, seconds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def initialize(params: mcp.InitializeRequestParams, request: Any) -> Any:
        await anyio.sleep_forever()

    assert mcp_host.HANDSHAKE_TIMEOUT == 30
    monkeypatch.setattr(mcp_host, "HANDSHAKE_TIMEOUT", 0.1)
    limits = Limits(request_timeout=limit)
    async with answering(initialize) as target, Host("h", "1", limits=limits) as host:
        with pytest.raises(RequestTimeoutError) as caught:
            await host.connect(target, **options)
    assert str(caught.value) == (
        f"initialize: no answer within {seconds} s. Is it an MCP server? `kinwire doctor` with the "
        "same server looks for the cause. handshake_timeout=... waits longer."
    )


async def test_a_handshake_without_a_limit_waits() -> None:
    async def initialize(params: mcp.InitializeRequestParams, request: Any) -> Any:
        await anyio.sleep(0.1)
        raise InvalidRequestError("late")

    limits = Limits(request_timeout=0.01)
    async with answering(initialize) as target, Host("h", "1", limits=limits) as host:
        with pytest.raises(InvalidRequestError, match="late"):
            await host.connect(target, handshake_timeout=None)


async def test_connecting_to_one_server_has_the_same_limit() -> None:
    async def initialize(params: mcp.InitializeRequestParams, request: Any) -> Any:
        await anyio.sleep_forever()

    async with answering(initialize) as target:
        with pytest.raises(RequestTimeoutError, match=r"within 0\.05 s\..*kinwire doctor"):
            async with connect(target, handshake_timeout=0.05):
                pytest.fail("it is connected")


@pytest.mark.parametrize("turns", [1, 50], ids=["about to begin", "under way"])
async def test_a_host_that_leaves_ends_the_handshakes_of_other_tasks(turns: int) -> None:
    async def initialize(params: mcp.InitializeRequestParams, request: Any) -> Any:
        await anyio.sleep_forever()

    async def connecting(host: Host, target: Transport) -> None:
        with pytest.raises((ConnectionClosedError, SessionStateError)):
            await host.connect(target)

    with anyio.fail_after(20):
        async with (
            answering(initialize) as target,
            anyio.create_task_group() as tasks,
            Host("h", "1") as host,
        ):
            tasks.start_soon(connecting, host, target)
            for _ in range(turns):
                await checkpoint()


async def test_the_server_calls_the_host_from_inside_a_tool() -> None:
    server, host = Server("s", "1"), Host("h", "1")

    @server.tool
    async def count_roots(context: Context) -> int:
        return len((await mcp.ClientStub(context.session).roots_list()).roots)

    @host.on.roots_list
    async def roots(params: mcp.RequestParams) -> mcp.ListRootsResult:
        return mcp.ListRootsResult(roots=[mcp.Root(uri="file:///a"), mcp.Root(uri="file:///b")])

    async with pair(server, host) as client:
        assert (await client.mcp.tools_call(name="count_roots")).content == [
            mcp.TextContent(text="2")
        ]
        host.remove_handler(methods.ROOTS_LIST)
        with pytest.raises(RpcError):
            await client.mcp.tools_call(name="count_roots")
    with pytest.raises(HandlerDefinitionError):
        host.on.roots_list(lambda params: roots(params))


async def test_the_end_of_one_connection_does_not_affect_the_others(
    server: Server,
) -> None:
    async with served(server, 3) as targets, Host("h", "1") as host:
        first, second, third = [await host.connect(target) for target in targets]
        await second.aclose()
        await second.aclose()
        with pytest.raises(ConnectionClosedError):
            await second.mcp.ping()
        await first.mcp.ping()
        await third.mcp.ping()
    assert first.session.closed
    assert third.session.closed


async def test_any_task_may_close_a_connection_and_calls_under_way_fail(server: Server) -> None:
    async with served(server) as targets, Host("h", "1") as host:
        client = await host.connect(targets[0])
        running = anyio.Event()

        async def close() -> None:
            await running.wait()
            await client.aclose()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(close)
            with pytest.raises(ConnectionClosedError):
                await client.with_options(on_progress=lambda _: running.set()).mcp.tools_call(
                    name="wait"
                )


async def test_calls_under_way_fail_when_the_host_leaves(server: Server) -> None:
    failed = anyio.Event()
    running = anyio.Event()

    async def call(client: Any) -> None:
        with pytest.raises(ConnectionClosedError):
            await client.with_options(on_progress=lambda _: running.set()).mcp.tools_call(
                name="wait"
            )
        failed.set()

    async with anyio.create_task_group() as tasks:
        async with served(server) as targets, Host("h", "1") as host:
            tasks.start_soon(call, await host.connect(targets[0]))
            await running.wait()
        await failed.wait()


async def test_an_error_in_the_body_comes_out_as_it_is(server: Server) -> None:
    with pytest.raises(ValueError, match="mine"):
        async with pair(server):
            raise ValueError("mine")
    async with served(server) as targets:
        with pytest.raises(ValueError, match="mine"):
            async with connect(targets[0]):
                raise ValueError("mine")


async def test_cancelling_the_body_closes_the_connection(server: Server) -> None:
    async with served(server) as targets:
        with anyio.CancelScope() as scope:
            async with connect(targets[0]) as client:
                scope.cancel()
                await anyio.sleep_forever()
        assert client.session.closed


async def test_options_belong_to_the_calls_made_with_them(server: Server) -> None:
    async with pair(server) as client:
        hasty = client.with_options(timeout=0.02, meta={"trace": "abc"})
        with pytest.raises(RequestTimeoutError):
            await hasty.mcp.tools_call(name="wait")
        with pytest.raises(RequestTimeoutError):
            await mcp.ServerStub(hasty).tools_call(name="wait")
        await client.mcp.ping()
        calls = [frame for frame in client.frames if b"tools/call" in frame.data]
        assert all(b'"trace":"abc"' in frame.data for frame in calls)
        assert b"trace" not in client.frames[-2].data


async def test_a_host_connects_only_while_it_is_open(server: Server) -> None:
    host = Host("h", "1")
    async with served(server) as targets:
        with pytest.raises(SessionStateError, match=r"not open\. Write `async with Host"):
            await host.connect(targets[0])
        async with host:
            with pytest.raises(SessionStateError, match="open already"):
                await host.__aenter__()
        async with host:
            await (await host.connect(targets[0])).mcp.ping()


async def test_a_command_is_not_a_transport() -> None:
    async with Host("h", "1") as host:
        with pytest.raises(TypeError, match=r"expected stdio\(.*, a URL .*got 'python x.py'"):
            await host.connect("python x.py")
        with pytest.raises(TypeError, match=r"got an object\. Write await host"):  # and no address
            await host.connect(object())  # type: ignore[arg-type]


async def test_a_pair_records_the_frames_of_both_sides(server: Server) -> None:
    async with pair(server) as client:
        await client.mcp.ping()
        assert [frame.sender for frame in client.frames] == [
            "client",
            "server",
            "client",
            "client",
            "server",
        ]
        assert client.frames[2].data == b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
        assert b'"method":"ping"' in client.frames[3].data
