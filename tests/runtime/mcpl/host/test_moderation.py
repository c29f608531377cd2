"""What goes out to channels and observers: looked at before, and shown to those who may see it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire import Host
from kinwire.mcpl import (
    Channels,
    Draft,
    McplHost,
    Moderate,
    NotPublishedError,
    OutgoingResponse,
    ScopeRequest,
    Scopes,
    Verdict,
)
from kinwire.mcpl.rules.content import blocks_of, content_text
from kinwire.storage import open_store
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcpl
from kinwire_protocols.mcp import TextContent
from tests.runtime.managers.fixtures_records import FailingRecords
from tests.runtime.mcpl.fixtures_chat import GENERAL, Chat, chatting
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.fixtures_scopes import Person

pytestmark = pytest.mark.anyio

OBSERVER = {"watch.all": feature("channels.observe")}
SCOPED = {"watch.some": feature("channels.observe", scoped=True)}
THOUGHTS = {"channels.thinking": feature("channels.observe", scoped=True)}
TO_GENERAL = ("chat", GENERAL.id)


@asynccontextmanager
async def observed(
    channels: Channels, observers: dict[str, Chat], **host: Any
) -> AsyncGenerator[McplHost]:
    """Yield a host with the chat and these observers, which have all seen what there is at last."""
    live = McplHost(enabled=["*"], channels=channels, **host)
    with anyio.fail_after(20):
        async with background() as tasks, Host("h", "1", extensions=[live]) as opened:
            connections: list[Any] = []
            for name, chat in observers.items():
                host_end, server_end = memory_pair()
                tasks.start_soon(chat.server.serve, server_end)
                connections.append(await opened.connect(host_end, server_id=name))
                await connections[-1].mcp.ping()
            yield live
            for connection in connections:
                await connection.mcp.ping()


def watcher(sets: dict[str, mcpl.FeatureSet]) -> Chat:
    return Chat(sets=sets, flags=("observe", "streaming"), channels=())


async def said(response: OutgoingResponse, *pieces: str) -> None:
    for piece in pieces:
        await response.write(piece)
    await response.finish("".join(pieces))


async def redact(draft: Draft) -> Verdict:
    """Hold a piece that may be the beginning of a secret, and black secrets out."""
    said = content_text(draft.content)
    if draft.stage == "chunk" and said.endswith("sk-"):
        return Verdict("hold")
    if "sk-1234" in said:
        return Verdict("change", said.replace("sk-1234", "[REDACTED]"))
    return Verdict()


@pytest.mark.spec("mcpl-14.3-8", "mcpl-14.3-9", "mcpl-14.5-4")
async def test_observers_see_moderated_content_which_is_delivered_once() -> None:
    chat = Chat()
    policy = Channels(moderate=redact, default_outgoing=TO_GENERAL)
    async with observed(policy, {"chat": chat, "watch": (watch := watcher(OBSERVER))}) as live:
        response = await live.channels.write("conv_1", inference_id="inf_1")
        await said(response, "The key is ", "sk-", "1234", ".")
    assert watch.pieces == [(0, "The key is "), (1, "[REDACTED]"), (2, ".")]
    assert watch.wholes == [(GENERAL.id, "The key is [REDACTED].")]
    assert chat.wholes == watch.wholes
    assert chat.delivered == [(GENERAL.id, "The key is [REDACTED].")]  # and not for `complete`


@pytest.mark.spec("mcpl-14.5-5")
async def test_a_set_that_is_trusted_sees_what_was_not_moderated() -> None:
    raw, moderated = watcher({"trusted.all": feature("channels.observe")}), watcher(OBSERVER)
    policy = Channels(moderate=redact, default_outgoing=TO_GENERAL, raw=["trusted.*"])
    async with observed(policy, {"chat": Chat(), "raw": raw, "other": moderated}) as live:
        response = await live.channels.write("conv_1", inference_id="inf_1")
        await said(response, "sk-", "1234")
    assert raw.pieces == [(0, "sk-"), (1, "1234")]
    assert raw.wholes == [(GENERAL.id, "sk-1234")]
    assert moderated.pieces == [(0, "[REDACTED]")]
    assert moderated.wholes == [(GENERAL.id, "[REDACTED]")]


@pytest.mark.spec("mcpl-14.1-4", "mcpl-14.5-1")
async def test_observers_see_the_channels_that_their_scopes_let_them() -> None:
    rules = mcpl.ScopeRules(whitelist=["discord:*"], blacklist=["discord:#general"])
    seeing, blind = watcher(OBSERVER), watcher(SCOPED)
    policy = Channels(default_outgoing=TO_GENERAL)
    scopes = Scopes(lists={"watch.some": rules})
    servers = {"chat": Chat(), "a": seeing, "b": blind}
    async with observed(policy, servers, scopes=scopes) as live:
        await said(await live.channels.write("conv_1", inference_id="inf_1"), "Hello")
    assert seeing.wholes == [(GENERAL.id, "Hello")]
    assert (blind.pieces, blind.wholes) == ([], [])


@pytest.mark.spec("mcpl-14.1-3")
async def test_a_set_that_is_switched_off_sees_nothing_more() -> None:
    watch = watcher(OBSERVER)
    policy = Channels(default_outgoing=TO_GENERAL)
    async with observed(policy, {"chat": Chat(), "watch": watch}) as live:
        response = await live.channels.write("conv_1", inference_id="inf_1")
        await response.write("He")
        await next(one for one in live.servers if one.id == "watch").disable("*")
        await said(response, "llo")
    assert (watch.pieces, watch.wholes) == ([(0, "He")], [])


@pytest.mark.spec("mcpl-14.5-2")
async def test_thoughts_are_shown_to_their_own_set_and_delivered_nowhere() -> None:
    chat, thoughts, other = Chat(), watcher(THOUGHTS), watcher(OBSERVER)
    rules = mcpl.ScopeRules(whitelist=["*"])
    scopes = Scopes(lists={"channels.thinking": rules})
    servers = {"chat": chat, "thoughts": thoughts, "other": other}
    async with observed(Channels(default_outgoing=TO_GENERAL), servers, scopes=scopes) as live:
        await said(await live.channels.think("conv_1", inference_id="inf_1"), "Hm")
        await said(await live.channels.write("conv_1", inference_id="inf_1"), "Hello")
    assert thoughts.wholes == [("thinking", "Hm")]
    assert other.wholes == [(GENERAL.id, "Hello")]
    assert chat.delivered == [(GENERAL.id, "Hello")]


@pytest.mark.spec("mcpl-14.5-2", "mcpl-14.1-4")
async def test_the_set_for_thoughts_opens_no_other_channel_to_its_server() -> None:
    sets = {**THOUGHTS, **SCOPED}
    lists = {
        "channels.thinking": mcpl.ScopeRules(whitelist=["**"]),
        "watch.some": mcpl.ScopeRules(whitelist=["irc:*"]),
    }
    servers = {"chat": Chat(), "watch": (watch := watcher(sets))}
    policy = Channels(default_outgoing=TO_GENERAL)
    async with observed(policy, servers, scopes=Scopes(lists=lists)) as live:
        await said(await live.channels.write("conv_1", inference_id="inf_1"), "Hello")
    assert (watch.pieces, watch.wholes) == ([], [])


@pytest.mark.spec("mcpl-14.1-3")
async def test_a_set_that_uses_publishing_may_publish_whatever_its_name() -> None:
    chat = Chat(sets={"channels.thinking": feature("channels.observe", "channels.publish")})
    async with chatting(chat) as (_, (_connection, live), _side):
        assert (await live.channels.publish(GENERAL.id, "Hello")).delivered
    assert chat.delivered == [(GENERAL.id, "Hello")]


@pytest.mark.spec("mcpl-14.1-4", "mcpl-14.5-1")
async def test_a_scoped_set_without_lists_observes_only_what_is_approved() -> None:
    for approved in (False, True):
        person, watch = Person(approved), watcher(SCOPED)
        policy, scopes = Channels(default_outgoing=TO_GENERAL), Scopes(ask=person)
        async with observed(policy, {"chat": Chat(), "w": watch}, scopes=scopes) as live:
            await said(await live.channels.write("conv_1", inference_id="inf_1"), "Hello")
        assert watch.wholes == ([(GENERAL.id, "Hello")] if approved else [])
        assert [one.label for one in person.asked] == [GENERAL.id]


@pytest.mark.spec("mcpl-14.1-3", "mcpl-14.1-4")
async def test_a_set_that_goes_while_another_is_asked_about_does_not_observe() -> None:
    asked, go_on = anyio.Event(), anyio.Event()

    async def deny(request: ScopeRequest) -> bool:
        asked.set()
        await go_on.wait()
        return False

    async def write() -> None:
        await said(await live.channels.write("conv_1", inference_id="inf_1"), "Hello")

    watch = watcher({"watch.a": SCOPED["watch.some"], "watch.b": OBSERVER["watch.all"]})
    policy, scopes = Channels(default_outgoing=TO_GENERAL), Scopes(ask=deny)
    servers = {"chat": (chat := Chat()), "watch": watch}
    async with (
        observed(policy, servers, scopes=scopes) as live,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(write)
        await asked.wait()
        await watch.live.change(removed=["watch.b"])
        await watch.live.hosts[0].session.raw("ping")
        go_on.set()
    assert (watch.pieces, watch.wholes) == ([], [])
    assert chat.delivered == [(GENERAL.id, "Hello")]


@pytest.mark.spec("mcpl-14.5-1")
async def test_lists_count_while_they_are_being_stored() -> None:
    async with open_store("memory:") as store:
        records = FailingRecords(await store.records("mcpl"))
        chat = Chat()
        async with (
            chatting(chat, records=records) as (_, (_connection, live), _side),
            anyio.create_task_group() as tasks,
        ):
            records.gate = gate = anyio.Event()
            records.waits = anyio.Event()
            tasks.start_soon(partial(live.scopes.set, "channels.publish", whitelist=["discord:*"]))
            await records.waits.wait()
            assert (await live.channels.publish(GENERAL.id, "Hello")).delivered
            gate.set()
    assert chat.delivered == [(GENERAL.id, "Hello")]


@pytest.mark.parametrize("change", ["off", "denied"])
@pytest.mark.spec("mcpl-14.1-3", "mcpl-14.5-1")
async def test_another_set_of_the_server_does_not_see_the_rest_of_a_response(change: str) -> None:
    watch = watcher({**OBSERVER, "watch.other": feature("channels.observe")})
    policy = Channels(default_outgoing=TO_GENERAL)
    async with observed(policy, {"chat": Chat(), "watch": watch}) as live:
        response = await live.channels.write("conv_1", inference_id="inf_1")
        await response.write("He")
        server = next(one for one in live.servers if one.id == "watch")
        if change == "off":
            await server.disable("watch.all")
        else:
            await server.scopes.set("watch.all", blacklist=["discord:*"])
        await said(response, "llo")
    assert (watch.pieces, watch.wholes) == ([(0, "He")], [])


@pytest.mark.spec("mcpl-14.3-8", "mcpl-14.3-9")
async def test_observers_learn_which_inference_and_conversation_it_is() -> None:
    watch = Chat(sets=OBSERVER, flags=(), channels=())
    heard = list[tuple[str, str | None, str]]()

    async def hear(params: Any) -> None:
        heard.append((params.inference_id, params.conversation_id, params.channel_id))

    watch.live.on.channels_outgoing_chunk(hear)
    watch.live.on.channels_outgoing_complete(hear)
    policy = Channels(default_outgoing=TO_GENERAL)
    async with observed(policy, {"chat": Chat(), "watch": watch}) as live:
        await said(await live.channels.write("conv_1", inference_id="inf_1"), "Hello")
    assert heard == [("inf_1", "conv_1", GENERAL.id)] * 2


@pytest.mark.spec("mcpl-14.5-4")
async def test_a_change_is_text_for_a_piece_and_anything_for_the_whole() -> None:
    async def bless(draft: Draft) -> Verdict:
        return Verdict("change", [TextContent(text="Changed")])

    chat, watch = Chat(), watcher(OBSERVER)
    policy = Channels(moderate=bless, default_outgoing=TO_GENERAL)
    async with observed(policy, {"chat": chat, "watch": watch}) as live:
        await said(await live.channels.write("conv_1", inference_id="inf_1"), "Hello")
    assert watch.pieces == []  # blocks are not a piece
    assert watch.wholes == chat.delivered == [(GENERAL.id, "Changed")]


async def fail(draft: Draft) -> Verdict:
    raise RuntimeError("the moderator is away")


async def late(draft: Draft) -> Verdict:
    await anyio.sleep_forever()
    raise AssertionError


async def of_no_content(draft: Draft) -> Verdict:
    return Verdict("change")


async def hold(draft: Draft) -> Verdict:
    return Verdict("hold", reason="a person looks at it")


async def drop(draft: Draft) -> Verdict:
    return Verdict("drop", reason="it is rude")


BLOCKING: list[tuple[Moderate, bool, str]] = [
    (fail, False, "moderation dropped .*: moderation failed"),
    (late, False, "moderation dropped .*: moderation failed"),
    (of_no_content, False, "moderation dropped .*: moderation failed"),
    (hold, True, "moderation held .*: a person looks at it. Try it again later"),
    (drop, False, "moderation dropped .*: it is rude. Change it"),
]


@pytest.mark.parametrize(("moderate", "held", "text"), BLOCKING)
@pytest.mark.spec("mcpl-14.5-4")
async def test_what_moderation_does_not_let_out_reaches_nobody(
    moderate: Moderate, held: bool, text: str
) -> None:
    chat = Chat()
    policy = Channels(moderate=moderate, moderate_timeout=0.01, default_outgoing=TO_GENERAL)
    async with chatting(chat, policy) as (host, (connection, live), _side):
        response = await host.channels.write("conv_1", inference_id="inf_1")
        await response.write("Hello")
        with pytest.raises(NotPublishedError, match=text) as caught:
            await response.finish("Hello")
        assert caught.value.held is held
        with pytest.raises(NotPublishedError):
            await live.channels.send(GENERAL.id, "Hello")
        with pytest.raises(NotPublishedError):  # nor is there a way past it
            await mcpl.ServerStub(connection).channels_publish(
                channel_id=GENERAL.id, content=blocks_of("Hello")
            )
        await connection.mcp.ping()
    assert (chat.pieces, chat.wholes, chat.delivered) == ([], [], [])


@pytest.mark.spec("mcpl-14-3")
async def test_content_that_was_held_goes_out_when_it_may() -> None:
    verdicts = [Verdict("hold"), Verdict()]

    async def moderate(draft: Draft) -> Verdict:
        return verdicts.pop(0)

    chat = Chat()
    async with chatting(chat, Channels(moderate=moderate)) as (_, (_connection, live), _side):
        with pytest.raises(NotPublishedError):
            await live.channels.publish(GENERAL.id, "Hello")
        assert (await live.channels.publish(GENERAL.id, "Hello")).delivered
    assert chat.delivered == [(GENERAL.id, "Hello")]


@pytest.mark.spec("mcpl-14.5-4")
async def test_nothing_is_looked_at_that_nobody_is_shown() -> None:
    looked: list[str] = []

    async def look(draft: Draft) -> Verdict:
        looked.append(draft.stage)
        return Verdict()

    chat = Chat(sets={"channels.publish": feature("channels.publish")})
    channels = Channels(moderate=look, default_outgoing=TO_GENERAL)
    async with observed(channels, {"chat": chat}) as host:
        while not host.servers[0].channels.known:  # they are registered in the background
            await checkpoint()
        await said(await host.channels.write("conv_1", inference_id="inf_1"), "He", "llo")
    assert looked == ["publish"]
    assert chat.delivered == [(GENERAL.id, "Hello")]
