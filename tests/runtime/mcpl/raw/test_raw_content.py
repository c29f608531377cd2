"""Content goes out as a list of blocks, and plain text is read as one block (MCPL 9.2, 14.3).

The peers read content as the TypeScript reference does: as an array, and they fail on a string.
"""

from __future__ import annotations

from typing import Any, Literal

import pytest

from kinwire import Context, Host, Server
from kinwire.mcpl import (
    ChannelMessage,
    Channels,
    Draft,
    McplHost,
    McplServer,
    MessageDecision,
    NotPublishedError,
    PushedEvent,
    Verdict,
    content_text,
)
from kinwire_protocols import mcpl
from kinwire_protocols.mcp import TextContent
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

FLAGS = dict.fromkeys(("register", "publish", "observe", "lifecycle", "streaming"), True)
OFFER = {"version": "0.4", "pushEvents": True, "channels": FLAGS, "featureSets": True}
USES = ["pushEvents", "channels.publish", "channels.observe"]
SETS = {"chat.all": {"description": "Chat", "uses": USES}}
GENERAL = {"id": "chat:1", "type": "chat", "label": "1", "direction": "bidirectional"}
WHEN = "2026-01-23T10:30:00Z"


def text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def read_as_array(content: Any) -> str:
    """Read content as the TypeScript reference does: `content.filter(...).map(...)`."""
    if not isinstance(content, list):
        raise TypeError(f"content.filter is not a function: {content!r}")
    return "".join(block["text"] for block in content if block["type"] == "text")


@pytest.mark.spec("mcpl-9.2-6")
@against_raw_host
async def test_our_server_sends_strings_as_blocks(connect: ConnectHost) -> None:
    channel = mcpl.ChannelDescriptor(id="chat:1", type="chat", label="1", direction="bidirectional")
    live = McplServer(feature_sets={"chat.all": feature(*USES)}, channels=[channel])
    server = Server("chat", "1", extensions=[live])

    @server.tool
    async def speak(context: Context) -> None:
        """Push an event, and pass a message on."""
        host = live.of(context)
        assert host is not None
        await host.push("chat.all", "Ring")
        hello = mcpl.IncomingMessage.model_validate(
            {"channel_id": "chat:1", "message_id": "1", "content": "Hello"}
        )
        await host.channels.incoming(hello)

    host = await connect(server)
    host.answers |= {
        "channels/register": {},
        "push/event": {"accepted": True},
        "channels/incoming": {"results": [{"messageId": "1", "accepted": True}]},
    }
    await host.open(OFFER, update={"enabled": ["chat.all"]})
    assert "result" in await host.call("speak")
    (event,) = host.params_of("push/event")
    assert read_as_array(event["payload"]["content"]) == "Ring"
    (incoming,) = host.params_of("channels/incoming")
    assert incoming["messages"][0]["content"] == [text_block("Hello")]


@pytest.mark.parametrize("content", ["Hello", [text_block("Hello")]], ids=["text", "blocks"])
@against_raw_host
async def test_handlers_of_a_server_get_blocks(connect: ConnectHost, content: Any) -> None:
    channel = mcpl.ChannelDescriptor(id="chat:1", type="chat", label="1", direction="bidirectional")
    live = McplServer(feature_sets={"chat.all": feature(*USES)}, channels=[channel])
    heard: list[Any] = []

    @live.on.channels_publish
    async def publish(params: mcpl.ChannelsPublishParams) -> mcpl.ChannelsPublishResult:
        heard.append(params.content)
        return mcpl.ChannelsPublishResult(delivered=True)

    @live.on.channels_outgoing_complete
    async def complete(params: mcpl.ChannelsOutgoingCompleteParams) -> None:
        heard.append(params.content)

    host = await connect(Server("chat", "1", extensions=[live]))
    host.answers["channels/register"] = {}
    await host.open(OFFER, update={"enabled": ["chat.all"]})
    await host.settle()
    sent = {"channelId": "chat:1", "content": content}
    assert await host.result("channels/publish", sent) == {"delivered": True}
    await host.notify("channels/outgoing/complete", {**sent, "inferenceId": "inf_1"})
    await host.settle()
    assert heard == [[TextContent(text="Hello")]] * 2


@pytest.mark.spec("mcpl-14.3-9")
@against_raw_server
async def test_our_host_sends_strings_as_blocks(connect: ConnectServer) -> None:
    drafts: list[tuple[str, type]] = []

    async def moderate(draft: Draft) -> Verdict:
        drafts.append((draft.stage, type(draft.content)))
        return Verdict("change", content_text(draft.content).replace("sk-1", "[REDACTED]"))

    channels = Channels(moderate=moderate, default_outgoing=("raw", "chat:1"))
    live = McplHost(enabled=["*"], channels=channels)
    raw = RawServer({**OFFER, "featureSets": SETS})
    raw.answers["channels/publish"] = {"delivered": True}
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw, server_id="raw")
        await raw.result("channels/register", {"channels": [GENERAL]})
        await live.servers[0].channels.publish("chat:1", "It is sk-1")
        response = await live.channels.write("conv_1", inference_id="inf_1")
        await response.write("It is ")
        await response.finish("It is sk-1")
        await raw.settle()
    published = [read_as_array(one["content"]) for one in raw.params_of("channels/publish")]
    assert published == ["It is [REDACTED]", "It is [REDACTED]"]
    (complete,) = raw.params_of("channels/outgoing/complete")
    assert complete["content"] == [text_block("It is [REDACTED]")]
    # The whole answer is moderated once, for its channel and for observers.
    assert drafts == [("publish", list), ("chunk", str), ("publish", list)]


@pytest.mark.parametrize("action", ["drop", "hold"])
@against_raw_server
async def test_observers_do_not_see_what_was_not_published(
    connect: ConnectServer, action: Literal["drop", "hold"]
) -> None:
    async def moderate(draft: Draft) -> Verdict:
        return Verdict(action, reason="rude")

    live = McplHost(
        enabled=["*"], channels=Channels(moderate=moderate, default_outgoing=("raw", "chat:1"))
    )
    raw = RawServer({**OFFER, "featureSets": SETS})
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw, server_id="raw")
        await raw.result("channels/register", {"channels": [GENERAL]})
        response = await live.channels.write("conv_1", inference_id="inf_1")
        with pytest.raises(NotPublishedError):
            await response.finish("You fool")
        await raw.settle()
    assert raw.params_of("channels/publish") == raw.params_of("channels/outgoing/complete") == []


@pytest.mark.spec("mcpl-9.2-6")
@pytest.mark.parametrize("content", ["Hello", [text_block("Hello")]], ids=["text", "blocks"])
@against_raw_server
async def test_callbacks_of_a_host_get_blocks(connect: ConnectServer, content: Any) -> None:
    heard: list[Any] = []

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        heard.append(event.params.payload.content)
        return mcpl.PushEventResult(accepted=True)

    async def decide(incoming: ChannelMessage) -> MessageDecision:
        heard.append(incoming.message.content)
        return MessageDecision()

    live = McplHost(enabled=["*"], on_push=take, channels=Channels(on_message=decide))
    raw = RawServer({**OFFER, "featureSets": SETS})
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw)
        await raw.expect("featureSets/update")
        await raw.result("channels/register", {"channels": [GENERAL]})
        event = {"featureSet": "chat.all", "eventId": "e", "timestamp": WHEN}
        await raw.result("push/event", {**event, "payload": {"content": content}})
        message = {"channelId": "chat:1", "messageId": "1", "timestamp": WHEN, "content": content}
        await raw.result("channels/incoming", {"messages": [message]})
    assert heard == [[TextContent(text="Hello")]] * 2
