"""Channels between a host and a live connector: registered, opened, changed, gated by flags."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError
from kinwire.mcpl import Channels, McplHost
from kinwire.rpc.routes import Route
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.jsonrpc.errors import InvalidParamsError, MethodNotFoundError
from kinwire_protocols.mcpl.methods import CHANNELS_REGISTER
from tests.runtime.mcp.fake_client import RawClient, raw_client
from tests.runtime.mcpl.fixtures_chat import (
    ALL,
    GENERAL,
    INBOX,
    NEWS,
    Chat,
    Talk,
    chatting,
    message,
)
from tests.runtime.mcpl.fixtures_pairs import live_pair, sent

pytestmark = pytest.mark.anyio

RANDOM: dict[str, Any] = {"guild": "acme", "channel": "#random"}


def ids(channels: list[mcpl.ChannelDescriptor]) -> list[str]:
    return [channel.id for channel in channels]


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
        await side.channels.register(new.model_copy(update={"label": "again"}))
        assert [one.label for one in live.channels.known] == [GENERAL.label, "#news (old)", "again"]
        with pytest.raises(ValueError, match="an id that no other channel has"):
            await side.channels.register(new, new)
        with pytest.raises(InvalidParamsError, match="/channels/0/id: expected an id of 1 to"):
            await mcpl.ClientStub(side.session).channels_register(
                channels=[new.model_copy(update={"id": ""})]
            )
        assert len(live.channels.known) == 3


@asynccontextmanager
async def registering(chat: Chat) -> AsyncGenerator[tuple[RawClient, list[Any]]]:
    """Yield a client that has not ended the handshake yet, and what it is registered."""
    registered: list[Any] = []

    async def register(params: Any, request: Any) -> dict[str, Any]:
        registered.append([(one.id, one.label) for one in params.channels])
        return {}

    flags = dict.fromkeys(("register", "lifecycle"), True)
    routes = {CHANNELS_REGISTER.name: Route(CHANNELS_REGISTER, register)}
    with anyio.fail_after(20):
        async with raw_client(chat.server, routes) as client:
            await client.greet({"experimental": {"mcpl": {"channels": flags}}}, done=False)
            yield client, registered


@pytest.mark.spec("mcpl-14.3-1", "mcpl-14.3-2")
@pytest.mark.parametrize("of_one_host", [False, True], ids=["of all hosts", "of one host"])
async def test_changes_before_channels_are_registered_are_in_the_registration(
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
        (sent,) = client.received("channels/changed")
        assert [one["id"] for one in sent["added"]] == [new.id, inbox.id]
        assert sent.keys() == {"added"}
        await client.session.raw_notify("notifications/initialized")
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
        assert client.received("channels/changed")[-1] == {"removed": [NEWS.id]}


@pytest.mark.spec("mcpl-14.2-1")
async def test_a_second_channel_of_one_id_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    chat = Chat()
    async with registering(chat) as (client, registered):
        await chat.live.hosts[0].channels.change(added=[NEWS.model_copy(update={"label": "x"})])
        await client.session.raw_notify("notifications/initialized")
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
            await mcpl.ServerStub(live.session).channels_close(channel_id=opened.id)
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
        response = await talk.host.channels.write("conv_1", inference_id="inf_1")
        await response.write("He")
        await response.finish("Hello")
    assert (len(chat.pieces), len(chat.wholes)) == (pieces, wholes)
    assert chat.delivered == [(GENERAL.id, "Hello")]


@pytest.mark.spec("mcpl-14.1-2")
async def test_a_host_without_channels_gets_no_registrations_and_no_messages() -> None:
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
