"""State, approvals and limits belong to what the host connects to, not to a name (MCPL 7, 8)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import DuplicateServerError, Host
from kinwire.mcpl import (
    Inference,
    McplHost,
    ModelAnswer,
    ScopeRequest,
    Scopes,
    ScriptedProvider,
    ServerPeer,
)
from kinwire.storage import Log, Records, open_store
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcpl import PushEventResult, RoutingPolicy
from tests.runtime.mcpl.fixtures_pairs import RawServer, raw_server

pytestmark = pytest.mark.anyio

SETS = {
    "s": {
        "description": "A",
        "uses": ["tools", "pushEvents", "inferenceRequest"],
        "rollback": True,
        "scoped": True,
    }
}
OFFER: JsonObject = {"featureSets": SETS, "pushEvents": True, "inferenceRequest": True}
EVENT = {
    "featureSet": "s",
    "eventId": "1",
    "timestamp": "2026-01-01T00:00:00Z",
    "payload": {"content": "x"},
}


class Keeper:
    """A host that counts what it is asked and what it is handed."""

    def __init__(self, records: Records | None = None, **options: Any) -> None:
        self.asked: list[ScopeRequest] = []
        self.pushed = 0
        self.live = McplHost(
            enabled=["*"],
            scopes=Scopes(ask=self._ask),
            on_push=self._take,
            records=records,
            **options,
        )
        self.host = Host("h", "1", extensions=[self.live])

    async def _ask(self, request: ScopeRequest) -> bool:
        self.asked.append(request)
        return True

    async def _take(self, event: Any) -> PushEventResult:
        self.pushed += 1
        return PushEventResult(accepted=True)


class Peer:
    """One raw server at a host. Every one calls itself `raw`."""

    def __init__(self, raw: RawServer, connection: Any, live: ServerPeer) -> None:
        self.raw, self.connection, self.live = raw, connection, live

    async def call(self) -> JsonObject:
        """Have the host call the tool, and return the params that arrived."""
        await self.connection.mcp.tools_call(name="t")
        return self.raw.received("tools/call")[-1]

    async def elevate(self) -> bool:
        scope = {"label": "home"}
        asked = {"featureSet": "s", "scope": scope}
        return bool((await self.raw.session.raw("scope/elevate", asked))["approved"])

    async def push(self) -> None:
        assert (await self.raw.session.raw("push/event", EVENT))["accepted"]


@asynccontextmanager
async def peer(keeper: Keeper, address: str | None, **options: Any) -> AsyncGenerator[Peer]:
    async def call(params: Any, request: Any) -> JsonObject:
        return {"content": [], "state": {"checkpoint": "one", "parent": None, "data": {"mine": 1}}}

    async def listed(params: Any, request: Any) -> JsonObject:
        return {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}

    async with raw_server(OFFER, {TOOLS_CALL: call, TOOLS_LIST: listed}, tools={}) as raw:
        raw.transport.address = address
        connection = await keeper.host.connect(raw.transport, **options)
        live = keeper.live.of(connection)
        assert live is not None
        yield Peer(raw, connection, live)
        await connection.aclose()


async def use_all(one: Peer) -> JsonObject:
    """Leave state, an approval and an event; return the params of a tool call after that."""
    await one.call()
    await one.push()
    assert await one.elevate()
    return await one.call()


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("command:notes", None), ("command:thief", None)),
        (("command:notes", "notes"), ("command:notes", None)),
        (("command:notes", "raw"), ("command:thief", None)),
        (("command:notes", "notes"), ("command:notes", "raw")),
        (("command:notes", None), (None, None)),
        ((None, None), (None, None)),
    ],
)
async def test_a_server_of_the_same_name_gets_nothing_of_another(
    durable: bool, first: tuple[str | None, str | None], second: tuple[str | None, str | None]
) -> None:
    async with open_store("memory:") as store:
        keeper = Keeper(await store.records("mcpl") if durable else None)
        async with keeper.host:
            async with peer(keeper, first[0], server_id=first[1]) as one:
                assert (await use_all(one))["state"] == {"mine": 1}
            async with peer(keeper, second[0], server_id=second[1]) as thief:
                assert "state" not in await thief.call()
                await thief.push()
                await thief.elevate()
    assert (keeper.pushed, len(keeper.asked)) == (2, 2)
    assert len({one.server_key for one in keeper.asked}) == 2


@pytest.mark.parametrize("durable", [False, True])
async def test_the_same_server_continues_after_a_reconnect(durable: bool) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpl") if durable else None
        keeper = Keeper(records)
        async with keeper.host:
            for _connection in range(2):
                async with peer(keeper, "command:notes") as one:
                    assert (await use_all(one))["state"] == {"mine": 1}
        assert (keeper.pushed, len(keeper.asked)) == (1, 1)
        if records is not None:
            again = Keeper(records)
            async with again.host, peer(again, "command:notes") as one:
                assert (await use_all(one))["state"] == {"mine": 1}
            assert (again.pushed, len(again.asked)) == (0, 0)


async def test_a_second_connection_is_refused_and_the_first_goes_on() -> None:
    keeper = Keeper()
    async with keeper.host, peer(keeper, "command:notes") as one:
        await one.call()
        async with raw_server(OFFER) as raw:
            raw.transport.address = "command:notes"
            with pytest.raises(DuplicateServerError, match=r"server_id=") as raised:
                await keeper.host.connect(raw.transport)
            assert (raised.value.server, raised.value.protocol) == ("raw", "mcpl")
        assert keeper.live.servers == [one.live]
        assert (await one.call())["state"] == {"mine": 1}
        async with peer(keeper, "command:notes", server_id="other") as other:
            assert "state" not in await other.call()
    assert len(keeper.asked) == 0


async def test_servers_of_one_name_are_logged_and_audited(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_store("memory:") as store:
        log: Log = await store.log("audit")
        keeper = Keeper(audit=log)
        async with keeper.host, peer(keeper, "command:a"), peer(keeper, "command:b") as second:
            reason = f"this one is {second.live.key}"
        events = [entry.value for entry in await log.read()]
    (event,) = [one for one in events if one["method"] == "initialize"]
    assert (event["serverId"], event["sender"], event["outcome"]) == ("raw", "server", "failure")
    assert reason in event["reason"]
    assert [one.getMessage() for one in caplog.records if reason in one.getMessage()]


async def test_nothing_is_stored_of_a_peer_that_only_its_connection_names() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        keeper = Keeper(records)
        async with keeper.host, peer(keeper, None) as one:
            await use_all(one)
            assert not [record async for record in records.scan()]
        async with keeper.host, peer(keeper, "command:a") as one:
            await use_all(one)
            assert all([one.live.key in record.key async for record in records.scan()])


@pytest.mark.spec("mcpl-7.6-4")
async def test_nothing_of_such_a_peer_stays_in_memory() -> None:
    provider = ScriptedProvider(*[ModelAnswer("x", "m")] * 20)
    routing = RoutingPolicy(default="m")
    keeper = Keeper(inference=Inference(provider=provider, routing=routing))
    async with keeper.host:
        for _connection in range(20):
            async with peer(keeper, None) as one:
                await use_all(one)
                asked = {"featureSet": "s", "messages": [{"role": "user", "content": "x"}]}
                await one.raw.session.raw("inference/request", asked)
                await one.live.disable("s")
                assert len(keeper.live.usage) == 1
            await anyio.wait_all_tasks_blocked()
    assert keeper.live.usage == {}
    live = keeper.live
    assert live._states._trees == {}
    assert (len(live._guard._grants), len(live._services.restrictions)) == (0, 0)


@pytest.mark.parametrize("server_id", ["raw", None])
@pytest.mark.spec("mcpl-6-1")
async def test_a_policy_of_a_server_without_a_server_id_is_logged(
    server_id: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    for pattern in ("raw/s", "other/s", "s"):
        caplog.clear()
        keeper = Keeper(forbidden=[pattern])
        async with keeper.host, peer(keeper, "command:a", server_id=server_id) as one:
            applies = pattern == "s" or (pattern == "raw/s" and server_id == "raw")
            assert one.live.enabled == ([] if applies else ["s"])
            logged = [one for one in caplog.messages if "without a server_id" in one]
        assert len(logged) == (server_id is None and pattern == "raw/s")
        assert all(one.endswith("Write connect(..., server_id='raw')") for one in logged)


@pytest.mark.parametrize(("server_id", "model"), [("raw", "large"), (None, "small")])
@pytest.mark.spec("mcpl-11.5-1")
async def test_a_setting_that_names_a_server_means_its_server_id(
    server_id: str | None, model: str
) -> None:
    provider = ScriptedProvider(ModelAnswer("x", model))
    routing = RoutingPolicy(by_feature={"raw/s": "large"}, default="small")
    keeper = Keeper(inference=Inference(provider=provider, routing=routing))
    async with keeper.host, peer(keeper, "command:a", server_id=server_id) as one:
        asked = {"featureSet": "s", "messages": [{"role": "user", "content": "x"}]}
        await one.raw.session.raw("inference/request", asked)
        assert list(keeper.live.usage) == [(one.live.key, "s")]
    assert [request.model for request in provider.requests] == [model]
