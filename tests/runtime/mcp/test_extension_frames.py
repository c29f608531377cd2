"""What comes in one write with what ends the handshake finds handlers and filters."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire.mcp.host import Host
from kinwire.mcp.profile import PROFILE
from kinwire.rpc.errors import (
    SessionStateError,
)
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.support.background import background
from kinwire.testing import pair
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.mcp import methods
from tests.runtime.mcp.fake_protocols import (
    Marks,
    MarksHost,
    MarksServer,
)
from tests.runtime.mcp.fixtures_extensions import INITIALIZE, paired, server_with
from tests.runtime.rpc.fixtures_sessions import routes_of

pytestmark = pytest.mark.anyio


async def test_a_push_right_behind_the_result_finds_its_handler_and_its_filter() -> None:
    async def push(session: Session) -> None:
        await Marks(session).marks_changed(text="now")
        answers.append((await Marks(session).marks_push(text="now")).text)
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
            await answered.wait()  # closing immediately would race with the push
    assert host.log[-2:] == ["server changed now", "pushed now"]
    assert answers == ["took now"]
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
        async with (
            Session(
                server_end, profile=PROFILE, routes=routes_of((methods.INITIALIZE, initialize))
            ),
            host,
        ):
            await host.connect(client_end)
            await heard.wait()
    assert seen == ["filter: notifications/message", "handler: starting"]


async def test_requests_directly_after_initialize_are_handled_and_filtered() -> None:
    server = MarksServer()
    answers: dict[str, Any] = {}
    client_end, server_end = memory_pair()
    capabilities = {"experimental": {"marks": {"push": True}}}

    async def ask(name: str, params: JsonObject) -> None:
        answers[name] = await session.raw(name, params)

    with anyio.fail_after(20):
        async with (
            background() as serving,
            Session(client_end, profile=PROFILE, routes={}) as session,
        ):
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
    async with background() as tasks, Session(client_end, profile=PROFILE, routes={}) as session:
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
            client = mcp.ClientStub(request.session)
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
