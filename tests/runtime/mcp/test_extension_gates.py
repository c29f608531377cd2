"""What was not negotiated stays here, and is refused by the other side."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcp.context import Context
from kinwire.mcp.host import Host
from kinwire.mcp.server import Server
from kinwire.rpc.errors import (
    CapabilityNotNegotiatedError,
)
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from tests.runtime.mcp.fake_protocols import (
    MARKS_CHANGED,
    MARKS_RENAME,
    Marks,
    MarksHost,
    MarksServer,
    Text,
)
from tests.runtime.mcp.fixtures_extensions import paired
from tests.runtime.rpc.fixtures_sessions import connected, routes_of

pytestmark = pytest.mark.anyio


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
    server = MarksServer({"push": False, "changes": {"sent": True}})
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
    server, host = MarksServer({"changes": {"sent": False}}), MarksHost()
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
