"""Channels between a host and a live connector: registered, opened, written to, read from."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError
from kinwire.calls import Route
from kinwire.mcpl import Channels, Decision, McplHost, Scopes, Turn
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.jsonrpc.errors import InvalidParamsError, MethodNotFoundError
from kinwire_protocols.mcpl.methods import CHANNELS_REGISTER
from tests.runtime.mcp.raw_client import RawClient, raw_client
from tests.runtime.mcpl.chat import ALL, GENERAL, INBOX, NEWS, Chat, News, Talk, chatting, message
from tests.runtime.mcpl.lives import feature, live_pair, sent

pytestmark = pytest.mark.anyio

RANDOM: dict[str, Any] = {"guild": "acme", "channel": "#random"}


def ids(channels: list[mcpl.ChannelDescriptor]) -> list[str]:
    return [channel.id for channel in channels]


# What is there.


@pytest.mark.spec("mcpl-14-1", "mcpl-14.3-1", "mcpl-14.3-3")
async def test_what_a_server_has_is_registered_and_both_sides_list_it() -> None:
    async with chatting(Chat()) as (_, (connection, live), side):
        expected = [GENERAL.id, NEWS.id, INBOX.id]
        assert ids(live.channels.known) == expected
        assert ids(await live.channels.listed()) == expected
        assert ids(await side.channels.listed()) == expected
        offer = (connection.greeting.capabilities.experimental or {})["mcpl"]["channels"]
    assert offer == dict.fromkeys(("register", *ALL), True)


@pytest.mark.spec("mcpl-14-2", "mcpl-14.3-2", "mcpl-14.2-1")
async def test_channels_come_go_and_change_while_a_connection_is_open() -> None:
    chat = Chat()
    async with chatting(chat) as (_, (connection, live), side):
        new = GENERAL.model_copy(update={"id": "discord:#new"})
        renamed = NEWS.model_copy(update={"label": "#news (old)"})
        await chat.live.change_channels(added=[new], removed=[INBOX.id], updated=[renamed])
        await connection.mcp.ping()
        await side.channels.listed()
        assert [(one.id, one.label) for one in live.channels.known] == [
            (GENERAL.id, GENERAL.label),
            (NEWS.id, "#news (old)"),
            (new.id, new.label),
        ]
        with pytest.raises(ValueError, match="an id that no other channel has"):
            await side.channels.register(new)
        with pytest.raises(InvalidParamsError, match="/channels/0/id: expected an id that"):
            await mcpl.Client(side.session).channels_register(channels=[new])
        assert len(live.channels.known) == 3


@asynccontextmanager
async def registering(chat: Chat) -> AsyncGenerator[tuple[RawClient, list[Any]]]:
    """Yield a client that has said nothing of feature sets yet, and what it is registered."""
    registered: list[Any] = []

    async def register(params: Any, request: Any) -> dict[str, Any]:
        registered.append([(one.id, one.label) for one in params.channels])
        return {}

    flags = dict.fromkeys(("register", "lifecycle"), True)
    routes = {CHANNELS_REGISTER.name: Route(CHANNELS_REGISTER, register)}
    with anyio.fail_after(20):
        async with raw_client(chat.server, routes) as client:
            await client.greet({"experimental": {"mcpl": {"channels": flags}}})
            yield client, registered


@pytest.mark.parametrize("of_one_host", [False, True], ids=["of all hosts", "of one host"])
async def test_what_changes_before_the_channels_are_registered_is_registered_as_it_is_then(
    of_one_host: bool, caplog: pytest.LogCaptureFixture
) -> None:
    chat = Chat()
    new = GENERAL.model_copy(update={"id": "discord:#new"})
    renamed = NEWS.model_copy(update={"label": "#news (old)"})
    inbox = INBOX.model_copy(update={"label": "#inbox again"})
    async with registering(chat) as (client, registered):
        side = chat.live.hosts[0].channels
        change = side.change if of_one_host else chat.live.change_channels
        await change(removed=[GENERAL.id, INBOX.id], updated=[renamed])
        await change(added=[new, inbox])
        await client.session.raw("ping")
        (told,) = client.told("channels/changed")
        assert [one["id"] for one in told["added"]] == [new.id, inbox.id]
        for _update in range(2):
            await client.session.raw_notify("featureSets/update", {})
            await client.session.raw("ping")
        while not registered:
            await anyio.lowlevel.checkpoint()
        assert ids(side.known) == [new.id, inbox.id, NEWS.id]
        assert registered == [[(NEWS.id, "#news (old)")]]
        assert caplog.messages == []
        await change(removed=[NEWS.id])
        await client.session.raw("ping")
        assert client.told("channels/changed")[-1] == {"removed": [NEWS.id]}


async def test_a_second_channel_of_one_id_is_none_also_before_the_first_is_registered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    chat = Chat()
    async with registering(chat) as (client, registered):
        await chat.live.hosts[0].channels.change(added=[NEWS.model_copy(update={"label": "x"})])
        await client.session.raw_notify("featureSets/update", {})
        while not registered:
            await anyio.lowlevel.checkpoint()
        assert (NEWS.id, NEWS.label) in registered[0]
        assert caplog.messages == ["channels/changed: added: 'discord:#news' is there already"]


@pytest.mark.spec("mcpl-14.3-5", "mcpl-14.3-7", "mcpl-14.6-3")
async def test_a_host_has_channels_opened_and_closed() -> None:
    chat = Chat()
    async with chatting(chat) as (_, (_, live), _side):
        opened = await live.channels.open("discord", RANDOM)
        assert opened.id == "discord:#random"
        assert opened in live.channels.known
        assert await live.channels.close(opened.id)
        assert opened not in live.channels.known
        with pytest.raises(mcpl.UnknownChannelError):
            await live.channels.close(opened.id)
        with pytest.raises(mcpl.UnknownChannelError):
            await mcpl.Server(live.session).channels_close(channel_id=opened.id)
        chat.broken = True
        with pytest.raises(mcpl.ChannelOpenFailedError):
            await live.channels.open("discord", RANDOM)
        assert not await live.channels.close(GENERAL.id)
        assert GENERAL in live.channels.known


async def test_what_was_open_is_opened_again_by_the_host_after_this_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with chatting(Chat(), records=records) as (_, (_, live), _side):
            await live.channels.open("discord", RANDOM)
            await live.channels.open("discord", {"guild": "acme", "channel": "#closed"})
            await live.channels.close("discord:#closed")
        away = Chat()
        away.broken = True
        async with chatting(away, records=records) as (_, (_, live), _side):
            assert await live.channels.reopen() == []
        assert "discord:#random was not opened again" in caplog.text
        async with chatting(Chat(), records=records) as (_, (_, live), _side):
            assert live.channels.registry.find("discord:#random") is None
            assert ids(await live.channels.reopen()) == ["discord:#random"]
            assert live.channels.registry.find("discord:#random") is not None


# Which flag gates what.

Use = Callable[[Talk], Awaitable[Any]]
GATED: list[tuple[str, Use]] = [
    ("lifecycle", lambda talk: talk.lives.server.channels.open("discord", RANDOM)),
    ("lifecycle", lambda talk: talk.lives.server.channels.close(GENERAL.id)),
    ("publish", lambda talk: talk.lives.server.channels.publish(GENERAL.id, "Hello")),
    ("streaming", lambda talk: talk.lives.server.channels.send(GENERAL.id, "He", stream=True)),
]


@pytest.mark.parametrize(("flag", "use"), GATED)
@pytest.mark.spec("mcpl-14.1-2")
async def test_what_a_server_does_not_offer_is_not_asked_of_it(flag: str, use: Use) -> None:
    others = [one for one in ALL if one != flag]
    async with chatting(Chat(flags=others)) as talk:
        with pytest.raises(CapabilityNotNegotiatedError):
            await use(talk)


@pytest.mark.parametrize(("flag", "pieces", "wholes"), [("observe", 1, 0), ("streaming", 0, 1)])
async def test_pieces_and_wholes_are_shown_by_a_flag_each(
    flag: str, pieces: int, wholes: int
) -> None:
    others = [one for one in ALL if one != flag]
    chat = Chat(flags=others)
    async with chatting(chat, Channels(default_outgoing=("chat", GENERAL.id))) as talk:
        writing = await talk.host.channels.write("conv_1", inference_id="inf_1")
        await writing.write("He")
        await writing.finish("Hello")
    assert (len(chat.pieces), len(chat.wholes)) == (pieces, wholes)
    assert chat.delivered == [(GENERAL.id, "Hello")]


async def test_a_host_without_channels_is_registered_none_and_handed_over_nothing() -> None:
    chat = Chat()
    async with live_pair(chat.live, McplHost(enabled=["*"]), chat.server) as (connection, live):
        await connection.mcp.ping()
        assert live.channels.known == []
        assert sent(connection, "server", "channels/register") == []
        side = chat.live.hosts[0]
        with pytest.raises(CapabilityNotNegotiatedError):
            await side.channels.incoming(message(1))
        with pytest.raises(MethodNotFoundError):
            await side.session.raw("channels/list")


# Out.


@pytest.mark.spec("mcpl-14.3-10", "mcpl-14.3-11", "mcpl-14.2-3")
async def test_content_is_delivered_with_and_without_an_acknowledgement() -> None:
    chat = Chat()
    async with chatting(chat) as (_, (connection, live), _side):
        answer = await live.channels.publish(GENERAL.id, "Hello team", conversation_id="conv_1")
        assert answer == mcpl.ChannelsPublishResult(delivered=True, message_id="m1")
        await live.channels.send(NEWS.id, "News", stream=True)
        await connection.mcp.ping()
        (_, notified) = sent(connection, "client", "channels/publish")
    assert chat.delivered == [(GENERAL.id, "Hello team"), (NEWS.id, "News")]
    assert notified == {"channelId": NEWS.id, "stream": True, "content": "News"}


NOT_THERE = [
    (INBOX.id, mcpl.ChannelNotPermittedError),
    ("thinking", mcpl.ChannelNotPermittedError),
    ("discord:#nowhere", mcpl.UnknownChannelError),
]


@pytest.mark.parametrize(("channel_id", "error"), NOT_THERE)
@pytest.mark.spec("mcpl-14.5-3", "mcpl-14.6-2")
async def test_nothing_is_published_where_messages_do_not_go_out(
    channel_id: str, error: type[Exception]
) -> None:
    chat = Chat()
    async with chatting(chat) as (_, (connection, live), _side):
        with pytest.raises(error):
            await live.channels.publish(channel_id, "Hello")
        assert sent(connection, "client", "channels/publish") == []
        params = {"channelId": channel_id, "content": "Hello"}
        with pytest.raises(error):  # nor does the server let it through
            await live.session.raw("channels/publish", params)
    assert chat.delivered == []


@pytest.mark.spec("mcpl-14.5-1", "mcpl-14.6-1", "mcpl-14.1-4")
async def test_scopes_say_which_channels_may_be_written_to() -> None:
    chat = Chat(sets={"channels.publish": feature("channels.publish", scoped=True)})
    rules = mcpl.ScopeRules(whitelist=["discord:*"], blacklist=["discord:#news"])
    scopes = Scopes(lists={"channels.publish": rules})
    async with chatting(chat, scopes=scopes) as (_, (connection, live), _side):
        assert (await live.channels.publish(GENERAL.id, "Hello")).delivered
        with pytest.raises(mcpl.ChannelNotPermittedError, match="the blacklist has discord:#news"):
            await live.channels.publish(NEWS.id, "Hello")
        (update,) = sent(connection, "client", "featureSets/update")
        assert update["scopes"]["channels.publish"]["blacklist"] == ["discord:#news"]
        await live.disable("channels.publish")
        with pytest.raises(mcpl.ChannelNotPermittedError, match="no feature set that is on"):
            await live.channels.publish(GENERAL.id, "Hello")
    assert chat.delivered == [(GENERAL.id, "Hello")]


async def test_a_server_whose_sets_do_not_mention_channels_is_held_by_its_offer() -> None:
    chat = Chat(sets={})
    async with chatting(chat, Channels(default_outgoing=("chat", GENERAL.id))) as talk:
        assert (await talk.side.channels.incoming(message(1)))[0].accepted
        writing = await talk.host.channels.write("conv_1", inference_id="inf_1")
        await writing.write("He")
        await writing.finish("Hello")
    assert chat.delivered == [(GENERAL.id, "Hello")]
    assert (chat.pieces, chat.wholes) == ([], [])  # to see what goes out takes a set


# In.


@pytest.mark.spec("mcpl-14.3-12", "mcpl-14.3-14", "mcpl-14.3-15")
async def test_the_host_decides_for_each_message_and_takes_a_turn_for_each_conversation() -> None:
    news = News(
        Decision(conversation_id="conv_123", infer=True),
        Decision(),
        Decision(accepted=False, reason="a bot wrote it"),
    )
    async with chatting(Chat(), news.policy()) as (_, _lives, side):
        outcomes = await side.channels.incoming(
            message(1, thread_id="t_42"),
            message(2, thread_id="t_42"),
            message(3, thread_id="t_42"),
            message(4, NEWS.id),
            message(5, "discord:#nowhere"),
        )
    assert [(one.accepted, one.conversation_id) for one in outcomes] == [
        (True, "conv_123"),
        (True, "conv_123"),
        (False, None),
        (False, None),
        (False, None),
    ]
    assert [one.reason for one in outcomes[2:]] == [
        "a bot wrote it",
        "messages only go out on that channel",
        "unknown channel: register it first",
    ]
    assert [one.conversation_id for one in news.incoming] == [None, "conv_123", "conv_123"]
    (turn,) = news.turns
    assert (turn.conversation_id, turn.index, turn.infer) == ("conv_123", 0, True)
    assert [one.message_id for one in turn.messages] == ["dmsg_1", "dmsg_2"]


@pytest.mark.spec("mcpl-14.4-2")
async def test_a_turn_says_what_servers_may_be_told_of_its_channels() -> None:
    news = News()
    async with chatting(Chat(), news.policy()) as (_, _lives, side):
        await side.channels.incoming(message(1, thread_id="t_42"))
    (turn,) = news.turns
    assert turn.channels == mcpl.ChannelContext(
        incoming=mcpl.IncomingReference(
            channel_id=GENERAL.id, message_id="dmsg_1", thread_id="t_42"
        ),
        default_outgoing=mcpl.ChannelReference(channel_id=GENERAL.id),
        candidates=[GENERAL.id, NEWS.id],
    )


async def test_a_message_that_comes_again_is_taken_once_and_one_that_failed_anew() -> None:
    calls: list[str] = []

    async def decide(incoming: Any) -> Decision:
        calls.append(incoming.message.message_id)
        if len(calls) == 1:
            raise RuntimeError("the program is broken")
        return Decision()

    async with chatting(Chat(), Channels(on_message=decide)) as (_, _lives, side):
        (failed,) = await side.channels.incoming(message(1))
        assert (failed.accepted, failed.reason) == (False, "the host failed: send it again")
        first = await side.channels.incoming(message(1))
        assert await side.channels.incoming(message(1)) == first
    assert calls == ["dmsg_1", "dmsg_1"]


async def test_a_request_that_ends_before_its_turns_has_taken_nothing() -> None:
    """One message is decided, the next one never: the server sends both again."""
    news, stuck = News(), anyio.Event()
    decide = news.decide

    async def slow(incoming: Any) -> Decision:
        if incoming.message.message_id == "dmsg_2" and not stuck.is_set():
            stuck.set()
            await anyio.sleep_forever()
        return await decide(incoming)

    async with (
        chatting(Chat(), Channels(on_message=slow, on_turn=news.turn)) as (_, _lives, side),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(side.channels.incoming, message(1), message(2))
        await stuck.wait()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            outcomes = await side.channels.incoming(message(1), message(2))
    assert [one.accepted for one in outcomes] == [True, True]
    assert [one.message_id for turn in news.turns for one in turn.messages] == ["dmsg_1", "dmsg_2"]
    assert [list(turn.again) for turn in news.turns] == [[]]


async def test_a_turn_that_is_not_taken_is_refused_and_comes_again_as_new() -> None:
    turns: list[Turn] = []

    async def take(turn: Turn) -> None:
        turns.append(turn)
        if len(turns) == 1:
            raise RuntimeError("the program is broken")

    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with chatting(Chat(), Channels(on_turn=take), records=records) as talk:
            (failed,) = await talk.side.channels.incoming(message(1))
            assert (failed.accepted, failed.reason) == (False, "the host failed: send it again")
            (done,) = await talk.side.channels.incoming(message(1))
            assert done.accepted
            assert await talk.side.channels.incoming(message(1)) == [done]
    assert [[one.message_id for one in turn.messages] for turn in turns] == [["dmsg_1"]] * 2
    assert [list(turn.again) for turn in turns] == [[], []]


@pytest.mark.parametrize("restart", [False, True], ids=["taken back", "restart"])
@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "in records"])
async def test_a_turn_that_was_handed_over_and_never_taken_comes_again_marked_so(
    kept: bool, restart: bool
) -> None:
    turns: list[Turn] = []
    stuck = anyio.Event()

    async def take(turn: Turn) -> None:
        turns.append(turn)
        if not stuck.is_set():
            stuck.set()
            await anyio.sleep_forever()

    policy = Channels(on_turn=take)
    async with open_store("memory:") as store:
        host = {"records": await store.records("mcpl")} if kept else {}
        async with chatting(Chat(), policy, **host) as talk, anyio.create_task_group() as tasks:
            tasks.start_soon(talk.side.channels.incoming, message(1))
            await stuck.wait()
            tasks.cancel_scope.cancel()
            if not restart:
                with anyio.CancelScope(shield=True):
                    await talk.side.channels.incoming(message(1), message(2))
        if restart:
            async with chatting(Chat(), policy, **host) as talk:
                await talk.side.channels.incoming(message(1), message(2))
    again = [one.message_id for turn in turns[1:] for one in turn.again]
    assert again == (["dmsg_1"] if kept or not restart else [])
    taken = [one.message_id for turn in turns[1:] for one in turn.messages]
    assert taken == ["dmsg_1", "dmsg_2"]


async def test_a_message_that_comes_again_while_it_is_handed_over_gets_the_outcome_of_the_first() -> (  # noqa: E501
    None
):
    """Also where two requests have messages of each other."""
    news = News()
    outcomes: dict[str, list[Any]] = {}
    met, arrived = anyio.Event(), list[str]()

    async def decide(incoming: Any) -> Decision:
        arrived.append(incoming.message.message_id)
        if len(arrived) == 2:
            met.set()
        await met.wait()
        return Decision(conversation_id=incoming.message.channel_id)

    async with chatting(Chat(), Channels(on_message=decide, on_turn=news.turn)) as talk:
        one, other = message(1), message(2, INBOX.id)

        async def send(name: str, *messages: Any) -> None:
            outcomes[name] = await talk.side.channels.incoming(*messages)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send, "first", one, other, one)
            tasks.start_soon(send, "second", other, one)
    first, second = outcomes["first"], outcomes["second"]
    assert all(outcome.accepted for outcome in first)
    assert first == [second[1], second[0], second[1]]
    assert sorted(arrived) == ["dmsg_1", "dmsg_2"]
    assert sorted(m.message_id for turn in news.turns for m in turn.messages) == sorted(arrived)


async def test_a_thread_belongs_to_the_same_conversation_after_a_restart() -> None:
    news = News()
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        async with chatting(Chat(), news.policy(), records=records) as (_, _lives, side):
            (one,) = await side.channels.incoming(message(1, thread_id="t_1"))
            (other,) = await side.channels.incoming(message(2, thread_id="t_2"))
        chat = Chat()
        async with chatting(chat, news.policy(), records=records) as (host, _lives, side):
            again = await side.channels.incoming(message(1, thread_id="t_1"))
            (next_one,) = await side.channels.incoming(message(3, thread_id="t_1"))
            writing = await host.channels.write(other.conversation_id or "", inference_id="i")
            await writing.finish("Answer")
    assert again == [one]
    assert next_one.conversation_id == one.conversation_id != other.conversation_id
    assert [(turn.conversation_id, turn.index) for turn in news.turns] == [
        (one.conversation_id, 0),
        (other.conversation_id, 0),
        (one.conversation_id, 1),
    ]
    assert chat.delivered == [(GENERAL.id, "Answer")]


async def test_an_answer_to_where_nothing_goes_out_takes_the_default() -> None:
    news, chat = News(Decision(conversation_id="conv_in")), Chat()
    policy = news.policy(default_outgoing=("chat", NEWS.id))
    async with chatting(chat, policy) as (host, _lives, side):
        await side.channels.incoming(message(1, INBOX.id))
        await (await host.channels.write("conv_in", inference_id="inf_1")).finish("Hello")
    assert chat.delivered == [(NEWS.id, "Hello")]
    async with chatting(Chat(), news.policy()) as (host, _lives, side):
        with pytest.raises(mcpl.UnknownChannelError):
            await host.channels.write("conv_in", inference_id="inf_1")


async def test_more_than_a_hundred_messages_go_in_several_requests() -> None:
    async with chatting(Chat()) as (_, (connection, _live), side):
        outcomes = await side.channels.incoming(*[message(n) for n in range(101)])
        assert len(outcomes) == 101
        assert len(sent(connection, "server", "channels/incoming")) == 2
        many = [message(n) for n in range(101)]
        with pytest.raises(InvalidParamsError, match="at most 100 messages, got 101"):
            await mcpl.Client(side.session).channels_incoming(messages=many)


async def test_a_set_that_is_off_brings_nothing_in() -> None:
    news = News()
    async with chatting(Chat(), news.policy(), enabled=["channels.publish"]) as talk:
        (outcome,) = await talk.side.channels.incoming(message(1))
    assert outcome.reason == "no feature set that is on uses channels.observe there"
    assert news.incoming == []


async def test_messages_that_come_at_once_are_taken_one_after_the_other() -> None:
    under_way, most = 0, 0

    async def decide(incoming: Any) -> Decision:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await anyio.lowlevel.checkpoint()
        under_way -= 1
        return Decision()

    async with (
        chatting(Chat(), Channels(on_message=decide)) as (_, _lives, side),
        anyio.create_task_group() as tasks,
    ):
        for number in range(5):
            tasks.start_soon(side.channels.incoming, message(number))
    assert most == 1
