"""Channels are registered without holding anything up, and one by one (MCPL 14.3)."""

from __future__ import annotations

import pytest

from kinwire import Host, Server
from kinwire.mcpl import Channels, McplHost, McplServer
from kinwire.mcpl.server import host_channels
from kinwire.support.backoff import Backoff
from kinwire_protocols import mcpl
from tests.runtime.mcpl.raw.peer import Error, Message, RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

OFFER = {
    "version": "0.4",
    "channels": {"register": True, "publish": True, "lifecycle": True},
    "featureSets": True,
}
ONE = mcpl.ChannelDescriptor(id="chat:1", type="chat", label="1", direction="bidirectional")


def chat() -> tuple[Server, McplServer]:
    live = McplServer(feature_sets={}, channels=[ONE])

    @live.on.channels_publish
    async def publish(params: mcpl.ChannelsPublishParams) -> mcpl.ChannelsPublishResult:
        return mcpl.ChannelsPublishResult(delivered=True)

    return Server("chat", "1", extensions=[live]), live


@pytest.mark.spec("mcpl-14.3-1")
@against_raw_host
async def test_a_host_that_does_not_answer_a_registration_is_served(connect: ConnectHost) -> None:
    server, _ = chat()
    host = await connect(server)
    await host.open(OFFER)  # and no featureSets/update
    registered = await host.expect("channels/register")
    assert [one["id"] for one in registered["params"]["channels"]] == ["chat:1"]
    await host.notify("featureSets/update", {"enabled": ["*"]})
    published = {"channelId": "chat:1", "content": [{"type": "text", "text": "Hello"}]}
    assert await host.result("channels/publish", published) == {"delivered": True}
    assert [one["id"] for one in (await host.result("channels/list"))["channels"]] == ["chat:1"]
    await host.answer(registered, {})


@pytest.mark.spec("mcpl-14.3-1")
@against_raw_host(wires=("memory",))
async def test_nothing_is_registered_before_the_handshake_has_ended(connect: ConnectHost) -> None:
    server, _ = chat()
    host = await connect(server)
    offered = {"capabilities": {"experimental": {"mcpl": OFFER}}}
    hello = {"protocolVersion": "2024-11-05", "clientInfo": {"name": "h", "version": "0"}}
    await host.result("initialize", {**hello, **offered})
    await host.settle()
    assert host.params_of("channels/register") == []
    await host.notify("notifications/initialized")
    await host.answer(await host.expect("channels/register"), {})


@pytest.mark.spec("mcpl-14.3-1")
@against_raw_host(wires=("memory",))
async def test_a_registration_is_repeated_until_it_is_answered(
    connect: ConnectHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_channels, "_REGISTER_TIMEOUT", 0.01)
    monkeypatch.setattr(host_channels, "_BACKOFF", Backoff(first=0.0, longest=0.0))
    server, live = chat()
    host = await connect(server)
    await host.open(OFFER)
    for _ in range(2):
        await host.expect("channels/register")
    monkeypatch.setattr(host_channels, "_REGISTER_TIMEOUT", 10.0)
    host.answers["channels/register"] = {}
    await live.change_channels(updated=[ONE.model_copy(update={"label": "renamed"})])
    while host.params_of("channels/register")[-1]["channels"][0]["label"] != "renamed":
        await host.settle()
    assert [one.id for one in live.hosts[0].channels.known] == ["chat:1"]


@pytest.mark.spec("mcpl-14.3-1")
@against_raw_host(wires=("memory",))
async def test_a_registration_that_is_refused_is_not_repeated(
    connect: ConnectHost, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(host_channels, "_BACKOFF", Backoff(first=0.0, longest=0.0))
    server, live = chat()
    host = await connect(server)
    host.answers["channels/register"] = Error(-32602, "No")
    await host.open(OFFER)
    await host.settle()
    assert len(host.params_of("channels/register")) == 1
    assert live.hosts[0].channels.known == []
    assert "a host did not take the channels: No" in caplog.text


def described(id: str, label: str = "c") -> Message:
    return {"id": id, "type": "chat", "label": label, "direction": "bidirectional"}


@pytest.mark.spec("mcpl-14.3-1")
@against_raw_server
async def test_our_host_takes_channels_one_by_one(
    connect: ConnectServer, caplog: pytest.LogCaptureFixture
) -> None:
    live = McplHost(channels=Channels())
    raw = RawServer({**OFFER, "featureSets": {}})
    async with Host("h", "1", extensions=[live]) as host:
        connection = await connect(host, raw, server_id="raw")
        server = live.of(connection)
        assert server is not None
        mixed = [described("a"), {"id": "b"}, described(""), 5, described("c")]
        assert await raw.result("channels/register", {"channels": mixed}) == {}
        assert [one.id for one in server.channels.known] == ["a", "c"]
        assert caplog.text.count("raw: channels/register: left out") == 3
        again = {"channels": [described("c", "new"), described("d")]}
        assert await raw.result("channels/register", again) == {}
        labels = [(one.id, one.label) for one in server.channels.known]
        assert labels == [("a", "c"), ("c", "new"), ("d", "c")]
        for wrong in ([{"id": "b"}], "all", None):
            assert (await raw.error("channels/register", {"channels": wrong}))["code"] == -32602
        assert len(server.channels.known) == 3
        assert await raw.result("channels/register", {"channels": []}) == {}
