"""What the manager of access does when time, store or caller are not as usual."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.call import GuardedCall
from kinwire.mgp.kernel.callers import as_operator
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage import ConflictError, Records, StorageDamagedError, open_store
from kinwire.storage.clock import forward
from kinwire_protocols.mgp.errors import AccessDeniedError
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.storage.fixtures_engines import Clock

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """The tests of the processes and of the reference run on other loops and engines."""
    return "asyncio"


class Kernel:
    """A manager on records, with a clock that tests move."""

    def __init__(self, records: Records | None) -> None:
        self.records = records
        self.clock = Clock()
        self.events: list[SecurityEvent] = []
        self.access = self.again()

    def again(self) -> AccessManager:
        async def record(event: SecurityEvent) -> None:
            self.events.append(event)

        return AccessManager(
            self.records,
            forward(self.clock, lambda: 0.0),
            lambda server: "opt-in",
            record,
            is_transient=lambda server: server.startswith("unnamed-"),
        )


@asynccontextmanager
async def kernel() -> AsyncGenerator[Kernel]:
    async with open_store("memory:") as store:
        yield Kernel(await store.records("mgp"))


def server(default: str = "opt-in") -> GuardedServer:
    policy, defaults = SimpleNamespace(access=None), SimpleNamespace(access=default)
    return cast(
        GuardedServer,
        SimpleNamespace(id="files", policy=policy, defaults=defaults, transient=False),
    )


def call(tool: str, default: str = "opt-in") -> GuardedCall:
    return cast(
        GuardedCall,
        SimpleNamespace(agent="agent.a", server=server(default), tool=SimpleNamespace(name=tool)),
    )


async def check(kernel: Kernel, call: GuardedCall) -> None:
    await judged(kernel.access, call)


async def judged(access: AccessManager, call: GuardedCall) -> None:
    """Check a call; in memory that takes no waiting."""
    waiting = access.check(call)
    if waiting is not None:
        await waiting


async def test_a_call_is_checked_and_the_refusal_names_the_reason_and_the_remedy() -> None:
    async with kernel() as here:
        with pytest.raises(AccessDeniedError, match="opt-in, and there is no entry") as refused:
            await check(here, call("read"))
        assert refused.value.data["_mgp"]["details"] == {
            "reason": "access",
            "source": "default_policy",
        }
        assert "kinwire access grant agent.a files read --store" in str(refused.value)
        await check(here, call("read", "opt-out"))
        await here.access.grant("agent.a", "files")
        await check(here, call("read"))
        await here.access.grant("agent.a", "files", "deny", tool="read")
        with pytest.raises(AccessDeniedError, match=r"an entry \(tool_grant\) denies it"):
            await check(here, call("read", "opt-out"))
        assert await here.access.allowed("agent.a", server(), ["read", "write"]) == {"write"}
        assert await here.access.allowed("agent.b", server(), ["read", "write"]) == frozenset()


async def test_nobody_has_access_while_the_store_is_down_or_damaged() -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mgp"))
        here = Kernel(cast(Records, records))
        await here.access.grant("agent.a", "files")
        records.fails = True
        for default in ("opt-in", "opt-out"):
            with pytest.raises(AccessDeniedError, match="cannot be read now"):
                await check(here, call("read", default))
            assert await here.access.allowed("agent.a", server(default), ["read"]) == frozenset()
        records.fails = False
        await check(here, call("read"))
        [record] = [one async for one in records.scan()]
        broken: list[Any] = [
            {**record.value, "agent": "agent.b"},
            {**record.value, "entries": [{"tool": None, "permission": "yes"}]},
            [],
        ]
        for value in broken:
            await records.put(record.key, value)
            with pytest.raises(AccessDeniedError, match="cannot be read now"):
                await check(here, call("read", "opt-out"))
            with pytest.raises(StorageDamagedError):
                await here.access.grant("agent.a", "files")


async def test_an_ended_entry_stays_ended_when_the_clock_is_put_back_and_after_a_restart() -> None:
    async with kernel() as here:
        await here.access.grant("agent.a", "files", expires_in=10.0)
        here.clock.now += 9.9
        await check(here, call("read"))
        here.clock.now += 0.2
        with pytest.raises(AccessDeniedError):  # the session goes on: it is checked at use
            await check(here, call("read"))
        here.clock.now -= 10.0
        with pytest.raises(AccessDeniedError):
            await check(here, call("read"))
        with pytest.raises(AccessDeniedError):
            await judged(here.again(), call("read"))
        assert await here.access.list() == []


async def test_an_ended_entry_gives_no_access_though_it_cannot_be_removed() -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mgp"))
        here = Kernel(cast(Records, records))
        await here.access.grant("agent.a", "files", expires_in=10.0)
        here.clock.now += 10.0

        async def refuse(key: str, **options: Any) -> bool:
            raise ConflictError(key, 1, 2)

        records.delete = refuse  # type: ignore[method-assign]
        with pytest.raises(AccessDeniedError, match="opt-in"):
            await check(here, call("read"))


async def test_a_change_gives_up_when_others_change_the_record_all_the_time() -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mgp"))
        here, tries = Kernel(cast(Records, records)), 0

        async def conflict(key: str, value: Any, **options: Any) -> int:
            nonlocal tries
            tries += 1
            if tries == 3:
                return await FailingRecords.put(records, key, value, **options)
            raise ConflictError(key, 1, 2)

        records.put = conflict  # type: ignore[method-assign]
        await here.access.grant("agent.a", "files")
        await check(here, call("read"))
        with pytest.raises(ConflictError):
            await here.access.grant("agent.b", "files")
        assert tries > 50
        assert [one.actor_type for one in here.events] == ["operator"]


async def test_a_change_that_changes_nothing_is_not_written() -> None:
    async with kernel() as here:
        assert here.records is not None
        await here.access.grant("agent.a", "files", tool="t")
        (before,) = [one async for one in here.records.scan()]
        assert not (await here.access.revoke("agent.a", "files")).revoked
        assert [one async for one in here.records.scan()] == [before]
        assert (await here.access.revoke("agent.a", "files", tool="t")).revoked
        assert [one async for one in here.records.scan()] == []


async def test_entries_are_kept_in_memory_for_servers_that_only_a_connection_names() -> None:
    async with kernel() as here:
        for name in ("files", "unnamed-1"):
            await here.access.grant("agent.a", name, "deny", tool="t")
        assert [one.server_id for one in await here.access.list()] == ["files", "unnamed-1"]
        assert here.records is not None
        assert len([one async for one in here.records.scan()]) == 1
        assert [one.server_id for one in await here.again().list()] == ["files"]
        assert (await here.access.revoke("agent.a", "unnamed-1", tool="t")).revoked
    alone = Kernel(None)
    await alone.access.grant("agent.a", "files")
    await check(alone, call("read"))


async def test_events_say_who_changed_what_for_whom() -> None:
    async with kernel() as here:
        await here.access.grant("agent.a", "files", tool="t", justification="it reads")
        await here.access.revoke("agent.a", "files", tool="t")
        await here.access.revoke("agent.a", "files", tool="t")
        with as_operator("admin"):
            entry = await here.access.grant("agent.b", "files")
            assert entry.granted_by == "admin"
            await here.access.revoke("agent.b", "files")
    assert [event.actor_id for event in here.events[2:]] == ["admin", "admin"]
    given, taken = here.events[:2]
    assert (given.event_type, taken.event_type) == ("ACCESS_GRANTED", "ACCESS_REVOKED")
    for event in (given, taken):
        assert (event.actor_type, event.actor_id) == ("operator", "operator")
        assert (event.server_id, event.tool_name, event.result) == ("files", "t", "SUCCESS")
        assert event.details["agent_id"] == "agent.a"
        assert event.details["justification"] == "it reads"


async def test_an_explanation_names_each_level() -> None:
    async with kernel() as here:
        await here.access.grant("agent.a", "files", "deny")
        found = await here.access.explain("agent.a", "files", "t")
        assert (found.decision.permission, found.decision.source) == ("deny", "server_grant")
        assert [step.permission for step in found.steps] == [None, "deny", "deny"]


async def test_names_that_no_agent_server_or_tool_can_have_are_refused() -> None:
    async with kernel() as here:
        for bad in ("", "x" * 257, "a\nb", "a\x1b[31m", cast(str, 5)):
            with pytest.raises(ValueError, match="printable characters"):
                await here.access.grant(bad, "files")
            with pytest.raises(ValueError, match="printable characters"):
                await here.access.revoke("agent.a", bad)
            with pytest.raises(ValueError, match="printable characters"):
                await here.access.query("agent.a", "files", bad)
            with pytest.raises(ValueError, match="printable characters"):
                await here.access.list(agent=bad)
        with pytest.raises(ValueError, match="'allow' or 'deny'"):
            await here.access.grant("agent.a", "files", cast(Any, "yes"))
        with pytest.raises(ValueError, match="expires_in"):
            await here.access.grant("agent.a", "files", expires_in=0)
        assert await here.access.list() == []
