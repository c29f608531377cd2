"""Extensions of MCP: offers, the two steps of the handshake, handlers and errors."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.extension import Extension
from kinwire.mcp.host import Host
from kinwire.mcp.profile import PROFILE
from kinwire.mcp.server import Server
from kinwire.rpc.errors import (
    CapabilityNotNegotiatedError,
    ConnectionClosedError,
    HandlerDefinitionError,
    RequestTimeoutError,
    RpcError,
)
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire.support.background import background
from kinwire.testing import pair
from kinwire.transports.memory import memory_pair
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.mcp import methods
from tests.each import each
from tests.runtime.mcp.fake_protocols import (
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
)
from tests.runtime.mcp.fixtures_extensions import (
    INITIALIZE,
    methods_sent,
    paired,
    sent,
    server_with,
    text_of,
)
from tests.runtime.rpc.fixtures_sessions import routes_of

pytestmark = pytest.mark.anyio


async def test_two_extensions_and_mcp_share_one_session() -> None:
    host_log: list[str] = []
    async with paired(
        [LeaveServer(), MarksServer()], [LeaveHost(log=host_log), MarksHost(log=host_log)]
    ) as connection:
        assert (await Leave(connection).leave_ask()).text == "granted"
        assert (await Marks(connection).marks_rename(text="a")).text == "renamed a"
        assert await text_of(connection, "push", "b") == "took b"
        assert await text_of(connection, "echo", "c") == "c"
    assert "pushed b" in host_log


@each("of_host", ["", "leave", "marks", "leave marks"])
@each("of_server", ["", "leave", "marks", "leave marks"])
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
        Session(server_end, profile=PROFILE, routes=routes) as session,
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
    # A server's part begins after its result and runs while it serves.
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


async def test_an_extension_that_waits_for_ever_does_not_hold_up_connecting() -> None:
    class Endless(LeaveHost):
        async def negotiated(self, session: Session) -> None:
            await anyio.sleep_forever()

    client_end, server_end = memory_pair()
    async with background() as tasks, Host("h", "1", extensions=[Endless()]) as host:
        tasks.start_soon(Server("s", "1", extensions=[LeaveServer()]).serve, server_end)
        with pytest.raises(RequestTimeoutError, match=r"^the handshake of leave: no answer"):
            await host.connect(client_end, handshake_timeout=0.05)


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
        async with (
            background() as tasks,
            Session(client_end, profile=PROFILE, routes={}) as session,
        ):
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


def test_a_route_is_looked_up_by_name() -> None:
    async def serve(params: Any, request: Any) -> JsonObject:
        return {}

    session = Session(memory_pair()[0], profile=PROFILE, routes=routes_of())
    session.serve({"marks/push": Route(MARKS_PUSH, serve)})
    assert session.route("marks/push") == Route(MARKS_PUSH, serve)
    assert session.route("ping") is not None
    assert session.route("other") is None
