"""What goes out to channels: content delivered, and refused where it may not go."""

from __future__ import annotations

import pytest

from kinwire.mcpl import Channels, Scopes
from kinwire_protocols import mcpl
from tests.runtime.mcpl.fixtures_chat import GENERAL, INBOX, NEWS, Chat, chatting, message
from tests.runtime.mcpl.fixtures_pairs import feature, sent

pytestmark = pytest.mark.anyio

NEWS_TEXT = {"type": "text", "text": "News"}


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
    assert notified == {"channelId": NEWS.id, "stream": True, "content": [NEWS_TEXT]}


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
        response = await talk.host.channels.write("conv_1", inference_id="inf_1")
        await response.write("He")
        await response.finish("Hello")
    assert chat.delivered == [(GENERAL.id, "Hello")]
    assert (chat.pieces, chat.wholes) == ([], [])  # to see what goes out takes a set
