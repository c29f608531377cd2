"""Events that a raw server sends again: the same id is the same event, whatever its time."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Host
from kinwire.mcpl import McplHost, PushedEvent
from kinwire.storage import open_store
from kinwire_protocols.mcpl import PushEventResult
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import ConnectServer, against_raw_server

SETS = {
    "bell": {"description": "Ring", "uses": ["pushEvents"]},
    "door": {"description": "Open", "uses": ["pushEvents"]},
}


def event(**fields: Any) -> dict[str, Any]:
    """Return the params of the event of section 9.1, with other fields."""
    return {
        "featureSet": "bell",
        "eventId": "evt_abc123",
        "timestamp": "2026-01-23T10:30:00Z",
        "origin": {"webhook": "push"},
        "payload": {"content": [{"type": "text", "text": "New commit on main"}]},
        **fields,
    }


def raw() -> RawServer:
    return RawServer({"version": "0.4", "pushEvents": True, "featureSets": SETS})


class Conversation:
    """Starts an inference for each event."""

    def __init__(self) -> None:
        self.events: list[PushedEvent] = []

    async def take(self, event: PushedEvent) -> PushEventResult:
        self.events.append(event)
        return PushEventResult(accepted=True, inference_id=f"inf_{len(self.events)}")


@pytest.mark.spec("mcpl-9.4-1")
@against_raw_server
async def test_a_repeat_at_another_time_is_the_same_event(connect: ConnectServer) -> None:
    conversation, server = Conversation(), raw()
    live = McplHost(enabled=["*"], on_push=conversation.take)
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, server)
        expected = {"accepted": True, "inferenceId": "inf_1"}
        for timestamp in ("2026-01-23T10:30:00Z", "2026-01-23T10:30:05Z", "2026-01-24T00:00:00Z"):
            assert await server.result("push/event", event(timestamp=timestamp)) == expected
        first = await server.begin("push/event", event(eventId="evt_2"))
        again = await server.begin(
            "push/event", event(eventId="evt_2", timestamp="2026-01-25T00:00:00Z")
        )
        assert (await server.reply(first))["result"] == (await server.reply(again))["result"]
    assert [one.params.event_id for one in conversation.events] == ["evt_abc123", "evt_2"]


@pytest.mark.spec("mcpl-9.4-1", "mcpl-9.3-3")
@against_raw_server
async def test_another_content_under_the_same_id_is_refused(connect: ConnectServer) -> None:
    conversation, server = Conversation(), raw()
    live = McplHost(enabled=["*"], on_push=conversation.take)
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, server)
        await server.result("push/event", event())
        other = {"content": [{"type": "text", "text": "Another commit"}]}
        for changed in (event(payload=other), event(featureSet="door"), event(origin={})):
            answer = await server.result("push/event", changed)
            assert answer["accepted"] is False
            assert "used for another event" in answer["reason"]
    assert len(conversation.events) == 1


@pytest.mark.spec("mcpl-9.4-1")
@against_raw_server
async def test_a_repeat_is_recognized_after_a_restart_of_the_host(connect: ConnectServer) -> None:
    conversation, server = Conversation(), raw()
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        for time in ("10:30", "10:31"):
            live = McplHost(enabled=["*"], on_push=conversation.take, records=records)
            async with Host("h", "1", extensions=[live]) as host:
                await connect(host, server, server_id="git")
                answer = await server.result("push/event", event(timestamp=f"2026-01-23T{time}Z"))
                assert answer == {"accepted": True, "inferenceId": "inf_1"}
            await server.gone()
    assert len(conversation.events) == 1
