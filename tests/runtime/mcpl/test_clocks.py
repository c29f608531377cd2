"""A wall clock that jumps by a day: nothing under way ends by it, and what has expired stays so."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire.mcpl import (
    HostPeer,
    McplHost,
    McplServer,
    PushedEvent,
    ScopeAnswer,
    ScopeRequest,
    Scopes,
)
from kinwire.storage import Records, open_store
from kinwire_protocols import mcpl
from tests.runtime.mcpl.fixtures_pairs import feature, live_pair

pytestmark = pytest.mark.anyio

DAY = 86_400.0
SETS = {"push": feature("pushEvents"), "edit": feature("tools", scoped=True)}
ONE: dict[str, Any] = {"event_id": "evt_1", "timestamp": "2026-01-23T14:00:00Z"}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Person:
    """Takes events over and allows scopes, for a minute; a test can hold it up in both."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.asked: list[str] = []
        self.go_on: anyio.Event | None = None

    async def take(self, event: PushedEvent) -> mcpl.PushEventResult:
        self.events.append(event.params.event_id)
        await self._held()
        return mcpl.PushEventResult(accepted=True)

    async def allow(self, request: ScopeRequest) -> ScopeAnswer:
        self.asked.append(request.label)
        await self._held()
        return ScopeAnswer(True, lasts=60)

    async def _held(self) -> None:
        if self.go_on is not None:
            await self.go_on.wait()


@asynccontextmanager
async def hosted(
    person: Person, clock: Clock, records: Records | None = None
) -> AsyncGenerator[HostPeer]:
    live = McplServer(feature_sets=SETS)
    host = McplHost(
        enabled=["*"],
        scopes=Scopes(ask=person.allow),
        on_push=person.take,
        records=records,
        clock=clock,
    )
    async with live_pair(live, host) as (connection, _):
        await connection.mcp.ping()
        yield live.hosts[0]


async def elevate(host: HostPeer, label: str = "/etc/hosts") -> bool:
    asked = mcpl.ClientStub(host.session).scope_elevate(
        feature_set="edit", scope=mcpl.Scope(label=label)
    )
    return (await asked).approved


async def push(host: HostPeer) -> bool:
    return (await host.push("push", "Now", **ONE)).accepted


@pytest.mark.parametrize("jump", [DAY, -DAY], ids=["forward", "backward"])
@pytest.mark.parametrize("do", [push, elevate])
async def test_what_is_under_way_when_the_clock_jumps_goes_on(
    do: Callable[[HostPeer], Any], jump: float
) -> None:
    person, clock, done = Person(), Clock(), list[bool]()
    person.go_on = anyio.Event()
    async with hosted(person, clock) as host, anyio.create_task_group() as tasks:

        async def run() -> None:
            done.append(await do(host))

        tasks.start_soon(run)
        while not (person.events or person.asked):
            await anyio.lowlevel.checkpoint()
        clock.now += jump
        assert await host.session.raw("ping") == {}
        assert done == []
        person.go_on.set()
    assert done == [True]


async def test_expired_records_stay_expired_after_a_restart_and_a_clock_change() -> None:
    person, clock = Person(), Clock()
    async with open_store("memory:", clock=clock) as store:
        records = await store.records("mcpl")
        async with hosted(person, clock, records) as host:
            assert await elevate(host)
            assert await push(host)
            clock.now += DAY
            assert await elevate(host)
            assert await push(host)
        assert (len(person.asked), len(person.events)) == (2, 2)
        clock.now += DAY  # seen by the store alone, between two hosts
        assert [one async for one in records.scan("")] == []
        clock.now -= 2 * DAY
        async with hosted(person, clock, records) as host:
            assert await elevate(host)
            assert await push(host)
    assert (len(person.asked), len(person.events)) == (3, 3)


async def test_a_clock_that_is_put_back_does_not_change_an_expiry() -> None:
    person, clock = Person(), Clock()
    async with open_store("memory:", clock=clock) as store:
        records = await store.records("mcpl")
        async with hosted(person, clock, records) as host:
            assert await elevate(host)
            clock.now -= DAY
            assert await elevate(host)
            assert len(person.asked) == 1
            clock.now += DAY + 61
            assert await elevate(host)
    assert len(person.asked) == 2
