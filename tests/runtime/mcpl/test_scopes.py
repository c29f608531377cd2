"""Scopes between two live sides: asked for by servers, approved, remembered, taken back."""

from __future__ import annotations

from contextlib import AsyncExitStack
from math import inf, nan

import anyio
import pytest

from kinwire.mcpl import (
    ScopeAnswer,
    ScopeRequest,
    Scopes,
)
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InternalError
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mcpl.fixtures_pairs import sent
from tests.runtime.mcpl.fixtures_scopes import LISTS, SETS, Person, files

pytestmark = pytest.mark.anyio


ELEVATED = [
    pytest.param("/project/a.ts", True, None, id="on the whitelist"),
    pytest.param("/project/.env", False, "the blacklist has **/.env", id="on both"),
    pytest.param("/etc/hosts", False, "nobody can be asked", id="on neither"),
    pytest.param("/project/../x", False, "it goes up with ..", id="cannot be judged"),
]


@pytest.mark.parametrize(("label", "approved", "reason"), ELEVATED)
@pytest.mark.spec("mcpl-7.6-1", "mcpl-7.6-2", "mcpl-7.5-3")
async def test_the_lists_decide(label: str, approved: bool, reason: str | None) -> None:
    async with files(Scopes(lists=LISTS)) as (server, _):
        answer = await server.elevate(label, {"mode": "append"})
    assert answer.approved is approved
    assert answer.payload == ({"mode": "append"} if approved else None)
    assert (reason or "") in (answer.reason or "")


@pytest.mark.spec("mcpl-7.2-1", "mcpl-6.7-2")
async def test_the_lists_go_out_with_the_update_and_can_be_changed() -> None:
    async with files(Scopes(lists=LISTS)) as (server, (connection, live)):
        assert server.mcpl.hosts[0].scopes["discord.post"] == LISTS["discord.post"]
        await live.scopes.set("files.edit", whitelist=["/etc/**"])
        assert (await server.elevate("/etc/hosts")).approved
        assert not (await server.elevate("/project/a")).approved
        first, second = sent(connection, "client", "featureSets/update")
    assert first["scopes"]["files.edit"]["blacklist"] == ["**/.env", "**/secrets/**"]
    assert second["scopes"]["files.edit"] == {"whitelist": ["/etc/**"], "blacklist": []}


@pytest.mark.spec("mcpl-7.6-3", "mcpl-7.6-4", "mcpl-7.5-2")
async def test_a_person_is_asked_once_for_the_same_and_again_for_others() -> None:
    person = Person()
    async with files(Scopes(lists=LISTS, ask=person)) as (server, (_, live)):
        for _again in range(3):
            answer = await server.elevate("/etc/hosts", {"mode": "append"})
            assert answer.approved
            assert answer.payload == {"mode": "append"}
        payload = {"mode": "append"}
        assert person.asked == [
            ScopeRequest("files", "files.edit", "/etc/hosts", payload, server_key=live.key)
        ]
        await server.elevate("/etc/hosts", {"mode": "write"})
        await server.elevate("/etc/passwd", {"mode": "append"})
        await server.elevate("/etc/hosts", {"mode": "append"}, "discord.post")
        assert len(person.asked) == 4
        await live.scopes.set("files.edit", blacklist=["/etc/**"])
        assert not (await server.elevate("/etc/hosts", {"mode": "append"})).approved
    assert len(person.asked) == 4


@pytest.mark.spec("mcpl-7.4-1")
async def test_what_was_approved_can_be_taken_back() -> None:
    person = Person()
    async with files(Scopes(ask=person)) as (server, (connection, live)):
        await server.elevate("/etc/hosts")
        await live.scopes.revoke("files.edit")
        await server.elevate("/etc/hosts")
        asked = [one["scope"] for one in sent(connection, "server", "scope/elevate")]
    assert asked == [{"label": "/etc/hosts"}] * 2
    assert len(person.asked) == 2


@pytest.mark.spec("mcpl-7.6-4")
async def test_an_approval_that_is_revoked_while_it_is_stored_does_not_last() -> None:
    person = Person()
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpl"))
        async with (
            files(Scopes(ask=person), records=records) as (server, (_, live)),
            anyio.create_task_group() as tasks,
        ):
            records.gate = anyio.Event()
            tasks.start_soon(server.elevate, "/etc/hosts")
            await records.waits.wait()
            tasks.start_soon(live.scopes.revoke)
            await anyio.wait_all_tasks_blocked()
            records.gate.set()
        async with files(Scopes(ask=person), records=records) as (server, _):
            await server.elevate("/etc/hosts")
    assert len(person.asked) == 2


async def test_a_set_that_goes_loses_its_approvals() -> None:
    person = Person()
    async with files(Scopes(ask=person)) as (server, (connection, _)):
        await server.elevate("/etc/hosts")
        await server.mcpl.change(removed=["files.edit"])
        await server.mcpl.change(added={"files.edit": SETS["files.edit"]})
        await server.mcpl.hosts[0].session.raw("ping")
        await connection.mcp.ping()
        await server.elevate("/etc/hosts")
    assert len(person.asked) == 2


async def test_a_clock_that_is_put_back_does_not_revive_an_approval() -> None:
    person, now = Person(ScopeAnswer(True, lasts=60)), [1000.0]
    async with files(Scopes(ask=person), clock=lambda: now[0]) as (server, _):
        await server.elevate("/etc/hosts")
        now[0] += 59
        await server.elevate("/etc/hosts")
        assert len(person.asked) == 1
        now[0] += 86_400
        await server.elevate("/etc/hosts")
        assert len(person.asked) == 2
        now[0] -= 2 * 86_400
        await server.elevate("/etc/hosts")
    assert len(person.asked) == 2


async def test_nobody_waits_longer_than_the_deadline() -> None:
    async def never(request: ScopeRequest) -> bool:
        await anyio.sleep_forever()
        return True

    async with files(Scopes(ask=never, ask_timeout=0.01)) as (server, _):
        answer = await server.elevate("/etc/hosts")
    assert (answer.approved, answer.reason) == (False, "nobody answered in time")


async def test_an_ask_that_fails_denies(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(request: ScopeRequest) -> bool:
        raise RuntimeError("no terminal")

    async with files(Scopes(ask=broken)) as (server, _):
        assert (await server.elevate("/etc/hosts")).reason == "asking failed"
    assert "no terminal" in caplog.text


@pytest.mark.spec("mcpl-7.5-4", "mcpl-7.5-5", "mcpl-7.5-1")
async def test_a_host_adds_to_the_payload_what_it_knows() -> None:
    async def resolve(request: ScopeRequest) -> JsonObject:
        return {**(request.payload or {}), "channelId": 42}

    scopes = Scopes(lists=LISTS, enrich=resolve, ask=Person())
    async with files(scopes) as (server, _):
        for label in ("#general", "#elsewhere", "#elsewhere"):
            answer = await server.elevate(label, {"name": label}, "discord.post")
            assert answer.payload == {"name": label, "channelId": 42}


@pytest.mark.spec("mcpl-7.1-1")
async def test_a_set_without_scopes_is_given_none() -> None:
    async with files(Scopes(ask=Person())) as (server, (connection, live)):
        sets = (connection.greeting.capabilities.experimental or {})["mcpl"]["featureSets"]
        assert [name for name, one in sets.items() if one.get("scoped")] == list(SETS)[:2]
        answer = await server.elevate("/tmp/x", name="plain")
        assert (answer.approved, answer.reason) == (False, "plain does not declare scopes")
        await live.disable("files.edit")
        with pytest.raises(mcpl.FeatureSetNotEnabledError):
            await server.mcpl.hosts[0].session.raw(
                "scope/elevate", {"featureSet": "files.edit", "scope": {"label": "/tmp/x"}}
            )


@pytest.mark.spec("mcpl-7-1")
async def test_an_approval_after_the_set_was_disabled_does_not_count() -> None:
    asked, answer = anyio.Event(), anyio.Event()

    async def slow(request: ScopeRequest) -> bool:
        asked.set()
        await answer.wait()
        return True

    async with files(Scopes(ask=slow)) as (server, (_, live)), anyio.create_task_group() as tasks:

        async def elevate() -> None:
            with pytest.raises(mcpl.FeatureSetNotEnabledError):
                await server.elevate("/etc/hosts")

        tasks.start_soon(elevate)
        await asked.wait()
        await live.disable("files.edit")
        answer.set()


async def test_approvals_outlive_the_host_where_records_keep_them() -> None:
    person = Person()
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        for _host in range(2):
            async with files(Scopes(ask=person), records=records) as (server, _):
                assert (await server.elevate("/etc/hosts", {"n": 1})).payload == {"n": 1}
        assert len(person.asked) == 1
        async with files(Scopes(ask=person), records=records) as (server, (_, live)):
            await live.scopes.revoke()
        async with files(Scopes(ask=person), records=records) as (server, _):
            await server.elevate("/etc/hosts", {"n": 1})
    assert len(person.asked) == 2


@pytest.mark.parametrize(("lasts", "times"), [(inf, 1), (nan, 2)])
async def test_an_approval_lasts_forever_only_if_that_is_configured(
    lasts: float, times: int
) -> None:
    asked: list[ScopeRequest] = []

    async def approve(request: ScopeRequest) -> ScopeAnswer:
        asked.append(request)
        return ScopeAnswer(True, lasts=lasts)

    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with files(Scopes(ask=approve), records=records) as (server, _):
            for _time in range(2):
                assert (await server.elevate("/etc/hosts")).approved
    assert len(asked) == times


async def test_an_approval_that_cannot_be_stored_does_not_count() -> None:
    person = Person()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store("memory:"))
        records = await store.records("mcpl")
        async with files(Scopes(ask=person), records=records) as (server, _):
            await stack.aclose()
            for _time in range(2):
                with pytest.raises(InternalError):
                    await server.elevate("/etc/hosts")
    assert len(person.asked) == 2
