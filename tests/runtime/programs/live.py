"""A server that uses all of MCPL; its tools control what it does, one a step.

What a tool asks the host goes out while the host waits for that tool. What the server asks because
of a notification goes out by itself: over HTTP that is another stream.
"""

from __future__ import annotations

from typing import Any

from pydantic import MISSING

from kinwire import Context, RpcError, Server
from kinwire.mcpl import HostPeer, McplServer, content_text
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.mcp import TextContent

WHEN = "2026-01-23T14:00:00Z"
FACTS = "memory://facts"
GENERAL = mcpl.ChannelDescriptor(
    id="chat:#general", type="chat", label="#general", direction="bidirectional"
)
NEWS = GENERAL.model_copy(update={"id": "chat:#news", "label": "#news", "direction": "outbound"})
LATER = GENERAL.model_copy(update={"id": "chat:#later", "label": "#later"})


def feature(*uses: str, scoped: bool | None = None, rollback: bool | None = None) -> Any:
    return mcpl.FeatureSet(description="A set", uses=list(uses), scoped=scoped, rollback=rollback)


live = McplServer(
    feature_sets={
        "memory.recall": feature("contextHooks.beforeInference"),
        "memory.learn": feature("contextHooks.afterInference"),
        "memory.think": feature("inferenceRequest"),
        "memory.remind": feature("pushEvents"),
        "notes.edit": feature("tools", scoped=True, rollback=True),
        "channels.publish": feature("channels.publish"),
        "channels.observe": feature("channels.observe"),
    },
    tools={"add_note": "notes.edit"},
    channels=[GENERAL, NEWS],
    blocking=True,
    model_info=True,
)
server = Server("live", "1.0", extensions=[live])
heard: list[Any] = []
"""What the host has sent to this server since the last call of `tell`."""


def host_of(context: Context) -> HostPeer:
    host = live.of(context)
    assert host is not None, "the client speaks no MCPL"
    return host


# Sets, scopes, state.


@server.tool
async def switched(context: Context) -> JsonObject:
    """Return which sets are enabled and which scopes were sent."""
    host = host_of(context)
    return {
        "enabled": host.enabled,
        "scopes": {name: to_wire(rules) for name, rules in host.scopes.items()},
    }


@server.tool
async def declare(name: str, gone: bool = False) -> None:
    """Declare a set that pushes, or one no longer."""
    if gone:
        await live.change(removed=[name])
    else:
        await live.change(added={name: feature("pushEvents")})


@server.tool
async def elevate(label: str, context: Context) -> JsonObject:
    """Ask for leave to edit somewhere."""
    asked = mcpl.ClientStub(host_of(context).session).scope_elevate(
        feature_set="notes.edit", scope=mcpl.Scope(label=label, payload={"mode": "append"})
    )
    return to_wire(await asked)


@server.tool
async def add_note(text: str, place: str, context: Context) -> int:
    """Keep a note."""
    state = live.state_of(context)
    notes = [*([] if state.given is MISSING else state.given), f"{place}: {text}"]
    state.save(notes)
    return len(notes)


# Events, inference.


@server.tool
async def push(event_id: str, text: str, context: Context) -> JsonObject:
    """Push an event."""
    pushed = host_of(context).push("memory.remind", text, event_id=event_id, timestamp=WHEN)
    answer = to_wire(await pushed)
    heard.append(["event", event_id, answer])
    return answer


@server.tool
async def press(feature_set: str, context: Context) -> int:
    """Push an event of a set that may not, and say which error that is."""
    event: JsonObject = {"eventId": "evt_pressed", "timestamp": WHEN, "payload": {"content": "!"}}
    try:
        await host_of(context).session.raw("push/event", {"featureSet": feature_set, **event})
    except RpcError as error:
        return error.code
    return 0


@server.tool
async def think(question: str, context: Context) -> JsonObject:
    """Have the host's model answer, and say so."""
    return to_wire(await host_of(context).infer("memory.think", question, max_tokens=9))


@server.tool
async def think_aloud(question: str, context: Context) -> list[str]:
    """Have the host's model answer piece by piece, and return the pieces."""
    async with host_of(context).stream("memory.think", question) as answer:
        return [delta async for delta in answer]


@server.tool
async def model(context: Context) -> JsonObject:
    """Ask which model runs."""
    return to_wire(await mcpl.ClientStub(host_of(context).session).model_info())


@server.resource(FACTS)
async def facts() -> str:
    """What is known."""
    return "Ada likes tea."


@live.on.context_before_inference
async def recall(
    params: mcpl.BeforeInferenceParams, context: Context
) -> mcpl.BeforeInferenceResult:
    refused = 0
    try:  # not from within a hook
        await host_of(context).infer("memory.think", "Now?")
    except RpcError as error:
        refused = error.code
    known = mcpl.ContextInjection(
        namespace="memory", position="system", content=[mcpl.ResourceBlock(uri=FACTS)]
    )
    said = mcpl.ContextInjection(
        namespace="memory", position="afterUser", content=f"{params.user_message} {refused}"
    )
    return mcpl.BeforeInferenceResult(feature_set="memory.recall", context_injections=[known, said])


@live.on.context_after_inference
async def learn(params: mcpl.AfterInferenceParams, context: Context) -> mcpl.AfterInferenceResult:
    """Change the response; if it was only a notification, ask the host a few things."""
    if context.request_id is None:
        await by_itself(host_of(context), params.inference_id)
    changed = params.assistant_message.replace("secret", "[...]")
    return mcpl.AfterInferenceResult(feature_set="memory.learn", modified_response=changed)


async def by_itself(host: HostPeer, inference_id: str) -> None:
    told = await host.push("memory.remind", "By itself", event_id="evt_own", timestamp=WHEN)
    thought = await host.infer("memory.think", f"What of {inference_id}?")
    heard.append(["by itself", to_wire(told), thought.content])
    await host.channels.incoming(message("own", "t_1"))


# Channels.


def message(message_id: str, thread_id: str) -> mcpl.IncomingMessage:
    return mcpl.IncomingMessage(
        channel_id=GENERAL.id,
        message_id=message_id,
        thread_id=thread_id,
        content=[TextContent(text=f"Message {message_id}")],
        timestamp=WHEN,
    )


@server.tool
async def bring(messages: list[str], thread_id: str, context: Context) -> list[JsonObject]:
    """Hand messages of a thread over to the host."""
    brought = [message(one, thread_id) for one in messages]
    outcomes = [to_wire(one) for one in await host_of(context).channels.incoming(*brought)]
    heard.extend(["message", one["messageId"], one] for one in outcomes)
    return outcomes


@server.tool
async def channels(context: Context) -> list[str]:
    """Ask the host which channels it knows."""
    return [one.id for one in await host_of(context).channels.listed()]


@server.tool
async def move(back: bool = False) -> None:
    """Have one channel more, one no more, and one of another name; or all as it was."""
    if back:
        await live.change_channels(added=[NEWS], removed=[LATER.id], updated=[GENERAL])
    else:
        renamed = GENERAL.model_copy(update={"label": "#general (old)"})
        await live.change_channels(added=[LATER], removed=[NEWS.id], updated=[renamed])


@server.tool(name="heard")
async def tell() -> list[Any]:
    """Return what the host has sent to this server since the last call.

    Handlers run concurrently, so the order is not defined.
    """
    told = sorted(heard, key=str)
    heard.clear()
    return told


@live.on.channels_publish
async def publish(params: mcpl.ChannelsPublishParams) -> mcpl.ChannelsPublishResult:
    heard.append(["publish", params.channel_id, content_text(params.content), bool(params.stream)])
    return mcpl.ChannelsPublishResult(delivered=True, message_id="m_1")


@live.on.channels_open
async def open_channel(params: mcpl.ChannelsOpenParams) -> mcpl.ChannelsOpenResult:
    name = (params.address or {})["name"]
    return mcpl.ChannelsOpenResult(
        channel=GENERAL.model_copy(update={"id": f"chat:{name}", "label": name})
    )


@live.on.channels_close
async def close_channel(params: mcpl.ChannelsCloseParams) -> mcpl.ChannelsCloseResult:
    return mcpl.ChannelsCloseResult(closed=True)


@live.on.channels_outgoing_chunk
async def chunk(params: mcpl.ChannelsOutgoingChunkParams) -> None:
    heard.append(["chunk", params.index, params.delta])


@live.on.channels_outgoing_complete
async def complete(params: mcpl.ChannelsOutgoingCompleteParams) -> None:
    heard.append(["complete", content_text(params.content)])


if __name__ == "__main__":
    server.run()
