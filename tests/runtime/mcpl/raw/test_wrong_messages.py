"""Messages and events of a raw server that are wrong: each loses only itself."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Host
from kinwire.mcpl import Channels, McplHost, PushedEvent, UserTurn
from kinwire.rpc.request import Request
from kinwire_protocols.mcpl import ChannelsIncomingParams, PushEventResult
from kinwire_protocols.mcpl.methods import CHANNELS_INCOMING
from tests.runtime.mcpl.raw.peer import Message, RawServer
from tests.runtime.mcpl.raw.scenarios import ConnectServer, against_raw_server

ROOM = {"id": "chat:1", "type": "chat", "label": "Chat", "direction": "bidirectional"}
OFFER = {
    "version": "0.4",
    "pushEvents": True,
    "channels": {"register": True, "incoming": True},
    "featureSets": {"bell": {"description": "Ring", "uses": ["pushEvents"]}},
}
CONTENT = [{"type": "text", "text": "Hello"}]


class Program:
    """Takes all that comes."""

    def __init__(self) -> None:
        self.turns: list[UserTurn] = []
        self.events: list[PushedEvent] = []
        self.live = McplHost(enabled=["*"], on_push=self.take, channels=Channels(on_turn=self.turn))

    async def turn(self, turn: UserTurn) -> None:
        self.turns.append(turn)

    async def take(self, event: PushedEvent) -> PushEventResult:
        self.events.append(event)
        return PushEventResult(accepted=True)


def message(id: Any, **fields: Any) -> Message:
    return {"channelId": "chat:1", "messageId": id, "content": CONTENT, **fields}


def event(id: str, timestamp: Any) -> Message:
    payload = {"content": CONTENT}
    return {"featureSet": "bell", "eventId": id, "timestamp": timestamp, "payload": payload}


WRONG: list[tuple[Any, str, str]] = [
    (7, "", ": expected an object, got 7"),
    (None, "", ": expected an object, got null"),
    (message(7), "", "/messageId: expected a valid string, got 7"),
    ({"messageId": "m", "content": CONTENT}, "m", "/channelId: expected a value, got nothing"),
    (message("m", content=[{"type": "text"}]), "m", "/content/0/text: expected a value"),
    (message("m", author="Ada"), "m", '/author: expected an object, got "Ada"'),
    (message("m", timestamp="now"), "m", "/timestamp: expected an ISO 8601 date-time"),
    (message("m", timestamp=5), "m", "/timestamp: expected a valid string, got 5"),
    (message("m", threadId="t" * 513), "m", ": messageId and threadId have at most 512"),
]


@pytest.mark.spec("mcpl-14.3-12", "mcpl-14.3-13", "mcpl-14.3-15")
@against_raw_server
async def test_a_wrong_message_is_refused_and_the_others_are_taken(
    connect: ConnectServer, caplog: pytest.LogCaptureFixture
) -> None:
    program, raw = Program(), RawServer(OFFER)
    async with Host("h", "1", extensions=[program.live]) as host:
        await connect(host, raw)
        await raw.result("channels/register", {"channels": [ROOM]})
        sent = [message("first"), *(wrong for wrong, _, _ in WRONG), message("last")]
        results = (await raw.result("channels/incoming", {"messages": sent}))["results"]
        first, *refused, last = results
        assert [first["messageId"], last["messageId"]] == ["first", "last"]
        assert first["accepted"]
        assert last["accepted"]
        for place, (result, (_, id, problem)) in enumerate(zip(refused, WRONG, strict=True), 1):
            assert (result["messageId"], result["accepted"]) == (id, False)
            assert result["reason"].startswith(f"channels/incoming#/messages/{place}{problem}")
        error = await raw.error("channels/incoming", {"messages": "none"})
        assert error["code"] == -32602
        many = {"messages": [7] * 101}
        assert "at most 100 messages" in (await raw.error("channels/incoming", many))["message"]
    assert [one.message_id for turn in program.turns for one in turn.messages] == ["first", "last"]
    assert (
        caplog.text.count(
            "raw: refused: channels/incoming#/messages/1: expected an object, got 7; "
        )
        == 1
    )


@pytest.mark.spec("mcpl-9.2-3")
@against_raw_server
async def test_the_time_of_an_event_is_a_date_time(
    connect: ConnectServer, caplog: pytest.LogCaptureFixture
) -> None:
    program, raw = Program(), RawServer(OFFER)
    async with Host("h", "1", extensions=[program.live]) as host:
        await connect(host, raw)
        for timestamp in ("yesterday", "2026-01-23", "2026-02-30T10:30:00Z", "", 5):
            error = await raw.error("push/event", event("wrong", timestamp))
            assert error["code"] == -32602
            assert error["data"]["problems"][0]["pointer"] == "/timestamp"
        for number in range(2):
            answer = await raw.result("push/event", event(f"e{number}", "2026-01-23T10:30:00"))
            assert answer == {"accepted": True}
        assert (await raw.result("push/event", event("wrong", "2026-01-23T10:30:00+01:00")))[
            "accepted"
        ]
    assert [one.params.timestamp for one in program.events] == [
        "2026-01-23T10:30:00Z",
        "2026-01-23T10:30:00Z",
        "2026-01-23T10:30:00+01:00",
    ]
    assert caplog.text.count("times without a zone are read as UTC") == 1


@pytest.mark.spec("mcpl-14.3-13")
@against_raw_server
async def test_the_time_of_a_message_without_a_zone_is_one_of_utc(
    connect: ConnectServer, caplog: pytest.LogCaptureFixture
) -> None:
    program, raw = Program(), RawServer(OFFER)
    async with Host("h", "1", extensions=[program.live]) as host:
        await connect(host, raw)
        await raw.result("channels/register", {"channels": [ROOM]})
        sent = [
            message("a", timestamp="2026-01-23T10:30:00"),
            message("b", timestamp="2026-01-23T10:30:00-05:00"),
            message("c"),
        ]
        await raw.result("channels/incoming", {"messages": sent})
    (turn,) = program.turns
    assert [one.timestamp for one in turn.messages] == [
        "2026-01-23T10:30:00Z",
        "2026-01-23T10:30:00-05:00",
        None,
    ]
    assert caplog.text.count("times without a zone are read as UTC") == 1


@against_raw_server
async def test_an_interceptor_gets_the_valid_messages(connect: ConnectServer) -> None:
    program, raw, seen = Program(), RawServer(OFFER), list[str]()

    async def look(params: ChannelsIncomingParams, request: Request, go_on: Any) -> Any:
        seen.extend(one.message_id for one in params.messages)
        return await go_on(params.model_copy(update={"messages": params.messages[:1]}))

    async with Host("h", "1", extensions=[program.live]) as host:
        connection = await connect(host, raw)
        connection.session.intercept_inbound(look, CHANNELS_INCOMING)
        await raw.result("channels/register", {"channels": [ROOM]})
        sent = [7, message("a"), message("b")]
        outcomes = (await raw.result("channels/incoming", {"messages": sent}))["results"]
    assert seen == ["a", "b"]
    assert [(one["messageId"], one["accepted"]) for one in outcomes] == [("", False), ("a", True)]
