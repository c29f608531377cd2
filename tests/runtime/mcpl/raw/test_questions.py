"""Questions to people: equal ones are asked once, and their answers are remembered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from kinwire import Host
from kinwire.mcpl import McplHost, ScopeAnswer, ScopeRequest, Scopes
from kinwire.storage import open_store
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import ConnectServer, against_raw_server

SETS = {"files.edit": {"description": "Edit", "uses": ["tools"], "scoped": True}}


def raw() -> RawServer:
    return RawServer({"version": "0.4", "featureSets": SETS})


def asked_for(label: str = "/etc/hosts", **payload: Any) -> Any:
    return {"featureSet": "files.edit", "scope": {"label": label, "payload": payload}}


class Person:
    """Answers a question when the test says so."""

    def __init__(self, answer: ScopeAnswer | bool, *, waits: bool = False) -> None:
        self.answer = answer
        self.asked = 0
        self.cancelled = 0
        self.called = anyio.Event()
        self.may_answer = anyio.Event()
        if not waits:
            self.may_answer.set()

    async def __call__(self, request: ScopeRequest) -> ScopeAnswer | bool:
        self.asked += 1
        self.called.set()
        try:
            await self.may_answer.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        return self.answer


def hosting(person: Person, **options: Any) -> Callable[..., Host]:
    def open(**more: Any) -> Host:
        live = McplHost(enabled=["*"], scopes=Scopes(ask=person, **options), **more)
        return Host("h", "1", extensions=[live])

    return open


@against_raw_server
@pytest.mark.parametrize("approved", [True, False])
@pytest.mark.spec("mcpl-7.6-3", "mcpl-7.6-4")
async def test_equal_questions_are_asked_once(connect: ConnectServer, approved: bool) -> None:
    person = Person(ScopeAnswer(approved, reason="not today"), waits=True)
    async with hosting(person)() as host:
        server = raw()
        await connect(host, server)
        ids = [await server.begin("scope/elevate", asked_for(n=1)) for _ in range(3)]
        other = await server.begin("scope/elevate", asked_for(n=2))
        await server.settle()
        assert person.asked == 2
        person.may_answer.set()
        for id in (*ids, other):
            assert (await server.reply(id))["result"]["approved"] is approved
        again = await server.result("scope/elevate", asked_for(n=1))
    expected = {"payload": {"n": 1}} if approved else {"reason": "not today"}
    assert again == {"approved": approved, **expected}
    assert person.asked == 2


@against_raw_server
async def test_one_that_is_cancelled_does_not_cancel_the_question(connect: ConnectServer) -> None:
    person = Person(True, waits=True)
    async with hosting(person)() as host:
        server = raw()
        await connect(host, server)
        first, second = [await server.begin("scope/elevate", asked_for()) for _ in range(2)]
        await server.settle()
        await server.notify("notifications/cancelled", {"requestId": first})
        await server.settle()
        assert person.cancelled == 0
        person.may_answer.set()
        assert (await server.reply(second))["result"]["approved"] is True
    assert person.asked == 1


@against_raw_server
async def test_a_question_that_nobody_waits_for_is_cancelled(connect: ConnectServer) -> None:
    person = Person(True, waits=True)
    async with hosting(person)() as host:
        server = raw()
        await connect(host, server)
        ids = [await server.begin("scope/elevate", asked_for()) for _ in range(2)]
        await server.settle()
        for id in ids:
            await server.notify("notifications/cancelled", {"requestId": id})
        await server.settle()
        assert person.cancelled == 1
        person.may_answer.set()
        assert (await server.result("scope/elevate", asked_for()))["approved"] is True
    assert person.asked == 2


@against_raw_server
@pytest.mark.spec("mcpl-7.6-3", "mcpl-7.6-4")
async def test_an_approval_for_one_time_is_not_shared(connect: ConnectServer) -> None:
    person = Person(ScopeAnswer(True, lasts=0), waits=True)
    async with hosting(person)() as host:
        server = raw()
        await connect(host, server)
        ids = [await server.begin("scope/elevate", asked_for()) for _ in range(3)]
        await server.settle()
        assert person.asked == 1
        person.may_answer.set()
        for id in ids:
            assert (await server.reply(id))["result"]["approved"] is True
    assert person.asked == 3


@against_raw_server
@pytest.mark.spec("mcpl-7.6-3")
async def test_a_denial_is_remembered_for_its_time_only(connect: ConnectServer) -> None:
    person, now = Person(ScopeAnswer(False)), [1e9]
    open = hosting(person, denial_life=60.0)
    async with open(clock=lambda: now[0]) as host:
        server = raw()
        await connect(host, server)
        for seconds, times in ((0, 1), (59, 1), (2, 2)):
            now[0] += seconds
            assert not (await server.result("scope/elevate", asked_for()))["approved"]
            assert person.asked == times
        # A server cannot repeat a question by declaring its set again.
        await server.notify("featureSets/changed", {"removed": ["files.edit"]})
        await server.notify("featureSets/changed", {"added": SETS})
        assert not (await server.result("scope/elevate", asked_for()))["approved"]
        assert person.asked == 2


@against_raw_server
@pytest.mark.parametrize("life", [0.0, 300.0])
@pytest.mark.spec("mcpl-7.6-3")
async def test_denials_last_over_connections_and_with_records_over_restarts(
    connect: ConnectServer, life: float
) -> None:
    person, server = Person(False), raw()
    open = hosting(person, denial_life=life)
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        for _restart in range(2):
            async with open(records=records) as host:
                for _connection in range(2):
                    connection = await connect(host, server, server_id="notes")
                    assert not (await server.result("scope/elevate", asked_for()))["approved"]
                    await connection.session.aclose()
                    await server.gone()
        assert person.asked == (1 if life else 4)
        if not life:
            return
        live = McplHost(enabled=["*"], scopes=Scopes(ask=person), records=records)
        async with Host("h", "1", extensions=[live]) as host:
            other = raw()
            await connect(host, other, server_id="other")
            await other.result("scope/elevate", asked_for())
            assert person.asked == 2  # another server
            peer = live.of(await connect(host, server, server_id="notes"))
            assert peer is not None
            await peer.scopes.revoke()
            await server.result("scope/elevate", asked_for())
            assert person.asked == 3


@against_raw_server
@pytest.mark.spec("mcpl-7.6-3")
async def test_no_answer_in_time_is_not_remembered(connect: ConnectServer) -> None:
    person = Person(True, waits=True)
    async with hosting(person, ask_timeout=0.01)() as host:
        server = raw()
        await connect(host, server)
        answer = await server.result("scope/elevate", asked_for())
        assert answer == {"approved": False, "reason": "nobody answered in time"}
        person.may_answer.set()
        assert (await server.result("scope/elevate", asked_for()))["approved"] is True
