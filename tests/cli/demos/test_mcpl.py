"""The demo: its servers do what they are models of, and its conversation goes through them all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

import kinwire_cli.demos.mcpl as demo
from kinwire import Connection, Host, RpcError, Server, pair
from kinwire.mcpl import (
    ChannelMessage,
    Channels,
    Hooks,
    Inference,
    McplHost,
    MessageDecision,
    ModelAnswer,
    PushedEvent,
    Scopes,
    ScriptedProvider,
    ServerPeer,
    content_text,
)
from kinwire.rpc.transport import Transport
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_cli.demos import SERVERS, server_of
from kinwire_cli.demos.mcpl.conversation import converse
from kinwire_protocols import mcpl
from kinwire_protocols.mcp import TextContent
from tests.cli.demos.fixtures_audience import Audience, served_by
from tests.each import each

NAMES = SERVERS["mcpl"]
FOLDER = Path(next(iter(demo.__path__)))
MODEL = mcpl.ModelInfo(id="m")
SECRET = "sk-1234567890abcdef"


def fresh(name: str) -> Server:
    return served_by(FOLDER / f"{name}.py")


@asynccontextmanager
async def played() -> AsyncGenerator[Audience]:
    """Yield who has heard the conversation, played with servers in this process."""
    audience = Audience()
    async with background() as tasks:

        def reach(name: str) -> Transport:
            host_end, server_end = memory_pair(lambda _, frame: None)
            tasks.start_soon(fresh(name).serve, server_end)
            return host_end

        with anyio.fail_after(30):
            await converse(reach, audience)
        yield audience


class Talk(NamedTuple):
    connection: Connection
    live: ServerPeer

    async def call(self, tool: str, **arguments: Any) -> str:
        result = await self.connection.mcp.tools_call(name=tool, arguments=arguments)
        text = "".join(one.text for one in result.content if isinstance(one, TextContent))
        return f"error: {text}" if result.is_error else text


@asynccontextmanager
async def talking(server: Server, host: McplHost) -> AsyncGenerator[Talk]:
    """Yield a host of MCPL with a server that has registered its channels."""
    async with pair(server, Host("h", "1", extensions=[host])) as connection:
        live = host.of(connection)
        assert live is not None
        await connection.mcp.ping()
        yield Talk(connection, live)


def before(said: str) -> mcpl.BeforeInferenceParams:
    return mcpl.BeforeInferenceParams(
        inference_id="i", conversation_id="c", turn_index=0, user_message=said, model=MODEL
    )


def after(said: str, answer: str) -> mcpl.AfterInferenceParams:
    return mcpl.AfterInferenceParams(
        inference_id="i",
        conversation_id="c",
        turn_index=0,
        user_message=said,
        assistant_message=answer,
        model=MODEL,
    )


# -- the conversation --


@pytest.mark.anyio
async def test_the_conversation_uses_every_part_of_the_servers() -> None:
    async with played() as audience:
        pass
    assert len(audience.titles) == 7
    used = {(line.who, line.method) for line in audience.lines if line.method is not None}
    assert used == {
        *((name, "initialize") for name in NAMES),
        *(
            ("host", method)
            for method in (
                "channels/close",
                "channels/open",
                "channels/outgoing/complete",
                "channels/publish",
                "context/afterInference",
                "context/beforeInference",
                "featureSets/update",
                "inference/chunk",
                "state/rollback",
                "tools/call",
            )
        ),
        ("chat", "channels/incoming"),
        ("chat", "channels/register"),
        ("memory", "inference/request"),
        ("memory", "push/event"),
    }


@pytest.mark.anyio
async def test_the_secret_is_seen_by_model_host_and_redaction_alone() -> None:
    async with played() as audience:
        pass
    shown = {(line.who, line.to) for line in audience.lines if SECRET in line.text}
    assert shown == {("model", "host"), ("host", "redaction")}
    assert any("[REDACTED]" in line.text and line.to == "chat" for line in audience.lines)


@pytest.mark.anyio
async def test_the_output_is_the_same_each_time() -> None:
    async with played() as first, played() as second:
        pass
    assert first.titles == second.titles
    assert first.steps == second.steps
    assert first.lines == second.lines


FACTS = [
    ("memory", "DMX lighting"),  # what is known goes into the context
    ("notes", "chk_3: chk_1 and add /notes/1"),  # after a rollback a branch begins
    ("host", "├── chk_2\n└── chk_3 *"),
    ("host", "accepted, for inf_2"),
    ("memory", "Feature set not enabled"),
    ("memory", "Prefers short answers. My deadline is Friday."),  # what was learned is known
    ("host", "counts 44 tokens in and 6 out for memory.consolidation of memory"),
    ("host", "the blacklist has chat:#board"),
    ("chat", "assistant: Emma, you wanted"),
    ("host", "1 failure, 27 success"),
]


@pytest.mark.anyio
async def test_the_actions_of_each_side_are_shown_in_order() -> None:
    async with played() as audience:
        pass
    lines = iter(audience.lines)
    missing = [
        fact
        for fact in FACTS
        if not any(line.who == fact[0] and fact[1] in line.text for line in lines)
    ]
    assert missing == []


# -- the files --


@each("name", [*NAMES, "everything"])
def test_a_server_is_a_file_that_is_read_in_a_minute(name: str) -> None:
    assert len((FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 140


@each("name", [None, *NAMES])
def test_a_server_is_found_by_its_name(name: str | None) -> None:
    assert server_of("mcpl", name).info.name == (name or "kinwire-demo-mcpl")


@each(("protocol", "name"), [("mcpl", "conversation"), ("mcp", "x"), ("x", None)])
def test_nothing_else_is_found(protocol: str, name: str | None) -> None:
    with pytest.raises(KeyError):
        server_of(protocol, name)


@pytest.mark.anyio
async def test_one_server_is_all_of_them() -> None:
    host = McplHost(enabled=["*"], channels=Channels())
    async with talking(fresh("everything"), host) as everything:
        sets = set(everything.live.feature_sets)
        with anyio.fail_after(20):
            while not everything.live.channels.known:  # they are registered in the background
                await anyio.lowlevel.checkpoint()
        channels = everything.live.channels.known
    for name in NAMES:
        async with talking(fresh(name), McplHost(enabled=["*"], channels=Channels())) as one:
            assert set(one.live.feature_sets) <= sets
            sets -= set(one.live.feature_sets)
    assert sets == set()
    assert [channel.id for channel in channels] == ["chat:#general", "chat:#board"]


# -- memory --


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["memory", "everything"])
async def test_memory_recalls_what_it_has_learned(name: str) -> None:
    host = McplHost(enabled=["*"])
    async with talking(fresh(name), host):
        assert (await host.before_inference(before("Which dimmers?"))).system == []
        await host.after_inference(after("Hello. My dimmers are late! Are yours?", "No."))
        (injection,) = (await host.before_inference(before("Which dimmers?"))).system
    assert injection.content == [TextContent(text="<memories>\nMy dimmers are late!\n</memories>")]
    assert injection.metadata == {"memoryIds": ["mem_1"]}


@pytest.mark.anyio
async def test_memory_learns_nothing_while_that_is_off() -> None:
    host = McplHost(enabled=["*"], disabled=["memory.extraction"])
    async with talking(fresh("everything"), host):
        await host.after_inference(after("My dimmers are late.", "Oh."))
        assert (await host.before_inference(before("Which dimmers?"))).system == []


@pytest.mark.anyio
async def test_a_reminder_waits_for_a_host_that_takes_it() -> None:
    events: list[PushedEvent] = []

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        events.append(event)
        return mcpl.PushEventResult(accepted=True)

    server = fresh("memory")
    async with talking(server, McplHost(enabled=["*"])) as deaf:
        assert "Alice" in await deaf.call("pass_time", hours=5)
    async with talking(server, McplHost(enabled=["*"], on_push=take)) as talk:
        for _ in range(3):
            await talk.call("pass_time", hours=1)
    assert [event.params.event_id for event in events] == ["evt_reminder_001"]
    assert events[0].params.origin == {"server": "memory", "memoryId": "mem_followup"}


@pytest.mark.anyio
async def test_memories_become_one_by_the_model_of_the_host() -> None:
    script = ScriptedProvider(ModelAnswer("All of it", "m"))
    inference = Inference(provider=script, routing=mcpl.RoutingPolicy(default="m"))
    host = McplHost(enabled=["*"], inference=inference)
    async with talking(fresh("memory"), host) as talk:
        assert await talk.call("consolidate") == "All of it"
        assert await talk.call("consolidate") == "error: The host's model did not answer: " + (
            "inference/request: the model failed (provider_failed) (InternalError -32603)"
        )
    assert script.requests[1].messages[0].content == "Summarize these memories: All of it"


@pytest.mark.anyio
async def test_a_host_of_mcp_has_the_tools_of_the_servers() -> None:
    async with pair(fresh("memory")) as memory:
        result = await memory.mcp.tools_call(name="consolidate", arguments={})
        assert result.is_error
    async with pair(fresh("notes")) as notes:
        for text in ("One", "Two"):
            await notes.mcp.tools_call(name="add_note", arguments={"text": text})
        result = await notes.mcp.tools_call(name="list_notes", arguments={})
        assert result.content == [TextContent(text="1. One\n2. Two")]


# -- redaction --


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["redaction", "everything"])
async def test_secrets_are_blacked_out(name: str) -> None:
    host = McplHost(enabled=["*"], hooks=Hooks(fail_closed=["compliance.*"]))
    async with talking(fresh(name), host) as talk:
        shown = await host.after_inference(after("", f"{SECRET} of emma@example.com!"))
        assert shown == "[REDACTED] of [REDACTED]!"
        assert await host.after_inference(after("", "Nothing")) == "Nothing"
        reply = await mcpl.ServerStub(talk.live.session).context_after_inference(
            **dict(after("", f"It is {SECRET}"))
        )
    assert reply.metadata == {"redactions": [{"type": "api_key", "position": [6, 25]}]}


# -- notes --


@pytest.mark.anyio
async def test_notes_are_those_that_the_host_brings() -> None:
    server = fresh("notes")
    async with talking(server, McplHost(enabled=["*"])) as first:
        await first.call("add_note", text="One")
        await first.call("add_note", text="Two")
        assert await first.call("remove_note", number=1) == "Note 1 is gone."
        assert await first.call("list_notes") == "1. Two"
        wrong = "error: There are 1 notes, and none of number 2."
        assert await first.call("remove_note", number=2) == wrong
        async with talking(server, McplHost(enabled=["*"])) as second:
            assert await second.call("list_notes") == "No notes."


@pytest.mark.anyio
@pytest.mark.parametrize("state", [None, [], {}, {"notes": 1}, "notes"])
async def test_an_invalid_state_of_notes_is_reported(state: Any) -> None:
    async with talking(fresh("notes"), McplHost(enabled=["*"])) as talk:
        asked: dict[str, Any] = {"name": "list_notes", "arguments": {}, "state": state}
        result = await talk.connection.session.raw("tools/call", asked)
    assert result["isError"] is True
    assert "Expected a state as" in result["content"][0]["text"]


# -- chat --


def chatty(
    on_message: Callable[[ChannelMessage], Awaitable[MessageDecision]] | None = None,
) -> McplHost:
    """Return a host that lets servers act in every room."""
    rules = mcpl.ScopeRules(whitelist=["chat:*"])
    lists = {"channels.publish": rules, "channels.observe": rules}
    return McplHost(
        enabled=["*"], scopes=Scopes(lists=lists), channels=Channels(on_message=on_message)
    )


@pytest.mark.anyio
async def test_what_people_write_goes_where_its_room_is_a_channel() -> None:
    heard: list[ChannelMessage] = []

    async def hear(incoming: ChannelMessage) -> MessageDecision:
        heard.append(incoming)
        return MessageDecision()

    async with talking(fresh("chat"), chatty(hear)) as talk:
        await talk.call("write_as", person="Emma", text="One")
        await talk.call("write_as", person="Emma", text="Two", room="#lights")
        channel = await talk.live.channels.open("chat", {"room": "#lights"})
        await talk.call("write_as", person="Alan", text="Three", room="#lights")
        await talk.live.channels.close(channel.id)
        await talk.call("write_as", person="Alan", text="Four", room="#lights")
        image = mcpl.ImageBlock(data="aGk=", mime_type="image/png")
        content: mcpl.Content = [TextContent(text="Look: "), image]
        await talk.live.channels.publish("chat:#general", content)
        assert await talk.call("read_room") == "Emma: One\nassistant: Look: [image]"
    assert [(one.message.channel_id, content_text(one.message.content)) for one in heard] == [
        ("chat:#general", "One"),
        ("chat:#lights", "Three"),
    ]
    assert heard[0].message.author == mcpl.ChannelAuthor(id="emma", name="Emma")


@pytest.mark.anyio
@pytest.mark.parametrize(("kind", "address"), [("mail", {"room": "#x"}), ("chat", None)])
async def test_only_rooms_can_be_opened(kind: str, address: Any) -> None:
    host = McplHost(enabled=["*"], channels=Channels())
    async with talking(fresh("chat"), host) as talk:
        with pytest.raises(RpcError) as refused:
            await talk.live.channels.open(kind, address)
    assert refused.value.code == -32024


@pytest.mark.anyio
async def test_a_message_goes_to_the_host_that_connected_last() -> None:
    heard: list[str] = []

    def hearing(name: str) -> McplHost:
        async def hear(incoming: ChannelMessage) -> MessageDecision:
            heard.append(f"{name}: {incoming.message.message_id}")
            return MessageDecision()

        return chatty(hear)

    server = fresh("chat")
    async with talking(server, hearing("first")) as first:
        async with talking(server, hearing("second")):
            assert await first.call("write_as", person="Emma", text="One") == "Posted as msg_1."
            await first.connection.mcp.ping()
        assert await first.call("write_as", person="Emma", text="Two") == "Posted as msg_2."
        await first.connection.mcp.ping()
    assert heard == ["second: msg_1", "first: msg_2"]
