"""What a host restricts lasts: over connections, and with records over restarts of the host."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError, Host
from kinwire.mcpl import (
    Inference,
    McplHost,
    ModelAnswer,
    ScopeRequest,
    Scopes,
    ScriptedProvider,
    ServerPeer,
)
from kinwire.storage import Records, StorageDamagedError, StorageUnavailableError, open_store
from kinwire_protocols import mcpl
from kinwire_protocols.mcpl import RoutingPolicy, ScopeRules
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import ConnectServer, against_raw_server

SETS = {
    "files.edit": {"description": "Edit", "uses": ["tools"], "scoped": True},
    "files.watch": {"description": "Watch", "uses": ["pushEvents"]},
    "think": {"description": "Think", "uses": ["inferenceRequest"]},
}
LISTS = {"files.edit": ScopeRules(whitelist=["/src/**"])}


class Desk:
    """A host that ends and starts again, with or without records, and a server that it knows."""

    def __init__(self, connect: ConnectServer, records: Records | None, **policy: Any) -> None:
        self.connect = connect
        self.records = records
        self.policy: Any = {"enabled": ["files.*"], "scopes": Scopes(lists=LISTS), **policy}
        self.raw = RawServer({"version": "0.4", "featureSets": SETS, "inferenceRequest": True})

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[tuple[Host, McplHost]]:
        live = McplHost(**self.policy, records=self.records)
        async with Host("h", "1", extensions=[live]) as host:
            yield host, live

    @asynccontextmanager
    async def connected(
        self, host: Host, live: McplHost, *, server_id: str = "notes"
    ) -> AsyncGenerator[tuple[ServerPeer, Any]]:
        """Connect, and yield the server and the first update that it gets."""
        before = len(self.raw.params_of("featureSets/update"))
        connection = await self.connect(host, self.raw, server_id=server_id)
        peer = live.of(connection)
        assert peer is not None
        await self.update()
        yield peer, self.raw.params_of("featureSets/update")[before]
        await connection.session.aclose()
        await self.raw.gone()

    async def update(self) -> Any:
        """Return the last update that the server has got."""
        await self.raw.settle()
        return self.raw.params_of("featureSets/update")[-1]

    async def elevates(self, label: str) -> bool:
        params = {"featureSet": "files.edit", "scope": {"label": label}}
        return bool((await self.raw.result("scope/elevate", params))["approved"])


@against_raw_server
@pytest.mark.spec("mcpl-6.7-1")
async def test_a_disabled_set_stays_off_until_it_is_enabled(connect: ConnectServer) -> None:
    desk = Desk(connect, None)
    async with desk.running() as (host, live):
        async with desk.connected(host, live) as (server, update):
            assert update["enabled"] == ["files.edit", "files.watch"]
            await server.disable("files.*")
            await server.enable("files.watch", "think")
        async with desk.connected(host, live) as (server, update):
            # What was enabled by hand beyond the policy is not on again.
            assert update["enabled"] == server.enabled == ["files.watch"]
            assert server.restrictions.switched == {
                "files.*": False,
                "files.watch": True,
                "think": True,
            }
            params = {"featureSet": "files.edit", "scope": {"label": "/src/x"}}
            assert (await desk.raw.error("scope/elevate", params))["code"] == -32001
        async with desk.connected(host, live, server_id="other") as (server, update):
            assert update["enabled"] == ["files.edit", "files.watch"]
            assert not server.restrictions
        async with desk.connected(host, live) as (server, _):
            await server.enable("files.*")
        async with desk.connected(host, live) as (server, update):
            assert update["enabled"] == ["files.edit", "files.watch"]
            assert not server.restrictions


@against_raw_server
@pytest.mark.spec("mcpl-7.2-1", "mcpl-7.6-1")
async def test_lists_that_were_set_last_until_they_are_reset(connect: ConnectServer) -> None:
    desk = Desk(connect, None)
    async with desk.running() as (host, live):
        async with desk.connected(host, live) as (server, update):
            assert update["scopes"] == {"files.edit": {"whitelist": ["/src/**"]}}
            await server.scopes.set("files.edit", whitelist=["/src/**"], blacklist=["/src/own"])
        async with desk.connected(host, live) as (server, update):
            lists = {"whitelist": ["/src/**"], "blacklist": ["/src/own"]}
            assert update["scopes"] == {"files.edit": lists}
            assert [await desk.elevates(one) for one in ("/src/x", "/src/own/x")] == [True, False]
            assert server.restrictions.lists == {"files.edit": ScopeRules(**lists)}
            await server.scopes.reset("files.watch")  # another one
            assert not await desk.elevates("/src/own/x")
            await server.scopes.reset("files.edit")
            assert await desk.elevates("/src/own/x")
        async with desk.connected(host, live) as (server, update):
            assert update["scopes"] == {"files.edit": {"whitelist": ["/src/**"]}}


@against_raw_server
@pytest.mark.spec("mcpl-5.3-1")
async def test_restrictions_outlive_the_host_where_records_keep_them(
    connect: ConnectServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store("memory:") as store:
        desk = Desk(connect, await store.records("mcpl"))
        async with desk.running() as (host, live), desk.connected(host, live) as (server, _):
            await server.disable("files.watch")
            await server.scopes.set("files.edit", blacklist=["/src/own"])
        async with desk.running() as (host, live), desk.connected(host, live) as (server, update):
            assert update["enabled"] == ["files.edit"]
            assert update["scopes"]["files.edit"]["blacklist"] == ["/src/own"]
            earlier = "notes: earlier restrictions are in force: sets disabled: files.watch; lists"
            assert f"{earlier} changed: files.edit" in caplog.text
            await server.reset()
            assert (await desk.update())["enabled"] == ["files.edit", "files.watch"]
        async with desk.running() as (host, live), desk.connected(host, live) as (server, update):
            assert update["enabled"] == ["files.edit", "files.watch"]
            assert not server.restrictions
        assert [one async for one in (await store.records("mcpl")).scan("restrictions/")] == []


@against_raw_server
@pytest.mark.spec("mcpl-5.3-1")
async def test_without_records_a_new_host_begins_with_its_policy(connect: ConnectServer) -> None:
    desk = Desk(connect, None)
    async with desk.running() as (host, live), desk.connected(host, live) as (server, _):
        await server.disable("*")
    async with desk.running() as (host, live), desk.connected(host, live) as (_, update):
        assert update["enabled"] == ["files.edit", "files.watch"]


@against_raw_server
async def test_a_restriction_that_is_not_stored_is_in_force_and_reported(
    connect: ConnectServer,
) -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpl"))
        desk = Desk(connect, records)
        async with desk.running() as (host, live), desk.connected(host, live) as (server, _):
            records.fails = True
            with pytest.raises(StorageUnavailableError):
                await server.disable("files.watch")
            assert server.enabled == ["files.edit"]
            assert (await desk.update())["enabled"] == ["files.edit"]
        async with desk.running() as (host, live):
            with pytest.raises(StorageUnavailableError):  # what is in force cannot be known
                await connect(host, desk.raw, server_id="notes")
            assert live.servers == []


@against_raw_server(wires=("memory", "ws"))
async def test_a_server_that_hangs_up_while_its_data_is_loaded_is_not_connected(
    connect: ConnectServer,
) -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpl"))
        desk = Desk(connect, records)
        records.gate = anyio.Event()

        async def hang_up() -> None:
            await records.waits.wait()
            await desk.raw.hang_up()
            await desk.raw.gone()
            assert records.gate is not None
            records.gate.set()

        async with desk.running() as (host, live), anyio.create_task_group() as tasks:
            tasks.start_soon(hang_up)
            with pytest.raises(ConnectionClosedError):
                await connect(host, desk.raw, server_id="notes")
            assert live.servers == []


USAGE = mcpl.TokenUsage(input_tokens=6, output_tokens=6)
QUESTION = {"featureSet": "think", "messages": [{"role": "user", "content": "Well?"}]}


def thinking(connect: ConnectServer, records: Records | None) -> Desk:
    inference = Inference(
        provider=ScriptedProvider(*[ModelAnswer("Yes", "m", usage=USAGE)] * 5),
        routing=RoutingPolicy(default="m"),
        budgets={"think": 20},
    )
    return Desk(connect, records, enabled=["*"], inference=inference)


def used(live: McplHost) -> dict[str, int]:
    return {name: usage.input_tokens for (_, name), usage in live.usage.items()}


async def think_twice(desk: Desk, host: Host, live: McplHost, records: FailingRecords) -> None:
    async with desk.connected(host, live):
        records.fails = True  # the tokens count, and are stored with the next ones
        await desk.raw.result("inference/request", QUESTION)
        records.fails = False
    async with desk.connected(host, live):
        await desk.raw.result("inference/request", QUESTION)
        error = await desk.raw.error("inference/request", QUESTION)
        assert error["data"]["reason"] == "budget_spent"


@against_raw_server
@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.spec("mcpl-13.1-5")
async def test_a_budget_that_is_spent_stays_spent(connect: ConnectServer, stored: bool) -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpl"))
        desk = thinking(connect, records if stored else None)
        async with desk.running() as (host, live):
            await think_twice(desk, host, live, records)
        async with desk.running() as (host, live), desk.connected(host, live):
            assert used(live) == ({"think": 12} if stored else {})
            assert ("error" in await desk.raw.request("inference/request", QUESTION)) is stored


@against_raw_server
@pytest.mark.spec("mcpl-13.1-5")
async def test_a_spent_budget_can_be_reset(connect: ConnectServer) -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpl"))
        desk = thinking(connect, records)
        async with desk.running() as (host, live):
            await think_twice(desk, host, live, records)
        async with desk.running() as (host, live), desk.connected(host, live) as (server, _):
            await live.reset_usage(server, "files.edit")
            assert used(live) == {"think": 12}
            await live.reset_usage(server, "think")
            assert used(live) == {}
            await desk.raw.result("inference/request", QUESTION)
        async with desk.running() as (host, live), desk.connected(host, live) as (server, _):
            assert used(live) == {"think": 6}
            await live.reset_usage(server)
        async with desk.running() as (host, live), desk.connected(host, live):
            assert used(live) == {}


@against_raw_server
@pytest.mark.spec("mcpl-6.7-1", "mcpl-7.2-1")
async def test_what_an_ended_connection_restricts_is_in_force_in_the_next(
    connect: ConnectServer,
) -> None:
    desk = Desk(connect, None, enabled=["*"])
    async with desk.running() as (host, live):
        async with desk.connected(host, live) as (ended, _):
            pass
        async with desk.connected(host, live) as (server, _):
            await server.disable("think")
            await ended.disable("files.watch")
            await ended.scopes.set("files.edit", blacklist=["/src/own"])
            assert server.enabled == ["files.edit"]
            assert (await desk.update())["enabled"] == ["files.edit"]
            assert not await desk.elevates("/src/own/x")
            await ended.enable("files.watch")
        async with desk.connected(host, live) as (server, update):
            assert update["enabled"] == ["files.edit", "files.watch"]
            assert server.restrictions.lists["files.edit"].blacklist == ["/src/own"]
            await ended.scopes.reset()
            assert not server.restrictions.switched["think"]
            assert not server.restrictions.lists
            await ended.reset()
            assert not server.restrictions
            assert (await desk.update())["enabled"] == sorted(SETS)


@against_raw_server
@pytest.mark.spec("mcpl-5.3-1")
async def test_what_is_restricted_while_nothing_is_connected_is_in_force_in_the_next(
    connect: ConnectServer,
) -> None:
    desk = Desk(connect, None)
    async with desk.running() as (host, live):
        async with desk.connected(host, live) as (ended, _):
            pass
        for change in (ended.disable, ended.enable, ended.disable):
            with pytest.raises(ConnectionClosedError):
                await change("files.watch")
        with pytest.raises(ConnectionClosedError):
            await ended.scopes.set("files.edit", blacklist=["/src/own"])
        async with desk.connected(host, live) as (_, update):
            assert update["enabled"] == ["files.edit"]
            assert update["scopes"]["files.edit"]["blacklist"] == ["/src/own"]


@against_raw_server
@pytest.mark.spec("mcpl-6.7-1")
async def test_a_restriction_that_is_stored_late_reaches_the_next_connection(
    connect: ConnectServer,
) -> None:
    """The connection ends, and the server is connected again, while the store writes."""
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpl"))
        desk = Desk(connect, records)
        async with desk.running() as (host, live), anyio.create_task_group() as tasks:
            async with desk.connected(host, live) as (ended, _):
                await ended.disable("think")
                records.gate, records.waits = anyio.Event(), anyio.Event()
                gate = records.gate

                async def disable() -> None:
                    with pytest.raises(ConnectionClosedError):
                        await ended.disable("files.watch")

                tasks.start_soon(disable)
                await records.waits.wait()
                records.gate = None  # for others
            async with desk.connected(host, live) as (server, update):
                assert update["enabled"] == ["files.edit", "files.watch"]
                gate.set()
                await desk.raw.settle()
                assert server.enabled == ["files.edit"]
                assert (await desk.update())["enabled"] == ["files.edit"]


@pytest.mark.parametrize("kind", ["approval", "denial", "restrictions"])
@against_raw_server
async def test_a_damaged_record_of_a_server_harms_no_other(
    connect: ConnectServer, kind: str
) -> None:
    """That server is not connected, and the error names the record."""
    asked = list[str]()

    async def decide(request: ScopeRequest) -> bool:
        asked.append(request.label)
        return request.label == "yes"

    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        desk, other = (Desk(connect, records, scopes=Scopes(ask=decide)) for _ in range(2))
        async with desk.running() as (host, live):
            async with other.connected(host, live, server_id="other") as (server, _):
                damaged = f"{kind}/{server.key}" + ("" if kind == "restrictions" else "/1")
            await records.put(damaged, ["damaged"])
            async with desk.connected(host, live):
                assert [await desk.elevates(one) for one in ("yes", "no")] == [True, False]
                with pytest.raises(StorageDamagedError, match=damaged):
                    await connect(host, other.raw, server_id="other")
                assert [await desk.elevates(one) for one in ("yes", "no")] == [True, False]
    assert asked == ["yes", "no"]
