"""Channels that a raw server registers are opened as the policy of the host says."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Host
from kinwire.mcpl import Channels, McplHost, ServerPeer
from kinwire_protocols.mcpl import ChannelDescriptor
from tests.each import each
from tests.runtime.mcpl.raw.peer import Error, Message, RawServer
from tests.runtime.mcpl.raw.scenarios import ConnectServer, against_raw_server

CHANNELS = {"register": True, "lifecycle": True}
OFFER: Message = {"version": "0.4", "featureSets": {}, "channels": CHANNELS}


def channel(id: str, **members: Any) -> Message:
    return {"id": id, "type": "chat", "label": id, "direction": "bidirectional", **members}


async def opened(raw: RawServer, answer: Any = None) -> Message:
    """Answer the next `channels/open`, and return its params."""
    request = await raw.expect("channels/open")
    params: Message = request["params"]
    address = params["address"]
    result = {"channel": channel(f"chat:{address}", address=address)}
    await raw.answer(request, result if answer is None else answer)
    return params


@against_raw_server(quick=("memory", "http"))
@pytest.mark.spec("mcpl-14-2", "mcpl-14.3-4")
async def test_registered_channels_that_match_are_opened_once(connect: ConnectServer) -> None:
    raw = RawServer(OFFER)
    live = McplHost(channels=Channels(open=["desk/chat:{*", "other/*", "chat:more"]))
    channels = [channel("chat:{}", address={}), channel("mail:inbox", address={})]
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw, server_id="desk")
        await raw.expect("notifications/initialized")
        # The server answers nothing before it has the answer to its own request.
        await raw.result("channels/register", {"channels": channels})
        assert await opened(raw) == {"type": "chat", "address": {}}
        await raw.notify("channels/changed", {"added": [channel("chat:more", address={"a": 1})]})
        assert await opened(raw, Error(-32030, "not now")) == {"type": "chat", "address": {"a": 1}}
        await raw.settle()
        await raw.notify("channels/changed", {"removed": ["chat:more"]})
        await raw.notify("channels/changed", {"added": [channel("chat:more", address={"a": 2})]})
        assert (await opened(raw))["address"] == {"a": 2}
        await raw.settle()
        assert len(raw.params_of("channels/open")) == 3


@against_raw_server
@pytest.mark.spec("mcpl-14-2")
async def test_a_function_may_choose_the_channels_to_open(connect: ConnectServer) -> None:
    seen: list[tuple[str, str]] = []

    def choose(server: ServerPeer, found: ChannelDescriptor) -> bool:
        seen.append((server.id, found.id))
        if found.id == "chat:broken":
            raise KeyError(found.id)
        return found.id == "chat:b"

    raw = RawServer(OFFER)
    live = McplHost(channels=Channels(open=choose))
    ids = ["chat:a", "chat:broken", "chat:b"]
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw, server_id="desk")
        await raw.expect("notifications/initialized")
        channels = [channel(id, address={"id": id}) for id in ids]
        await raw.result("channels/register", {"channels": channels})
        assert (await opened(raw))["address"] == {"id": "chat:b"}
        await raw.settle()
        assert len(raw.params_of("channels/open")) == 1
    assert seen == [("desk", id) for id in ids]


@against_raw_server
@pytest.mark.spec("mcpl-14.1-2")
async def test_nothing_is_opened_at_a_server_that_does_not_open_channels(
    connect: ConnectServer,
) -> None:
    raw = RawServer({**OFFER, "channels": {"register": True}})
    async with Host("h", "1", extensions=[McplHost(channels=Channels(open=["*"]))]) as host:
        await connect(host, raw)
        await raw.expect("notifications/initialized")
        await raw.result("channels/register", {"channels": [channel("chat:a")]})
        await raw.settle()
        assert raw.params_of("channels/open") == []


@each("wrong", ["chat:*", ["/a"], [5], 7])
def test_wrong_policies_are_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="expected"):
        Channels(open=wrong)
