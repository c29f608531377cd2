"""What a host keeps belongs to the address of a server, not to the name that the server says."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import anyio
import pytest

from kinwire import Connection, ConnectionClosedError, DuplicateServerError, Host
from kinwire.mcpl import McplHost, PushedEvent, ScopeRequest, Scopes
from kinwire.storage import Records, open_store
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl import PushEventResult
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import ConnectServer, against_raw_server

SETS = {
    "notes.edit": {
        "description": "Keep notes",
        "uses": ["tools", "pushEvents"],
        "rollback": True,
        "scoped": True,
    }
}
TOOL = {"name": "add", "inputSchema": {"type": "object"}}
EVENT = {
    "featureSet": "notes.edit",
    "eventId": "evt_1",
    "timestamp": "2026-01-23T10:30:00Z",
    "payload": {"content": [{"type": "text", "text": "x"}]},
}
SCOPE = {"featureSet": "notes.edit", "scope": {"label": "home"}}


def notes() -> RawServer:
    """Return a server that calls itself notes, and whose tool leaves a state."""
    offer = {"version": "0.4", "pushEvents": True, "featureSets": SETS}
    raw = RawServer(offer, tools=[TOOL], name="notes")
    state = {"checkpoint": "chk_1", "parent": None, "data": {"mine": 1}}
    raw.answers["tools/call"] = {"content": [], "state": state}
    return raw


class Keeper:
    """A host that approves and accepts everything, and counts how often it is asked."""

    def __init__(self, records: Records | None = None) -> None:
        self.asked = self.pushed = 0
        self.live = McplHost(
            enabled=["*"], scopes=Scopes(ask=self._ask), on_push=self._take, records=records
        )
        self.host = Host("h", "1", extensions=[self.live])

    async def use(self, raw: RawServer, connection: Connection) -> JsonObject:
        """Have the server do what leaves something; return the params of its tool call."""
        await connection.mcp.tools_call(name="add")
        assert (await raw.result("scope/elevate", SCOPE))["approved"]
        assert (await raw.result("push/event", EVENT))["accepted"]
        params: JsonObject = raw.params_of("tools/call")[-1]
        return params

    async def _ask(self, request: ScopeRequest) -> bool:
        self.asked += 1
        return True

    async def _take(self, event: PushedEvent) -> PushEventResult:
        self.pushed += 1
        return PushEventResult(accepted=True)


@against_raw_server(quick=("memory", "stdio", "http", "ws"))
async def test_another_server_of_the_same_name_gets_nothing(connect: ConnectServer) -> None:
    async with open_store("memory:") as store:
        keeper = Keeper(await store.records("mcpl"))
        first, thief = notes(), notes()
        async with keeper.host as host:
            await keeper.use(first, await connect(host, first))
            assert "state" not in await keeper.use(thief, await connect(host, thief))
    assert (keeper.asked, keeper.pushed) == (2, 2)


@against_raw_server
async def test_another_server_gets_nothing_after_a_restart_of_the_host(
    connect: ConnectServer,
) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        first, thief = notes(), notes()
        async with (before := Keeper(records)).host as host:
            await before.use(first, await connect(host, first))
        async with (after := Keeper(records)).host as host:
            assert "state" not in await after.use(thief, await connect(host, thief))
            assert (after.asked, after.pushed) == (1, 1)
            assert (await after.use(first, await connect(host, first)))["state"] == {"mine": 1}
            assert (after.asked, after.pushed) == (1, 1)


@against_raw_server
async def test_a_second_connection_to_a_server_is_refused(connect: ConnectServer) -> None:
    keeper, raw, second = Keeper(), notes(), notes()
    async with keeper.host as host:
        connection = await connect(host, raw)
        with pytest.raises(DuplicateServerError, match="server_id="):
            await connect(host, second, at=raw)
        await keeper.use(raw, connection)
        other = await connect(host, second, at=raw, server_id="other")
        assert "state" not in await keeper.use(second, other)
        await connection.aclose()
        again = notes()
        assert (await keeper.use(again, await connect(host, again, at=raw)))["state"]
    assert (keeper.asked, keeper.pushed) == (2, 2)


async def notice_the_end(connection: Connection) -> None:
    """Return when the connection has ended. Over HTTP only requests notice that."""
    while not connection.session.closed:
        with suppress(ConnectionClosedError):
            await connection.mcp.ping()
        await anyio.lowlevel.checkpoint()


@against_raw_server
async def test_a_kept_connection_continues_with_what_was_kept(connect: ConnectServer) -> None:
    keeper, raw = Keeper(), notes()
    prepared: list[Any] = []

    async def prepare(connection: Connection) -> None:
        prepared.append(connection)

    async with keeper.host as host:
        target = (await connect.address_of(raw)).target
        keeping = host.keep_connected(target, on_connect=prepare, first_delay=0.001)
        async with keeping as kept:
            await keeper.use(raw, kept.connection)
            ended = kept.connection
            await raw.hang_up()
            await notice_the_end(ended)
            connection = await kept.wait_connected()
            assert (await keeper.use(raw, connection))["state"] == {"mine": 1}
            assert [one["enabled"] for one in raw.params_of("featureSets/update")] == [[*SETS]] * 2
    assert prepared == [ended, connection]
    assert (keeper.asked, keeper.pushed) == (1, 1)


@against_raw_server(wires=["http"])
async def test_a_server_that_forgets_its_session_is_not_used_without_an_update(
    connect: ConnectServer,
) -> None:
    keeper, raw = Keeper(), notes()
    async with keeper.host as host:
        connection = await connect(host, raw)
        await raw.hang_up()
        await notice_the_end(connection)
        assert "forgotten the session" in str(connection.session.closed_why)
        assert keeper.live.servers == []
        assert (await keeper.use(raw, await connect(host, raw)))["name"] == "add"
