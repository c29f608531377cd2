"""Extensions beside MCP: offers, the two steps of the handshake, and the calls of both directions.

The toys of `toys.py` are stacked on one session, in either role, with peers that lack them too.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire._background import background
from kinwire.calls import Route
from kinwire.context import Context
from kinwire.errors import (
    CapabilityNotNegotiatedError,
    ConnectionClosedError,
    HandlerDefinitionError,
    RpcError,
    SessionStateError,
)
from kinwire.extension import Extension
from kinwire.host import Host
from kinwire.request import Request
from kinwire.server import Server
from kinwire.session import Session
from kinwire.testing import PairedConnection, pair
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.mcp import methods
from tests.runtime.sessions import connected, routes_of, tool, tool_text
from tests.runtime.toys import (
    MARKS_CHANGED,
    MARKS_PUSH,
    MARKS_RENAME,
    Leave,
    LeaveHost,
    LeaveServer,
    Marks,
    MarksHost,
    MarksServer,
    NotGrantedError,
    Text,
    UnknownMarkError,
    added,
)

pytestmark = pytest.mark.anyio

INITIALIZE: JsonObject = {
    "protocolVersion": "2024-11-05",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "0"},
}


def server_with(*extensions: Extension) -> Server:
    """A server whose one tool has its client do what the client's extension serves."""
    server = Server("toys", "1", extensions=extensions)

    @server.tool
    async def echo(text: str) -> str:
        """Return the text."""
        return text

    @server.tool
    async def push(text: str, context: Context) -> str:
        """Push the text to the client and return its answer."""
        return (await Marks(context.session).marks_push(text=text)).text

    return server


@asynccontextmanager
async def paired(
    server: list[Extension], host: list[Extension]
) -> AsyncGenerator[PairedConnection]:
    """A connection on which nothing takes long."""
    with anyio.fail_after(20):
        async with pair(server_with(*server), Host("test", "1", extensions=host)) as connection:
            yield connection


def sent(connection: PairedConnection, sender: str) -> list[JsonObject]:
    return [json.loads(frame.data) for frame in connection.frames if frame.sender == sender]


def methods_sent(connection: PairedConnection, sender: str) -> list[str]:
    return [message.get("method", "reply") for message in sent(connection, sender)]


async def text_of(connection: PairedConnection, name: str, text: str) -> str:
    (block,) = (await connection.mcp.tools_call(name=name, arguments={"text": text})).content
    assert isinstance(block, mcp.TextContent)
    return block.text


# The handshake.


async def test_both_extensions_work_beside_mcp_on_one_session() -> None:
    host_log: list[str] = []
    async with paired(
        [LeaveServer(), MarksServer()], [LeaveHost(log=host_log), MarksHost(log=host_log)]
    ) as connection:
        assert (await Leave(connection).leave_ask()).text == "granted"
        assert (await Marks(connection).marks_rename(text="a")).text == "renamed a"
        assert await text_of(connection, "push", "b") == "took b"
        assert await text_of(connection, "echo", "c") == "c"
    assert "pushed b" in host_log


@pytest.mark.parametrize("of_host", ["", "leave", "marks", "leave marks"])
@pytest.mark.parametrize("of_server", ["", "leave", "marks", "leave marks"])
async def test_what_one_side_lacks_is_dropped_quietly(of_server: str, of_host: str) -> None:
    server: list[Any] = [
        kind()
        for name, kind in (("leave", LeaveServer), ("marks", MarksServer))
        if name in of_server
    ]
    host: list[Any] = [
        kind() for name, kind in (("leave", LeaveHost), ("marks", MarksHost)) if name in of_host
    ]
    shared = {name for name in ("leave", "marks") if name in of_server and name in of_host}
    async with paired(server, host) as connection:
        assert await text_of(connection, "echo", "plain") == "plain"
        assert [one.protocol.name for one in server if one.theirs != [None]] == sorted(shared)
        assert [one.protocol.name for one in host if one.theirs != [None]] == sorted(shared)
        answered = connection.greeting.capabilities
        experimental = answered.experimental or {}
        assert ("leave" in (answered.__pydantic_extra__ or {})) == ("leave" in shared)
        assert ("marks" in experimental) == ("marks" in shared)
        if "marks" in shared:
            assert await text_of(connection, "push", "x") == "took x"
        else:
            with pytest.raises(CapabilityNotNegotiatedError):
                await Marks(connection).marks_changed()
    begun = ["initialize", *["leave/ask"] * ("leave" in shared), "notifications/initialized"]
    assert methods_sent(connection, "client")[: len(begun)] == begun


async def test_offers_travel_where_the_table_says_and_are_seen_by_the_other_side() -> None:
    server, host = MarksServer({"push": True, "of": "server"}), MarksHost({"of": "host"})
    async with paired([server], [host]) as connection:
        first = sent(connection, "client")[0]
    assert first["params"]["capabilities"] == {"experimental": {"marks": {"of": "host"}}}
    assert host.asked == [None]
    assert server.asked == server.theirs == [{"of": "host"}]
    assert host.theirs == [{"push": True, "of": "server"}]


class Silent(MarksServer):
    """It declines every offer."""

    def offer(self, theirs: JsonObject | None) -> None:
        self.asked.append(theirs)


async def test_a_server_may_decline() -> None:
    server, host = Silent(), MarksHost()
    async with paired([server], [host]) as connection:
        assert server.theirs == host.theirs == [None]
        assert connection.capabilities.experimental is None


async def test_a_server_is_not_asked_for_what_was_not_offered() -> None:
    server = MarksServer()
    async with paired([server], []):
        assert (server.asked, server.theirs) == ([], [None])


class Reserved(MarksHost):
    """It offers nothing."""

    def offer(self, theirs: JsonObject | None) -> None:
        self.asked.append(theirs)


async def test_an_answer_that_was_not_asked_for_is_ignored() -> None:
    """There are servers that answer every client with all they have."""
    client_end, server_end = memory_pair()
    host = Reserved()

    async def initialize(params: Any, request: Request) -> JsonObject:
        return {
            "protocolVersion": "2024-11-05",
            "capabilities": {"experimental": {"marks": {"push": True}}, "marks": 1},
            "serverInfo": {"name": "s", "version": "1"},
        }

    routes = routes_of((methods.INITIALIZE, initialize))
    async with (
        Session(server_end, routes=routes) as session,
        Host("test", "1", extensions=[host]) as opened,
    ):
        await opened.connect(client_end)
        assert host.theirs == [None]
        with pytest.raises(MethodNotFoundError):
            await session.raw("marks/push")


async def test_extensions_act_in_listed_order_between_result_and_initialized() -> None:
    log: list[str] = []
    server_log: list[str] = []
    server: list[Extension] = [LeaveServer(log=server_log), MarksServer(log=server_log)]
    async with paired(server, [LeaveHost(log=log), MarksHost(log=log)]) as connection:
        assert log == ["leave negotiated", "leave granted", "marks negotiated"]
        await connection.mcp.ping()
        assert methods_sent(connection, "client") == [
            *("initialize", "leave/ask", "notifications/initialized", "ping")
        ]
    # A server's part begins behind its result and runs beside what it serves.
    server_log.remove("leave asked")
    assert server_log == ["leave negotiated", "marks negotiated"]


class Refusing(LeaveHost):
    async def negotiated(self, session: Session) -> None:
        await super().negotiated(session)
        raise NotGrantedError("not to this server")


async def test_a_host_may_refuse_the_server_before_work_begins() -> None:
    with pytest.raises(NotGrantedError, match="not to this server"):
        async with paired([LeaveServer()], [Refusing()]):
            pytest.fail("it is connected")


class Waiting(LeaveHost):
    async def negotiated(self, session: Session) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.aclose)
            await anyio.sleep_forever()


async def test_what_a_host_waits_for_in_vain_ends_with_the_connection() -> None:
    with anyio.fail_after(20), pytest.raises(ConnectionClosedError, match="closed by this side"):
        async with paired([LeaveServer()], [Waiting()]):
            pytest.fail("it is connected")


async def test_a_server_may_refuse_the_client_by_its_answer() -> None:
    class Strict(LeaveServer):
        def offer(self, theirs: JsonObject | None) -> JsonObject | None:
            raise NotGrantedError("not to this client")

    with pytest.raises(RpcError, match="not to this client"):
        async with paired([Strict()], [LeaveHost()]):
            pytest.fail("it is connected")


@pytest.mark.parametrize("part", ["attach", "negotiated"])
async def test_a_server_whose_extension_fails_serves_nothing(
    part: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(MarksServer):
        def attach(self, session: Session, theirs: JsonObject | None) -> None:
            if part == "attach":
                raise ZeroDivisionError

        async def negotiated(self, session: Session) -> None:
            raise ZeroDivisionError

    client_end, server_end = memory_pair()
    capabilities: JsonObject = {"experimental": {"marks": {}}}
    with anyio.fail_after(20):
        async with background() as tasks, Session(client_end, routes={}) as session:
            tasks.start_soon(server_with(Broken()).serve, server_end)
            if part == "attach":
                with pytest.raises(RpcError, match="Internal error"):
                    await session.raw("initialize", INITIALIZE | {"capabilities": capabilities})
                for name in ("tools/list", "initialize"):
                    with pytest.raises(RpcError, match="session is"):
                        await session.raw(name, INITIALIZE)
            else:
                await session.raw("initialize", INITIALIZE | {"capabilities": capabilities})
                await session.wait_closed()
    assert "ZeroDivisionError" in caplog.text


# The first frames: they come in one write with what ends the handshake.


async def test_a_push_right_behind_the_result_finds_its_handler_and_its_filter() -> None:
    async def push(session: Session) -> None:
        await Marks(session).marks_changed(text="at once")
        answers.append((await Marks(session).marks_push(text="at once")).text)
        answered.set()

    answered = anyio.Event()
    answers: list[str] = []
    seen: list[str] = []

    class Filtering(MarksHost):
        def attach(self, session: Session, theirs: JsonObject | None) -> None:
            super().attach(session, theirs)

            async def look(params: Message, request: Request, go_on: Any) -> Any:
                seen.append(request.method.name)
                return await go_on(params)

            session.intercept_inbound(look)

    host = Filtering()
    async with paired([MarksServer(at_once=push)], [host]):
        with anyio.fail_after(20):
            await answered.wait()  # closing at once would race with the push
    assert host.log[-2:] == ["server changed at once", "pushed at once"]
    assert answers == ["took at once"]
    assert seen == ["marks/changed", "marks/push"]


async def test_what_a_server_says_before_its_result_is_heard_once_filters_stand() -> None:
    seen: list[str] = []

    class Filtering(MarksHost):
        def attach(self, session: Session, theirs: JsonObject | None) -> None:
            async def look(params: Message, request: Request, go_on: Any) -> Any:
                seen.append(f"filter: {request.method.name}")
                return await go_on(params)

            session.intercept_inbound(look)

    host = Host("test", "1", extensions=[Filtering()])
    heard = anyio.Event()

    @host.on.notifications_message
    async def message(params: mcp.LoggingMessageNotificationParams) -> None:
        seen.append(f"handler: {params.data}")
        heard.set()

    async def initialize(params: Any, request: Request) -> JsonObject:
        await request.session.raw_notify(
            "notifications/message", {"level": "info", "data": "starting"}
        )
        return {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "serverInfo": {"name": "s", "version": "1"},
        }

    client_end, server_end = memory_pair()
    with anyio.fail_after(20):
        async with Session(server_end, routes=routes_of((methods.INITIALIZE, initialize))), host:
            await host.connect(client_end)
            await heard.wait()
    assert seen == ["filter: notifications/message", "handler: starting"]


async def test_requests_right_behind_initialize_find_handlers_and_filters_of_the_server() -> None:
    server = MarksServer()
    answers: dict[str, Any] = {}
    client_end, server_end = memory_pair()
    capabilities = {"experimental": {"marks": {"push": True}}}

    async def ask(name: str, params: JsonObject) -> None:
        answers[name] = await session.raw(name, params)

    with anyio.fail_after(20):
        async with background() as serving, Session(client_end, routes={}) as session:
            serving.start_soon(server_with(server).serve, server_end)
            async with anyio.create_task_group() as tasks:
                await session.raw_notify("marks/changed", {"text": "too early"})
                tasks.start_soon(ask, "initialize", INITIALIZE | {"capabilities": capabilities})
                await anyio.lowlevel.checkpoint()
                tasks.start_soon(ask, "marks/rename", {"text": "a"})
                tasks.start_soon(ask, "tools/call", {"name": "echo", "arguments": {"text": "b"}})
    assert answers["marks/rename"] == {"text": "renamed a"}
    assert answers["tools/call"]["marks"] == "marks of the server"
    assert [line for line in server.log if "early" in line] == []


async def test_a_method_of_an_extension_is_unknown_before_the_handshake() -> None:
    client_end, server_end = memory_pair()
    async with background() as tasks, Session(client_end, routes={}) as session:
        tasks.start_soon(server_with(MarksServer()).serve, server_end)
        with pytest.raises(MethodNotFoundError):
            await session.raw("marks/rename")
        assert await session.raw("ping") == {}


async def test_a_server_may_ask_for_what_is_of_mcp_as_soon_as_it_is_initialized() -> None:
    class Eager(MarksServer):
        def attach(self, session: Session, theirs: JsonObject | None) -> None:
            super().attach(session, theirs)
            session.intercept_inbound(self.begin, methods.NOTIFICATIONS_INITIALIZED)

        async def begin(self, params: mcp.NotificationParams, request: Request, go_on: Any) -> None:
            client = mcp.Client(request.session)
            with pytest.raises(SessionStateError):
                await client.roots_list()
            await go_on(params)
            self.log.append(str(len((await client.roots_list()).roots)))
            done.set()

    done = anyio.Event()
    server = Eager()
    host = Host("test", "1", roots=["file:///one"], extensions=[MarksHost()])
    with anyio.fail_after(20):
        async with pair(server_with(server), host):
            await done.wait()
    assert server.log[-1] == "1"


# Gates.


@pytest.mark.parametrize("host", [[], [MarksHost()]], ids=["no extension", "the peer lacks it"])
async def test_a_call_that_was_not_negotiated_fails_here_and_nothing_is_sent(host: Any) -> None:
    async with paired([], host) as connection:
        before = list(connection.frames)
        marks = Marks(connection.with_options(timeout=1))
        calls: list[Any] = [
            marks.marks_changed(),
            connection.mcp.resources_list(),
            connection.mcp.notifications_roots_list_changed(),
        ]
        if host:
            calls.append(marks.marks_rename())  # it has no gate but its protocol
        for one in calls:
            with pytest.raises(CapabilityNotNegotiatedError) as caught:
                await one
            assert caught.value.reason
        assert list(connection.frames) == before


async def test_raw_passes_the_gate_and_the_peer_says_what_it_thinks() -> None:
    async with paired([MarksServer()], []) as connection:
        for name in ("marks/rename", "resources/list"):
            with pytest.raises(MethodNotFoundError):
                await connection.session.raw(name)


async def test_a_part_that_one_side_did_not_offer_is_refused_by_both() -> None:
    server = MarksServer({"push": False, "changes": {"told": True}})
    async with paired([server], [MarksHost()]) as connection:
        (session,) = server.sessions
        await Marks(connection).marks_changed(text="allowed")
        await connection.mcp.ping()
        with pytest.raises(MethodNotFoundError):
            await session.raw("marks/push")
        with pytest.raises(CapabilityNotNegotiatedError, match="needs marks:push, but the server"):
            await Marks(session).marks_push()
    assert server.log[-1] == "client changed allowed"


async def test_news_that_was_not_negotiated_is_dropped_on_either_way() -> None:
    server, host = MarksServer({"changes": {"told": False}}), MarksHost()
    async with paired([server], [host]) as connection:
        before = list(connection.frames)
        session = connection.session
        assert not await session.notify_if_negotiated(MARKS_CHANGED, Text(text="x"))
        assert list(connection.frames) == before
        await session.raw_notify("marks/changed", {"text": "raw"})
        await connection.mcp.ping()
    assert [line for line in server.log if "changed" in line] == []


async def test_news_that_was_negotiated_is_sent() -> None:
    server = MarksServer()
    async with paired([server], [MarksHost()]) as connection:
        assert await connection.session.notify_if_negotiated(MARKS_CHANGED, Text(text="x"))
        await connection.mcp.ping()
    assert server.log[-1] == "client changed x"


async def test_news_of_mcp_is_heard_though_it_was_not_announced() -> None:
    """Many servers announce neither their list changes nor their log messages."""
    heard: list[str] = []
    host = Host("test", "1")

    @host.on.notifications_tools_list_changed
    async def changed(params: mcp.NotificationParams) -> None:
        heard.append("changed")

    server = Server("plain", "1")
    sessions: list[Session] = []

    @server.on.completion_complete
    async def complete(params: mcp.CompleteRequestParams, context: Context) -> mcp.CompleteResult:
        await context.session.raw_notify("notifications/tools/list_changed")
        sessions.append(context.session)
        return mcp.CompleteResult.model_validate({"completion": {"values": []}}, by_alias=True)

    async with pair(server, host) as connection:
        await connection.session.raw(
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}},
        )
        await connection.mcp.ping()
    assert heard == ["changed"]


async def test_a_session_without_a_handshake_has_no_gates() -> None:
    async def rename(params: Text, request: Request) -> Text:
        return Text(text="done")

    async with connected(routes_of((MARKS_RENAME, rename))) as peers:
        assert (await Marks(peers.client).marks_rename()).text == "done"


# Handlers.


async def test_handlers_come_and_go_while_sessions_are_open() -> None:
    server = MarksServer()
    async with paired([server], [MarksHost()]) as connection:
        server.handlers.remove(MARKS_RENAME)
        with pytest.raises(MethodNotFoundError):
            await Marks(connection).marks_rename()

        @server.on.marks_rename
        async def again(params: Text, context: Context) -> Text:
            return Text(text=f"again, {context.request_id is not None}")

        assert (await Marks(connection).marks_rename()).text == "again, True"
        with pytest.raises(HandlerDefinitionError, match="there is a handler already"):
            server.on.marks_rename(again)


async def test_one_extension_serves_many_sessions() -> None:
    host = MarksHost()
    ends = [memory_pair() for _ in range(2)]
    with anyio.fail_after(20):
        async with (
            background() as tasks,
            Host("test", "1", extensions=[host]) as opened,
        ):
            servers = [server_with(MarksServer()), server_with()]
            for server, (_, server_end) in zip(servers, ends, strict=True):
                tasks.start_soon(server.serve, server_end)
            first, second = [await opened.connect(client_end) for client_end, _ in ends]
            assert (await Marks(first).marks_rename()).text == "renamed "
            with pytest.raises(CapabilityNotNegotiatedError):
                await Marks(second).marks_rename()
    assert [theirs is None for theirs in host.theirs] == [False, True]


def test_two_extensions_of_one_protocol_are_refused() -> None:
    for kind in (Server, Host):
        with pytest.raises(ValueError, match="expected one for each protocol, got 2 for marks"):
            kind("n", "1", extensions=[MarksHost(), MarksServer()])


# Interceptors.


@pytest.mark.parametrize("order", [("leave", "marks"), ("marks", "leave")])
async def test_interceptors_are_an_onion_on_both_sides(order: tuple[str, str]) -> None:
    log: list[str] = []
    servers: dict[str, Extension] = {"leave": LeaveServer(log=log), "marks": MarksServer(log=log)}
    hosts: dict[str, Extension] = {"leave": LeaveHost(log=log), "marks": MarksHost(log=log)}
    first, second = order
    async with paired([servers[n] for n in order], [hosts[n] for n in order]) as connection:
        log.clear()
        await text_of(connection, "echo", "x")
    assert log == [
        f"{first} out",
        f"{second} out",
        f"{second} in: {second} of the client",
        f"{first} in: {first} of the client",
        f"{first} answers",
        f"{second} answers",
        f"{second} back: {second} of the server",
        f"{first} back: {first} of the server",
    ]


async def test_members_that_two_extensions_add_to_one_call_survive_with_unknown_ones() -> None:
    params = mcp.CallToolRequestParams(name="echo", arguments={"text": "x"})
    unknown = params.model_copy(update={"third": None})
    async with paired([LeaveServer(), MarksServer()], [LeaveHost(), MarksHost()]) as connection:
        result = await connection.call(methods.TOOLS_CALL, unknown)
        (call,) = (
            message["params"]
            for message in sent(connection, "client")
            if message.get("method") == "tools/call"
        )
    assert call == {
        "name": "echo",
        "arguments": {"text": "x"},
        "third": None,
        "leave": "leave of the client",
        "marks": "marks of the client",
    }
    assert added(result, "leave") == "leave of the server"
    assert added(result, "marks") == "marks of the server"
    assert added(unknown, "leave") is None, "the caller's message was changed"


@asynccontextmanager
async def intercepted(inbound: Any = None, outbound: Any = None) -> AsyncGenerator[Session]:
    """A client of a tool that returns its arguments, with interceptors at either end."""

    async def echo(params: mcp.CallToolRequestParams, request: Request) -> JsonObject:
        return {"content": [{"type": "text", "text": json.dumps(params.arguments)}]}

    async with connected(tool(echo)) as peers:
        if inbound is not None:
            peers.server.intercept_inbound(inbound, methods.TOOLS_CALL)
        if outbound is not None:
            peers.client.intercept_outbound(outbound, methods.TOOLS_CALL)
        yield peers.client


async def call(session: Session, **arguments: Any) -> str:
    params = mcp.CallToolRequestParams(name="echo", arguments=arguments)
    (block,) = (await session.call(methods.TOOLS_CALL, params)).content
    assert isinstance(block, mcp.TextContent)
    return block.text


async def test_an_interceptor_may_change_params_and_result() -> None:
    async def change(params: mcp.CallToolRequestParams, about: Any, go_on: Any) -> Any:
        result = await go_on(params.model_copy(update={"arguments": {"more": 1}}))
        return result.model_copy(update={"content": [*result.content, *result.content]})

    for ends in ({"inbound": change}, {"outbound": change}):
        async with intercepted(**ends) as session:
            params = mcp.CallToolRequestParams(name="echo")
            result = await session.call(methods.TOOLS_CALL, params)
            assert [getattr(block, "text", None) for block in result.content] == ['{"more": 1}'] * 2


async def test_what_is_refused_reaches_nobody() -> None:
    async def refuse(params: Any, about: Any, go_on: Any) -> Any:
        raise NotGrantedError("no")

    for ends in ({"inbound": refuse}, {"outbound": refuse}):
        async with intercepted(**ends) as session:
            with pytest.raises(RpcError, match="no") as caught:
                await call(session)
            assert caught.value.code == -32001


async def test_an_interceptor_may_go_on_again() -> None:
    tries = 0

    async def fail_once(params: Any, about: Any, go_on: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise RpcError("busy", code=-32000)
        return await go_on(params)

    async def retry(params: Any, about: Any, go_on: Any) -> Any:
        try:
            return await go_on(params)
        except RpcError:
            return await go_on(params)

    async with intercepted(inbound=fail_once, outbound=retry) as session:
        assert await call(session, a=1) == '{"a": 1}'
    assert tries == 2


async def test_options_of_a_call_pass_interceptors() -> None:
    reports: list[float] = []

    async def report(params: Any, request: Request) -> mcp.CallToolResult:
        await request.progress(1)
        return tool_text(str(getattr(params, "meta", None)))

    async def through(params: Any, about: Any, go_on: Any) -> Any:
        return await go_on(params)

    async with connected(tool(report)) as peers:
        peers.client.intercept_outbound(through)
        peers.server.intercept_inbound(through)
        peer = peers.client.with_options(
            on_progress=lambda report: reports.append(report.progress), meta={"a": 1}
        )
        result = await mcp.Server(peer).tools_call(name="tool")
    assert reports == [1]
    assert "a=1" in getattr(result.content[0], "text", "")


async def test_a_handler_sees_what_interceptors_passed_on_in_its_context_as_well() -> None:
    async def redact(params: Any, about: Any, go_on: Any) -> Any:
        return await go_on(params.model_copy(update={"meta": None}))

    async def look(params: Any, request: Request) -> mcp.CallToolResult:
        return tool_text(repr(Context(request).meta))

    async with connected(tool(look)) as peers:
        peers.server.intercept_inbound(redact)
        peer = peers.client.with_options(meta={"secret": 1})
        result = await mcp.Server(peer).tools_call(name="tool")
    assert getattr(result.content[0], "text", "") == "None"


async def test_interceptors_of_all_methods_see_every_protocol_but_nothing_raw() -> None:
    seen: list[str] = []

    async def look(params: Any, about: Any, go_on: Any) -> Any:
        seen.append(about.name)
        return await go_on(params)

    async with paired([MarksServer()], [MarksHost()]) as connection:
        connection.session.intercept_outbound(look)
        await Marks(connection).marks_changed()
        await Marks(connection.with_options(timeout=5)).marks_rename()
        await connection.mcp.ping()
        await connection.session.raw("marks/rename")
    assert seen == ["marks/changed", "marks/rename", "ping"]


async def test_a_request_that_waits_in_a_filter_can_be_cancelled() -> None:
    entered, ended = anyio.Event(), anyio.Event()

    async def hold(params: Any, about: Any, go_on: Any) -> Any:
        entered.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with intercepted(inbound=hold) as session, anyio.create_task_group() as tasks:
        tasks.start_soon(call, session)
        await entered.wait()
        tasks.cancel_scope.cancel()
    assert ended.is_set()


@pytest.mark.parametrize(
    "wrong",
    [lambda params, about, go_on: None, tool_text, Any],
    ids=["not async", "another function", "no function"],
)
async def test_what_is_no_interceptor_is_refused_when_it_is_added(wrong: Any) -> None:
    async with connected({}) as peers:
        with pytest.raises((HandlerDefinitionError, TypeError)):
            peers.client.intercept_outbound(wrong)


async def test_an_async_function_of_two_parameters_is_no_interceptor() -> None:
    async def wrong(params: Any, go_on: Any) -> Any:
        return await go_on(params)

    async with connected({}) as peers:
        with pytest.raises(HandlerDefinitionError, match=r"wrong: expected an async function of"):
            peers.server.intercept_inbound(wrong)  # type: ignore[arg-type]


# Errors.


@pytest.mark.parametrize(
    ("host", "data", "kind"),
    [
        pytest.param(["leave"], None, NotGrantedError, id="one claims the code"),
        pytest.param(["marks"], None, UnknownMarkError, id="another one does"),
        pytest.param(["leave", "marks"], None, RpcError, id="two claim it"),
        pytest.param([], None, RpcError, id="none does"),
        pytest.param(
            ["leave", "marks"],
            {"protocol": "marks", "name": "UnknownMark"},
            UnknownMarkError,
            id="two claim it and the name decides",
        ),
    ],
)
async def test_a_code_is_read_by_the_one_active_extension_that_claims_it(
    host: list[str], data: Any, kind: type[RpcError]
) -> None:
    hosts: dict[str, Extension] = {"leave": LeaveHost(), "marks": MarksHost()}
    server = server_with(LeaveServer(), MarksServer())

    @server.tool
    async def fail() -> None:
        """Fail with a bare code."""
        raise RpcError("failed", code=-32001, data=data)

    async with pair(server, Host("test", "1", extensions=[hosts[n] for n in host])) as connection:
        with pytest.raises(RpcError) as caught:
            await connection.mcp.tools_call(name="fail")
    assert type(caught.value) is kind
    notes = getattr(caught.value, "__notes__", [])
    ambiguous = kind is RpcError and len(host) == 2
    assert notes == (
        ["Code -32001 could be any of: leave NotGranted, marks UnknownMark."] if ambiguous else []
    )


async def test_a_call_fails_when_the_session_ends_under_an_interceptor() -> None:
    async def hang_up(params: Any, request: Request, go_on: Any) -> Any:
        await request.session.aclose()

    async with intercepted(inbound=hang_up) as session:
        with pytest.raises(ConnectionClosedError):
            await call(session)


def test_a_route_is_looked_up_by_name_whoever_serves_it() -> None:
    async def serve(params: Any, request: Any) -> JsonObject:
        return {}

    session = Session(memory_pair()[0], routes=routes_of())
    session.serve({"marks/push": Route(MARKS_PUSH, serve)})
    assert session.route("marks/push") == Route(MARKS_PUSH, serve)
    assert session.route("ping") is not None
    assert session.route("other") is None
