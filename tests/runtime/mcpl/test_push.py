"""Events between two live sides: once each, in order, as many as fit, also over a restart."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import (
    CapabilityNotNegotiatedError,
    ConnectionClosedError,
    Host,
    RequestTimeoutError,
    RpcError,
    Server,
    pair,
)
from kinwire.mcpl import HostPeer, McplHost, McplServer, PushedEvent
from kinwire.rpc.limits import Limits
from kinwire.rpc.routes import Route
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcpl.methods import PUSH_EVENT
from tests.runtime.mcp.fake_client import raw_client
from tests.runtime.mcpl.fixtures_pairs import MEMORY, Lives, feature, live_pair, sent

pytestmark = pytest.mark.anyio

SETS = {**MEMORY, "other": feature("pushEvents")}
ONE: dict[str, Any] = {"event_id": "evt_1", "timestamp": "2026-01-23T14:00:00Z"}


class Conversation:
    """Starts an inference for each event that it is handed."""

    def __init__(self, answer: mcpl.PushEventResult | None = None) -> None:
        self.events: list[PushedEvent] = []
        self.answer = answer
        self.go_on: anyio.Event | None = None

    async def __call__(self, event: PushedEvent) -> mcpl.PushEventResult:
        self.events.append(event)
        number = len(self.events)
        if self.go_on is not None:
            await self.go_on.wait()
        return self.answer or mcpl.PushEventResult(accepted=True, inference_id=f"inf_{number}")

    @property
    def ids(self) -> list[str]:
        return [event.params.event_id for event in self.events]


@asynccontextmanager
async def pushing(conversation: Any, **host: Any) -> AsyncGenerator[tuple[HostPeer, Lives]]:
    live = McplServer(feature_sets=SETS)
    mcpl_host = McplHost(enabled=["*"], on_push=conversation, **host)
    async with live_pair(live, mcpl_host) as lives:
        await lives.connection.mcp.ping()
        yield live.hosts[0], lives


@pytest.mark.spec("mcpl-9.1-1", "mcpl-9.3-1", "mcpl-9.3-2")
async def test_an_event_starts_an_inference_and_the_server_hears_which() -> None:
    conversation = Conversation()
    async with pushing(conversation) as (server, (connection, live)):
        answer = await server.push("memory.proactive", "Call Alice", origin={"server": "memory"})
        assert answer == mcpl.PushEventResult(accepted=True, inference_id="inf_1")
        (params,) = sent(connection, "server", "push/event")
    assert params["origin"] == {"server": "memory"}
    assert params["payload"] == {"content": [{"type": "text", "text": "Call Alice"}]}
    (event,) = conversation.events
    assert event.server is live
    assert not event.again


@pytest.mark.spec("mcpl-9.4-1", "mcpl-abstract-2")
async def test_concurrent_repeats_of_an_event_start_one_inference() -> None:
    conversation = Conversation()
    conversation.go_on = anyio.Event()
    answers: list[mcpl.PushEventResult] = []
    async with pushing(conversation) as (server, (connection, _)):

        async def push() -> None:
            answers.append(await server.push("memory.proactive", "Now", **ONE))

        async with anyio.create_task_group() as tasks:
            for _repeat in range(20):
                tasks.start_soon(push)
            while len(sent(connection, "server", "push/event")) < 20:
                await anyio.lowlevel.checkpoint()
            conversation.go_on.set()
    assert conversation.ids == ["evt_1"]
    assert answers == [mcpl.PushEventResult(accepted=True, inference_id="inf_1")] * 20


@pytest.mark.spec("mcpl-9.3-3")
async def test_another_event_under_the_same_id_is_refused() -> None:
    conversation = Conversation()
    async with pushing(conversation) as (server, _):
        await server.push("memory.proactive", "Now", **ONE)
        for change in ({"origin": {"n": 1}}, {"content": "Later"}):
            answer = await server.push("memory.proactive", **{"content": "Now", **ONE, **change})
            assert not answer.accepted
            assert "used for another event" in (answer.reason or "")
        assert not (await server.push("other", "Now", **ONE)).accepted
    assert conversation.ids == ["evt_1"]


async def test_two_servers_may_use_the_same_id() -> None:
    conversation = Conversation()
    live = McplServer(feature_sets=SETS)
    host = McplHost(enabled=["*"], on_push=conversation)
    servers = [Server(name, "1", extensions=[live]) for name in ("a", "b")]
    with anyio.fail_after(20):
        for server in servers:
            async with pair(server, Host("h", "1", extensions=[host])) as connection:
                await connection.mcp.ping()
                await live.hosts[0].push("memory.proactive", "Now", **ONE)
    assert conversation.ids == ["evt_1", "evt_1"]


async def test_events_of_a_set_come_in_order_and_sets_do_not_wait_for_each_other() -> None:
    conversation = Conversation()
    conversation.go_on = anyio.Event()
    async with (
        pushing(conversation) as (server, (connection, _)),
        anyio.create_task_group() as tasks,
    ):

        async def push(feature_set: str, event_id: str) -> None:
            await server.push(feature_set, "Now", event_id=event_id)

        for number in range(3):
            tasks.start_soon(push, "memory.proactive", f"m{number}")
            while len(sent(connection, "server", "push/event")) <= number:
                await anyio.lowlevel.checkpoint()
            await connection.mcp.ping()
        tasks.start_soon(push, "other", "o")
        while len(conversation.events) < 2:
            await anyio.lowlevel.checkpoint()
        assert conversation.ids == ["m0", "o"]
        conversation.go_on.set()
    assert conversation.ids == ["m0", "o", "m1", "m2"]


async def test_an_event_that_was_refused_may_come_again() -> None:
    conversation = Conversation(mcpl.PushEventResult(accepted=False, reason="busy"))
    async with pushing(conversation) as (server, _):
        assert (await server.push("memory.proactive", "Now", **ONE)).reason == "busy"
        conversation.answer = None
        assert (await server.push("memory.proactive", "Now", **ONE)).accepted
    assert len(conversation.events) == 2
    assert not conversation.events[1].again


async def test_a_failed_conversation_is_logged_and_the_event_may_be_repeated(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failures = [RuntimeError("out of tokens")]
    taken: list[bool] = []

    async def failing(event: PushedEvent) -> mcpl.PushEventResult:
        if failures:
            raise failures.pop()
        taken.append(event.again)
        return mcpl.PushEventResult(accepted=True)

    async with pushing(failing) as (server, _):
        with pytest.raises(RpcError, match="Internal error"):
            await server.push("memory.proactive", "Now", **ONE)
        assert (await server.push("memory.proactive", "Now", **ONE)).accepted
    assert taken == [False]
    assert "out of tokens" in caplog.text


@pytest.mark.spec("mcpl-9.4-2")
async def test_a_server_repeats_an_event_with_its_id_until_it_is_accepted() -> None:
    conversation = Conversation()
    conversation.go_on = anyio.Event()
    async with pushing(conversation, push_timeout=0.01) as (server, (connection, _)):

        async def push() -> None:
            answer = await server.push("memory.proactive", "Now", first_delay=0.001)
            assert answer == mcpl.PushEventResult(accepted=True, inference_id="inf_2")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(push)
            while len(conversation.events) < 2:
                await anyio.lowlevel.checkpoint()
            conversation.go_on.set()
        first, second = sent(connection, "server", "push/event")
    assert first == second
    assert [event.again for event in conversation.events] == [False, True]


async def test_attempts_come_to_an_end() -> None:
    async def never(event: PushedEvent) -> mcpl.PushEventResult:
        await anyio.sleep_forever()
        raise AssertionError

    async with pushing(never, push_timeout=0.001) as (server, (connection, _)):
        answer = await server.push("memory.proactive", "Now", attempts=3, first_delay=0.001)
        assert answer.reason == "it was not taken in time"
        assert len(sent(connection, "server", "push/event")) == 3


@pytest.mark.spec("mcpl-9.3-3")
async def test_what_is_too_large_is_refused_and_has_no_effect() -> None:
    conversation = Conversation()
    async with pushing(conversation) as (server, _):
        answer = await server.push("memory.proactive", "x" * 70_000)
    assert "push an address of it" in (answer.reason or "")
    assert conversation.events == []


@pytest.mark.spec("mcpl-9.3-3")
async def test_a_flood_is_held_back() -> None:
    conversation = Conversation()
    async with pushing(conversation, push_rate=0.001) as (server, _):
        answers = [await server.push("other", str(n), attempts=1) for n in range(3)]
    assert [one.accepted for one in answers] == [True, False, False]
    assert {one.reason for one in answers[1:]} == {"backpressure"}


@pytest.mark.spec("mcpl-9.4-1")
async def test_answers_are_known_to_the_host_after_this_one() -> None:
    conversation = Conversation()
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        for _host in range(2):
            async with pushing(conversation, records=records) as (server, _):
                answer = await server.push("memory.proactive", "Now", **ONE)
                assert answer.inference_id == "inf_1"
                other = await server.push("memory.proactive", "Later", **ONE)
                assert "used for another event" in (other.reason or "")
    assert len(conversation.events) == 1


async def test_an_event_whose_answer_was_lost_is_handed_over_again_and_marked() -> None:
    conversation = Conversation()
    conversation.go_on = anyio.Event()
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with (
            pushing(conversation, records=records) as (server, (connection, _)),
            anyio.create_task_group() as tasks,
        ):

            async def push() -> None:
                with pytest.raises(ConnectionClosedError):
                    await server.push("memory.proactive", "Now", **ONE)

            tasks.start_soon(push)
            while not conversation.events:
                await anyio.lowlevel.checkpoint()
            await connection.aclose()
        conversation.go_on = None
        async with pushing(conversation, records=records) as (server, _):
            assert (await server.push("memory.proactive", "Now", **ONE)).inference_id == "inf_2"
    assert [event.again for event in conversation.events] == [False, True]


async def test_a_window_ends_and_a_clock_that_is_put_back_opens_none() -> None:
    now, conversation = [1000.0], Conversation()
    async with pushing(conversation, clock=lambda: now[0]) as (server, _):
        await server.push("memory.proactive", "Now", **ONE)
        now[0] -= 500.0
        await server.push("memory.proactive", "Now", **ONE)
        assert len(conversation.events) == 1
        now[0] += 500.0 + 86_400.0
        await server.push("memory.proactive", "Now", **ONE)
    assert len(conversation.events) == 2


async def test_a_host_without_a_place_for_events_is_sent_none() -> None:
    live = McplServer(feature_sets=SETS)
    async with live_pair(live, McplHost(enabled=["*"])) as (connection, _):
        await connection.mcp.ping()
        with pytest.raises(CapabilityNotNegotiatedError):
            await live.hosts[0].push("memory.proactive", "Now")


LACKING = [
    pytest.param("featureSet", marks=pytest.mark.spec("mcpl-9.2-1")),
    pytest.param("eventId", marks=pytest.mark.spec("mcpl-9.2-2")),
    pytest.param("timestamp", marks=pytest.mark.spec("mcpl-9.2-3")),
    pytest.param("payload", marks=pytest.mark.spec("mcpl-9.2-5")),
]


@pytest.mark.parametrize("member", LACKING)
async def test_an_event_without_a_member_is_invalid(member: str) -> None:
    conversation = Conversation()
    event: JsonObject = {
        "featureSet": "memory.proactive",
        "eventId": "e",
        "timestamp": "2026-01-23T14:00:00Z",
        "payload": {"content": []},
    }
    async with pushing(conversation) as (server, _):
        del event[member]
        with pytest.raises(InvalidParamsError, match=f"#/{member}: expected"):
            await server.session.raw("push/event", event)
    assert conversation.events == []


@pytest.mark.spec("mcpl-9.2-4", "mcpl-9.2-6")
async def test_an_event_brings_blocks_and_where_it_comes_from() -> None:
    conversation = Conversation()
    event: JsonObject = {
        "featureSet": "memory.proactive",
        "eventId": "evt_reminder_001",
        "timestamp": "2026-01-23T14:00:00Z",
        "origin": {"server": "memory", "memoryId": "mem_followup"},
        "payload": {"content": [{"type": "text", "text": "Follow up with Alice"}]},
    }
    async with pushing(conversation) as (server, _):
        assert (await server.session.raw("push/event", event))["accepted"] is True
        with pytest.raises(InvalidParamsError, match="/payload/content: expected"):
            await server.session.raw("push/event", {**event, "payload": {}})
    (taken,) = conversation.events
    assert taken.params.origin == {"server": "memory", "memoryId": "mem_followup"}


async def test_a_host_elsewhere_that_answers_as_it_likes_is_understood() -> None:
    live = McplServer(feature_sets=SETS)
    server = Server("memory", "1", extensions=[live], limits=Limits(request_timeout=0.02))
    replies: list[JsonObject | None] = [None, {"accepted": False, "reason": "duplicate"}]

    async def answer(params: Any, request: Any) -> JsonObject:
        reply = replies.pop(0)
        if reply is None:
            await anyio.sleep_forever()  # as hosts do that leave requests unanswered
        return reply or {}

    offer = {"experimental": {"mcpl": {"version": "0.4", "pushEvents": True}}}
    with anyio.fail_after(20):
        async with raw_client(server, {PUSH_EVENT.name: Route(PUSH_EVENT, answer)}) as client:
            await client.greet(offer)
            (host,) = live.hosts
            taken = await host.push("memory.proactive", "Now", first_delay=0.001, attempts=2)
            assert taken.accepted
            replies.extend([{"accepted": False, "reason": "Unknown feature set: nope"}])
            refused = await host.push("memory.proactive", "Now")
            assert refused.reason == "Unknown feature set: nope"
            replies.extend([None])
            with pytest.raises(RequestTimeoutError):
                await host.push("memory.proactive", "Now", attempts=1)
