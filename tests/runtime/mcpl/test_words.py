"""Members, words, blocks and errors between two live sides: what is known, and what is not."""

from __future__ import annotations

from typing import get_args

import pytest
from pydantic import ValidationError

from kinwire import RpcError, Server
from kinwire.mcpl import (
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    PushedEvent,
    ScriptedProvider,
)
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcpl import models
from kinwire_protocols.mcpl.methods import PUSH_EVENT
from tests.each import each
from tests.runtime.mcpl.fixtures_chat import INBOX, Chat, chatting
from tests.runtime.mcpl.fixtures_hooks import Speaker, before, hooked, texts
from tests.runtime.mcpl.fixtures_pairs import MEMORY, feature, live_pair, sent

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mcpl-0.3.0-draft-february-2026-4")
async def test_members_that_nobody_knows_are_passed_over_on_both_sides() -> None:
    live, host = McplServer(feature_sets=MEMORY), McplHost(enabled=["*"])
    server = Server("memory", "1", extensions=[live])
    events: list[mcpl.PushEventParams] = []

    @server.tool
    async def look() -> str:
        """Look."""
        return "seen"

    @host.on.push_event
    async def take(params: mcpl.PushEventParams) -> mcpl.PushEventResult:
        events.append(params)
        return from_wire(mcpl.PushEventResult, {"accepted": True, "later": {"a": [1]}})

    async with live_pair(live, host, server) as (connection, _):
        await connection.mcp.ping()
        event: JsonObject = {
            "featureSet": "memory.proactive",
            "eventId": "e",
            "timestamp": "2026-01-23T10:30Z",
            "payload": {"content": "Now", "later": 1},
            "later": {"a": None},
        }
        answer = await live.hosts[0].session.call(PUSH_EVENT, PUSH_EVENT.decode_params(event))
        assert (answer.accepted, answer.model_extra) == (True, {"later": {"a": [1]}})
        call: JsonObject = {"name": "look", "state": 1, "checkpoint": "c", "scope": {}, "later": []}
        result = await connection.session.raw("tools/call", call)
    assert result["content"] == [{"type": "text", "text": "seen"}]
    assert [one.model_extra for one in events] == [{"later": {"a": None}}]


@pytest.mark.spec("mcpl-0.2.0-draft-january-2026-3")
async def test_wishes_that_went_from_the_protocol_have_no_say() -> None:
    provider = ScriptedProvider(*[ModelAnswer("x", "m")] * 2)
    policy = Inference(provider=provider, routing=mcpl.RoutingPolicy(default="haiku"))
    live = McplServer(feature_sets=MEMORY)
    async with live_pair(live, McplHost(enabled=["*"], inference=policy)) as (connection, _):
        await connection.mcp.ping()
        await live.hosts[0].infer("memory.consolidation", "Summarize")
        (params,) = sent(connection, "server", "inference/request")
        assert params.keys() == {"featureSet", "messages"}
        gone = {"purpose": "summary", "costHint": "low", "costTier": "low"}
        await live.hosts[0].session.raw("inference/request", {**params, **gone})
    assert provider.requests[0] == provider.requests[1]
    one, two = Speaker("one"), Speaker("two")
    last = {"namespace": "n", "position": "system", "content": "2", "positionHint": "first"}
    one.before, two.before = ["1"], [from_wire(mcpl.ContextInjection, last)]
    async with hooked(one, two) as host:
        assert texts((await host.before_inference(before())).system) == ["1", "2"]


@pytest.mark.parametrize(
    ("reason", "said"),
    [("end_turn", "end_turn"), ("length", "max_tokens"), ("stop_sequence",) * 2, ("?", "end_turn")],
)
@pytest.mark.spec("mcpl-B.3-2", "mcpl-11.3-3")
async def test_servers_get_one_of_three_stop_reasons(reason: str, said: str) -> None:
    assert get_args(models.FinishReason.__value__) == ("end_turn", "max_tokens", "stop_sequence")
    provider = ScriptedProvider(ModelAnswer("x", "m", reason))
    policy = Inference(provider=provider, routing=mcpl.RoutingPolicy(default="m"))
    live = McplServer(feature_sets=MEMORY)
    async with live_pair(live, McplHost(enabled=["*"], inference=policy)) as (connection, _):
        await connection.mcp.ping()
        result = await live.hosts[0].infer("memory.consolidation", "Summarize")
    assert result.finish_reason == said


BLOCKS = [
    pytest.param({"type": "image", "data": "cG5n", "mimeType": "image/png"}, id="bytes"),
    pytest.param({"type": "audio", "uri": "memory://sound"}, id="address"),
    pytest.param({"type": "resource", "uri": "memory://text"}, id="a resource"),
]


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.spec("mcpl-B.1-2", "mcpl-B.1-3")
async def test_pictures_sounds_and_resources_are_there_or_say_where_they_are(
    block: JsonObject,
) -> None:
    speaker = Speaker("memory")

    @speaker.server.resource("memory://sound", mime_type="audio/wav")
    async def sound() -> bytes:
        """A sound."""
        return b"wav"

    @speaker.server.resource("memory://text")
    async def text() -> str:
        """A text."""
        return "Known"

    made = {"namespace": "n", "position": "system", "content": [block]}
    speaker.before = [from_wire(mcpl.ContextInjection, made)]
    async with hooked(speaker) as live:
        found = await live.before_inference(before())
    assert len([one for each in found.system for one in each.content]) == 1


@each(
    "block",
    [
        {"type": "image"},
        {"type": "image", "data": "cG5n"},
        {"type": "audio", "mimeType": "audio/wav"},
        {"type": "resource"},
    ],
)
@pytest.mark.spec("mcpl-B.1-2", "mcpl-B.1-3")
def test_a_block_without_content_and_without_address_is_refused(block: JsonObject) -> None:
    made = {"namespace": "n", "position": "system", "content": [block]}
    with pytest.raises(ValidationError, match=r"Input should be an object with '(data|uri)'"):
        from_wire(mcpl.ContextInjection, made)


ERRORS: list[tuple[int, str, JsonObject]] = [
    (-32001, "push/event", {"featureSet": "off", "eventId": "e", "timestamp": "2026-01-23T10:30Z"}),
    (
        -32003,
        "push/event",
        {"featureSet": "nobody", "eventId": "e", "timestamp": "2026-01-23T10:30Z"},
    ),
    (-32005, "state/rollback", {"featureSet": "notes", "checkpoint": "chk_gone"}),
    (-32017, "channels/publish", {"channelId": INBOX.id, "content": "Hello"}),
    (-32023, "channels/publish", {"channelId": "discord:#nowhere", "content": "Hello"}),
    (-32024, "channels/open", {"type": "discord", "address": {"channel": "#x"}}),
]


@pytest.mark.spec("mcpl-A-1", "mcpl-A-5")
async def test_each_code_of_the_appendix_is_met_between_two_live_sides() -> None:
    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        return mcpl.PushEventResult(accepted=True)

    sets = {
        "off": feature("pushEvents"),
        "notes": feature("tools", rollback=True),
        "all": feature("channels.publish"),
    }
    chat = Chat(sets=sets)
    chat.broken = True
    met: list[int] = []
    on = ["notes", "all"]
    async with chatting(chat, enabled=on, on_push=take) as (_, (connection, _live), side):
        for _, method, params in ERRORS:
            server = method == "push/event"
            with pytest.raises(RpcError) as raised:
                await (side.session if server else connection.session).raw(
                    method, {**params, "payload": {"content": ""}} if server else params
                )
            met.append(raised.value.code)
    assert met == [code for code, _, _ in ERRORS]
    draft = mcpl.CapabilityDeniedError  # of 0.5: it is only read
    codes = [kind.default_code for kind in mcpl.PROTOCOL.errors.values() if kind is not draft]
    assert sorted(met) == sorted(codes)
