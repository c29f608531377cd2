"""Other names that peers use: of methods, and of the place of an offer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest

from kinwire.mcp.extension import ExtensionHandlers
from kinwire.mcp.host import Host
from kinwire.mcp.profile import PROFILE
from kinwire.mcp.server import Server
from kinwire.rpc.errors import RpcError
from kinwire.rpc.session import Session
from kinwire.testing import pair
from kinwire.transports.memory import memory_pair
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from tests.runtime.mcp.fake_protocols import (
    MARKS,
    MARKS_RENAME,
    MarksHost,
    MarksServer,
    Text,
    UnknownMarkError,
)

pytestmark = pytest.mark.anyio

NAMED = replace(MARKS_RENAME, aliases=("marks/name", "marks/call_it"))
TABLE = replace(
    MARKS,
    methods={**MARKS.methods, NAMED.name: NAMED},
    capability_aliases=("marks", "experimental.oldMarks"),
    added_errors={"tools/call": (UnknownMarkError,)},
)


class OldServer(MarksServer):
    protocol = TABLE

    def __init__(self) -> None:
        super().__init__()
        self.handlers = ExtensionHandlers()
        self.handlers.add(NAMED, self.rename)

    async def rename(self, params: Text) -> Text:
        return Text(text=f"renamed {params.text}")

    def stand_around(self, session: Session) -> None:
        """Add nothing: what the table says is known already."""


class OldHost(MarksHost):
    protocol = TABLE

    def stand_around(self, session: Session) -> None:
        """Add nothing."""


def initialize(**capabilities: Any) -> JsonObject:
    info = {"name": "test", "version": "0"}
    return {"protocolVersion": "2024-11-05", "capabilities": capabilities, "clientInfo": info}


@pytest.mark.parametrize("name", NAMED.names)
async def test_a_method_is_served_by_each_of_its_names(name: str) -> None:
    server = Server("s", "1", extensions=[OldServer()])
    async with pair(server, Host("h", "1", extensions=[OldHost()])) as client:
        assert await client.session.raw(name, {"text": "a"}) == {"text": "renamed a"}


async def test_a_handler_that_is_removed_is_gone_by_all_names() -> None:
    extension = OldServer()
    server = Server("s", "1", extensions=[extension])
    async with pair(server, Host("h", "1", extensions=[OldHost()])) as client:
        extension.handlers.remove(NAMED)
        for name in NAMED.names:
            with pytest.raises(MethodNotFoundError):
                await client.session.raw(name, {})


@pytest.mark.parametrize(
    "capabilities",
    [
        pytest.param({"experimental": {"marks": {"push": True}}}, id="the main place"),
        pytest.param({"marks": {"push": True}}, id="an older place"),
        pytest.param({"experimental": {"oldMarks": {"push": True}, "x": {}}}, id="the oldest"),
    ],
)
async def test_an_offer_is_read_at_each_of_its_places(capabilities: JsonObject) -> None:
    extension = OldServer()
    client_end, server_end = memory_pair()
    server = Server("s", "1", extensions=[extension])
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, server_end)
            async with Session(client_end, profile=PROFILE, routes={}) as session:
                answer = await session.raw("initialize", initialize(**capabilities))
                await session.raw_notify("notifications/initialized")
                assert await session.raw("marks/name", {"text": "a"}) == {"text": "renamed a"}
            tasks.cancel_scope.cancel()
    assert extension.theirs == [{"push": True}]
    assert answer["capabilities"]["experimental"]["marks"] == extension.offers


async def test_errors_that_a_protocol_adds_are_known_where_it_is_spoken() -> None:
    server = Server("s", "1", extensions=[OldServer()])

    @server.tool
    async def mark() -> None:
        """Fail as the other protocol says."""
        raise RpcError("gone", code=-32001)

    kinds = []
    for extensions in ([OldHost()], []):
        async with pair(server, Host("h", "1", extensions=extensions)) as client:
            with pytest.raises(RpcError) as caught:
                await client.mcp.tools_call(name="mark")
            kinds.append(type(caught.value))
    assert kinds == [UnknownMarkError, RpcError]
