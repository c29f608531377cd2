"""What comes in from channels: decisions, turns, what comes again, conversations."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire.mcpl import Channels, MessageDecision, UserTurn
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.base import to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from tests.runtime.mcpl.fixtures_chat import GENERAL, INBOX, NEWS, Chat, News, chatting, message
from tests.runtime.mcpl.fixtures_pairs import feature, sent

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mcpl-14.3-12", "mcpl-14.3-14", "mcpl-14.3-15")
async def test_the_host_decides_by_message_and_takes_turns_by_conversation() -> None:
    news = News(
        MessageDecision(conversation_id="conv_123", infer=True),
        MessageDecision(),
        MessageDecision(accepted=False, reason="a bot wrote it"),
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


@pytest.mark.spec("mcpl-14.3-15")
async def test_a_refusal_has_a_reason_if_the_program_gives_none() -> None:
    news = News(MessageDecision(accepted=False))
    async with chatting(Chat(), news.policy()) as (_, _lives, side):
        (outcome,) = await side.channels.incoming(message(1))
    assert (outcome.accepted, outcome.reason) == (False, "the host does not take it")


@pytest.mark.spec("mcpl-14.5-2", "mcpl-14.3-15")
async def test_a_set_for_thoughts_does_not_decide_which_messages_come_in() -> None:
    chat = Chat(sets={"channels.thinking": feature("channels.observe")})
    async with chatting(chat, News().policy()) as (_, _lives, side):
        params = {"messages": [to_wire(message(1))]}
        found = await side.session.raw("channels/incoming", params)
    assert [one["accepted"] for one in found["results"]] == [True]


@pytest.mark.spec("mcpl-14.3-2")
async def test_a_change_may_have_one_of_its_lists_alone(caplog: pytest.LogCaptureFixture) -> None:
    label = NEWS.model_copy(update={"label": "#news (old)"})
    async with chatting(Chat()) as (_, (connection, live), side):
        await side.channels.change(removed=[INBOX.id])
        await side.channels.change(updated=[label])
        await side.session.raw("ping")
        assert live.channels.known == [GENERAL, label]
        assert [one.keys() for one in sent(connection, "server", "channels/changed")] == [
            {"removed"},
            {"updated"},
        ]
    assert caplog.messages == []


@pytest.mark.spec("mcpl-14.4-2")
async def test_a_turn_has_the_data_of_its_channels_that_servers_may_get() -> None:
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


@pytest.mark.spec("mcpl-14.3-15")
async def test_a_repeated_message_is_taken_once_and_a_failed_one_again() -> None:
    calls: list[str] = []

    async def decide(incoming: Any) -> MessageDecision:
        calls.append(incoming.message.message_id)
        if len(calls) == 1:
            raise RuntimeError("the program is broken")
        return MessageDecision()

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

    async def slow(incoming: Any) -> MessageDecision:
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


@pytest.mark.spec("mcpl-14.3-15")
async def test_a_turn_that_is_not_taken_is_refused_and_comes_again_as_new() -> None:
    turns: list[UserTurn] = []

    async def take(turn: UserTurn) -> None:
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
    turns: list[UserTurn] = []
    stuck = anyio.Event()

    async def take(turn: UserTurn) -> None:
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


@pytest.mark.spec("mcpl-14.3-12", "mcpl-14.3-15")
async def test_a_repeated_message_gets_the_outcome_of_the_first() -> None:
    """Also where two requests have messages of each other."""
    news = News()
    outcomes: dict[str, list[Any]] = {}
    met, arrived = anyio.Event(), list[str]()

    async def decide(incoming: Any) -> MessageDecision:
        arrived.append(incoming.message.message_id)
        if len(arrived) == 2:
            met.set()
        await met.wait()
        return MessageDecision(conversation_id=incoming.message.channel_id)

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


@pytest.mark.spec("mcpl-14.3-14")
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
            response = await host.channels.write(other.conversation_id or "", inference_id="i")
            await response.finish("Answer")
    assert again == [one]
    assert next_one.conversation_id == one.conversation_id != other.conversation_id
    assert [(turn.conversation_id, turn.index) for turn in news.turns] == [
        (one.conversation_id, 0),
        (other.conversation_id, 0),
        (one.conversation_id, 1),
    ]
    assert chat.delivered == [(GENERAL.id, "Answer")]


@pytest.mark.spec("mcpl-0.4.0-draft-march-2026-2")
async def test_an_answer_to_where_nothing_goes_out_takes_the_default() -> None:
    news, chat = News(MessageDecision(conversation_id="conv_in")), Chat()
    policy = news.policy(default_outgoing=("chat", NEWS.id))
    async with chatting(chat, policy) as (host, _lives, side):
        await side.channels.incoming(message(1, INBOX.id))
        await (await host.channels.write("conv_in", inference_id="inf_1")).finish("Hello")
    assert chat.delivered == [(NEWS.id, "Hello")]
    async with chatting(Chat(), news.policy()) as (host, _lives, side):
        with pytest.raises(mcpl.UnknownChannelError, match="'conv_in': expected a channel that"):
            await host.channels.write("conv_in", inference_id="inf_1")


@pytest.mark.spec("mcpl-14.3-12")
async def test_more_than_a_hundred_messages_go_in_several_requests() -> None:
    async with chatting(Chat()) as (_, (connection, _live), side):
        outcomes = await side.channels.incoming(*[message(n) for n in range(101)])
        assert len(outcomes) == 101
        assert len(sent(connection, "server", "channels/incoming")) == 2
        many = [message(n) for n in range(101)]
        with pytest.raises(InvalidParamsError, match="at most 100 messages, got 101"):
            await mcpl.ClientStub(side.session).channels_incoming(messages=many)


@pytest.mark.spec("mcpl-14.1-3")
async def test_a_set_that_is_off_brings_nothing_in() -> None:
    news = News()
    async with chatting(Chat(), news.policy(), enabled=["channels.publish"]) as talk:
        (outcome,) = await talk.side.channels.incoming(message(1))
    assert outcome.reason == "no feature set that is on uses channels.observe there"
    assert news.incoming == []


async def test_concurrent_messages_are_taken_one_after_the_other() -> None:
    under_way, most = 0, 0

    async def decide(incoming: Any) -> MessageDecision:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await anyio.lowlevel.checkpoint()
        under_way -= 1
        return MessageDecision()

    async with (
        chatting(Chat(), Channels(on_message=decide)) as (_, _lives, side),
        anyio.create_task_group() as tasks,
    ):
        for number in range(5):
            tasks.start_soon(side.channels.incoming, message(number))
    assert most == 1
