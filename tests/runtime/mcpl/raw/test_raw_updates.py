"""What belongs to a set that is off, or to a channel that is denied, is not sent and not served.

Servers obey from the next message on (MCPL 6.7). Each message that belongs to a set is tried in
both roles: a raw host asks our server for it, and our host and our server do not send it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from kinwire import Host, Server
from kinwire.mcpl import Channels, McplHost, McplServer, Scopes, ServerPeer
from kinwire_codegen.load.names import snake_name
from kinwire_protocols import mcpl
from kinwire_protocols.mcp import TextContent
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import Message, RawHost, RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

FLAGS = dict.fromkeys(("register", "publish", "observe", "lifecycle", "streaming"), True)
OFFER: Message = {
    "version": "0.4",
    "pushEvents": True,
    "contextHooks": {"beforeInference": True, "afterInference": {"blocking": True}},
    "inferenceRequest": {"streaming": True},
    "channels": FLAGS,
}
USES = {
    "hooks.before": "contextHooks.beforeInference",
    "hooks.after": "contextHooks.afterInference",
    "chat.publish": "channels.publish",
    "chat.observe": "channels.observe",
    "notes.edit": "tools",
}
SETS = {name: feature(use, rollback=name == "notes.edit" or None) for name, use in USES.items()}
RAW_SETS = {
    name: {"description": "A set", "uses": [use], "rollback": name == "notes.edit"}
    for name, use in USES.items()
}
TEXT: list[mcpl.Block] = [TextContent(text="Hello")]
GENERAL = mcpl.ChannelDescriptor(id="chat:1", type="chat", label="1", direction="bidirectional")
RAW_GENERAL = {"id": "chat:1", "type": "chat", "label": "1", "direction": "bidirectional"}

HOOK: Message = {
    "inferenceId": "inf_1",
    "conversationId": "conv_1",
    "turnIndex": 0,
    "userMessage": None,
    "model": {"id": "m"},
}
AFTER = {**HOOK, "assistantMessage": "Hello"}
HELLO = [{"type": "text", "text": "Hello"}]
PUBLISHED = {"channelId": "chat:1", "content": HELLO}
COMPLETE = {"inferenceId": "inf_1", "channelId": "chat:1", "content": HELLO}
CHUNK = {"inferenceId": "inf_1", "channelId": "chat:1", "index": 0, "delta": "He"}
BACK = {"featureSet": "notes.edit", "checkpoint": "chk_1"}


def opened(params: mcpl.ChannelsOpenParams) -> mcpl.ChannelsOpenResult:
    room = (params.address or {})["room"]
    return mcpl.ChannelsOpenResult(channel=GENERAL.model_copy(update={"id": f"chat:{room}"}))


ANSWERS: dict[str, Callable[[Any], Any]] = {
    "context/beforeInference": lambda _: mcpl.BeforeInferenceResult(),
    "context/afterInference": lambda _: mcpl.AfterInferenceResult(),
    "channels/publish": lambda _: mcpl.ChannelsPublishResult(delivered=True),
    "channels/open": opened,
    "channels/close": lambda _: mcpl.ChannelsCloseResult(closed=True),
    "channels/outgoing/chunk": lambda _: None,
    "channels/outgoing/complete": lambda _: None,
    "state/rollback": lambda asked: mcpl.RollbackResult(checkpoint=asked.checkpoint, success=True),
}


def recording(heard: list[str], method: str) -> Callable[[Any], Awaitable[Any]]:
    async def handle(params: Any) -> Any:
        heard.append(method)
        return ANSWERS[method](params)

    return handle


def serving(heard: list[str]) -> Server:
    """Return a server that writes down what reaches its handlers."""
    tools = {"add": "notes.edit"}
    live = McplServer(feature_sets=SETS, channels=[GENERAL], blocking=True, tools=tools)
    for method in ANSWERS:
        register = getattr(live.on, snake_name(method))
        register(recording(heard, method))
    server = Server("chat", "1", extensions=[live])

    @server.tool
    async def add() -> None:
        """Add something."""
        heard.append("tools/call")

    @server.tool
    async def write(room: str) -> str:
        """Pass messages of two rooms on."""
        messages = [
            mcpl.IncomingMessage(channel_id=f"chat:{one}", message_id=one, content=[*TEXT])
            for one in (room, "1")
        ]
        outcomes = await live.hosts[0].channels.incoming(*messages)
        return json.dumps([one.accepted for one in outcomes])

    return server


async def greeted(connect: ConnectHost, heard: list[str]) -> RawHost:
    host = await connect(serving(heard))
    host.answers["channels/register"] = {}
    host.answers["channels/incoming"] = lambda params: {
        "results": [{"messageId": one["messageId"], "accepted": True} for one in params["messages"]]
    }
    await host.open({**OFFER, "featureSets": True}, update={"enabled": list(USES)})
    await host.settle()
    return host


async def accepted(host: RawHost, room: str) -> Any:
    """Return what the server's program gets when it passes messages of this room and of 1 on."""
    reply = await host.call("write", {"room": room})
    return json.loads(reply["result"]["content"][0]["text"])


REQUESTS = [
    ("context/beforeInference", HOOK, "hooks.before", -32001),
    ("context/afterInference", AFTER, "hooks.after", -32001),
    ("channels/publish", PUBLISHED, "chat.publish", -32017),
    ("state/rollback", BACK, "notes.edit", -32001),
    ("tools/call", {"name": "add", "arguments": {}}, "notes.edit", -32001),
]
NOTIFICATIONS = [
    ("context/afterInference", AFTER, "hooks.after"),
    ("channels/publish", PUBLISHED, "chat.publish"),
    ("channels/outgoing/chunk", CHUNK, "chat.observe"),
    ("channels/outgoing/complete", COMPLETE, "chat.observe"),
]


@pytest.mark.spec("mcpl-6.7-3", "mcpl-6.6-1")
@against_raw_host
async def test_our_server_refuses_what_belongs_to_a_set_that_is_off(connect: ConnectHost) -> None:
    heard: list[str] = []
    host = await greeted(connect, heard)
    for method, params, name, code in REQUESTS:
        await host.result(method, params)
        await host.notify("featureSets/update", {"disabled": [name]})
        assert (await host.error(method, params))["code"] == code
        await host.notify("featureSets/update", {"enabled": [name]})
        await host.result(method, params)
    assert heard == [one[0] for one in REQUESTS for _ in range(2)]


@pytest.mark.spec("mcpl-6.7-3")
@against_raw_host
async def test_our_server_ignores_notifications_of_a_set_that_is_off(connect: ConnectHost) -> None:
    heard: list[str] = []
    host = await greeted(connect, heard)
    for method, params, name in NOTIFICATIONS:
        await host.notify("featureSets/update", {"disabled": [name]})
        await host.notify(method, params)
        await host.notify("featureSets/update", {"enabled": [name]})
        await host.notify(method, params)
    await host.settle()
    assert heard == [one[0] for one in NOTIFICATIONS]


@pytest.mark.spec("mcpl-6.7-3", "mcpl-14.5-1")
@against_raw_host
async def test_our_server_obeys_blacklists_of_channels(connect: ConnectHost) -> None:
    heard: list[str] = []
    host = await greeted(connect, heard)
    room = {"type": "chat", "address": {"room": "2"}}
    assert (await host.result("channels/open", room))["channel"]["id"] == "chat:2"
    denied = {name: {"blacklist": ["chat:2*"]} for name in ("chat.publish", "chat.observe")}
    await host.notify("featureSets/update", {"scopes": denied})
    heard.clear()
    published = await host.error("channels/publish", {**PUBLISHED, "channelId": "chat:2"})
    again = await host.error("channels/open", {**room, "address": {"room": "21"}})
    assert (published["code"], again["code"]) == (-32017, -32017)
    for method in ("channels/outgoing/chunk", "channels/outgoing/complete"):
        shown = CHUNK if method.endswith("chunk") else COMPLETE
        await host.notify(method, {**shown, "channelId": "chat:2"})
        await host.notify(method, shown)
    assert await accepted(host, "2") == [False, True]
    (sent,) = host.params_of("channels/incoming")
    assert [one["channelId"] for one in sent["messages"]] == ["chat:1"]
    await host.result("channels/publish", PUBLISHED)
    assert heard == [
        "channels/open",  # its channel is known only then
        "channels/outgoing/chunk",
        "channels/outgoing/complete",
        "channels/publish",
    ]


@against_raw_host
async def test_our_server_opens_nothing_while_all_sets_of_channels_are_off(
    connect: ConnectHost,
) -> None:
    heard: list[str] = []
    host = await greeted(connect, heard)
    room = {"type": "chat", "address": {"room": "2"}}
    await host.notify("featureSets/update", {"disabled": ["chat.observe"]})
    await host.result("channels/open", room)
    await host.notify("featureSets/update", {"disabled": ["chat.publish"]})
    assert (await host.error("channels/open", room))["code"] == -32017
    assert await accepted(host, "1") == [False, False]
    assert host.params_of("channels/incoming") == []
    assert heard == ["channels/open"]


Act = Callable[[McplHost, ServerPeer, mcpl.ServerStub], Awaitable[Any]]

BEFORE = mcpl.BeforeInferenceParams(
    inference_id="inf_1", conversation_id="conv_1", turn_index=0, model=mcpl.ModelInfo(id="m")
)
ENDED = mcpl.AfterInferenceParams(
    inference_id="inf_1",
    conversation_id="conv_1",
    turn_index=0,
    model=mcpl.ModelInfo(id="m"),
    assistant_message="Hello",
)
ACTS: list[tuple[str, str, Act]] = [
    (
        "context/beforeInference",
        "hooks.before",
        lambda live, peer, stub: stub.context_before_inference(
            inference_id="i", conversation_id="c", turn_index=0, model=mcpl.ModelInfo(id="m")
        ),
    ),
    (
        "context/afterInference",
        "hooks.after",
        lambda live, peer, stub: stub.notify_context_after_inference(
            inference_id="i",
            conversation_id="c",
            turn_index=0,
            model=mcpl.ModelInfo(id="m"),
            assistant_message="Hello",
        ),
    ),
    (
        "context/beforeInference",
        "hooks.before",
        lambda live, *_: live.before_inference(BEFORE),
    ),
    ("context/afterInference", "hooks.after", lambda live, *_: live.after_inference(ENDED)),
    (
        "state/rollback",
        "notes.edit",
        lambda live, peer, stub: stub.state_rollback(feature_set="notes.edit", checkpoint="chk_1"),
    ),
    ("channels/publish", "chat.publish", lambda live, peer, _: peer.channels.send("chat:1", TEXT)),
    ("channels/open", "chat.*", lambda live, peer, _: peer.channels.open("chat")),
    (
        "channels/outgoing/chunk",
        "chat.observe",
        lambda live, peer, stub: stub.channels_outgoing_chunk(
            inference_id="i", channel_id="chat:1", index=0, delta="He"
        ),
    ),
    (
        "channels/outgoing/complete",
        "chat.observe",
        lambda live, peer, stub: stub.channels_outgoing_complete(
            inference_id="i", channel_id="chat:1", content=TEXT
        ),
    ),
]


@pytest.mark.spec("mcpl-6.6-1")
@against_raw_server
async def test_our_host_does_not_send_what_belongs_to_a_set_that_is_off(
    connect: ConnectServer,
) -> None:
    live = McplHost(enabled=["*"], channels=Channels())
    raw = RawServer({**OFFER, "featureSets": RAW_SETS})
    raw.answers |= {
        "context/beforeInference": {},
        "context/afterInference": {},
        "state/rollback": {"checkpoint": "chk_1", "success": True},
        "channels/open": {"channel": {**RAW_GENERAL, "id": "chat:2"}},
    }
    async with Host("h", "1", extensions=[live]) as host:
        connection = await connect(host, raw)
        await raw.result("channels/register", {"channels": [RAW_GENERAL]})
        peer = live.of(connection)
        assert peer is not None
        for method, name, act in ACTS:
            await peer.disable(name)
            before = len(raw.params_of(method))
            with suppress(mcpl.FeatureSetNotEnabledError, mcpl.ChannelNotPermittedError):
                await act(live, peer, mcpl.ServerStub(connection))
            await raw.settle()
            assert len(raw.params_of(method)) == before, method
            await peer.enable(name)
            await act(live, peer, mcpl.ServerStub(connection))
            await raw.settle()
            assert len(raw.params_of(method)) == before + 1, method


@pytest.mark.spec("mcpl-14.5-1")
@against_raw_server
async def test_our_host_obeys_its_own_blacklists_of_channels(connect: ConnectServer) -> None:
    live = McplHost(
        enabled=["*"],
        channels=Channels(default_outgoing=("raw", "chat:1")),
        scopes=Scopes(lists={"chat.observe": mcpl.ScopeRules(whitelist=["*"])}),
    )
    raw = RawServer({**OFFER, "featureSets": RAW_SETS})
    raw.answers["channels/publish"] = {"delivered": True}
    message = {"channelId": "chat:1", "messageId": "1", "content": HELLO}
    async with Host("h", "1", extensions=[live]) as host:
        connection = await connect(host, raw, server_id="raw")
        await raw.result("channels/register", {"channels": [RAW_GENERAL]})
        peer = live.of(connection)
        assert peer is not None
        response = await live.channels.write("conv_1", inference_id="inf_1")
        await response.write("He")
        await peer.scopes.set("chat.observe", blacklist=["chat:1"])
        await response.write("llo")  # from here on it is not observed
        await response.finish("Hello")
        answer = await raw.result("channels/incoming", {"messages": [message]})
        await peer.scopes.set("chat.publish", blacklist=["chat:1"])
        with pytest.raises(mcpl.ChannelNotPermittedError):
            await peer.channels.publish("chat:1", "Hello")
    assert [one["delta"] for one in raw.params_of("channels/outgoing/chunk")] == ["He"]
    assert raw.params_of("channels/outgoing/complete") == []
    assert [one["accepted"] for one in answer["results"]] == [False]
    assert len(raw.params_of("channels/publish")) == 1
