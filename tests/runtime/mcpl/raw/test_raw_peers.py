"""Raw peers against both roles of ours: the handshake of MCPL, and one message each way."""

from __future__ import annotations

from kinwire import Host, Server
from kinwire.mcpl import McplHost, McplServer, PushedEvent
from kinwire_protocols.mcpl import PushEventResult
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

OFFER = {"version": "0.4", "pushEvents": True}
BELL = {"bell": {"description": "Ring", "uses": ["pushEvents"]}}
EVENT = {
    "featureSet": "bell",
    "eventId": "evt_1",
    "timestamp": "2026-01-23T10:30:00Z",
    "payload": {"content": [{"type": "text", "text": "Somebody is at the door"}]},
}


@against_raw_host(quick=("memory", "stdio", "http", "ws"))
async def test_our_server_pushes_an_event_to_a_raw_host(connect: ConnectHost) -> None:
    live = McplServer(feature_sets={"bell": feature("pushEvents")})
    server = Server("bell", "1", extensions=[live])

    @server.tool
    async def ring() -> bool:
        """Push an event."""
        return (await live.hosts[0].push("bell", "Somebody is at the door")).accepted

    host = await connect(server)
    greeting = await host.open({**OFFER, "featureSets": True}, update={"enabled": ["bell"]})
    assert greeting["capabilities"]["experimental"]["mcpl"]["featureSets"].keys() == {"bell"}
    id = await host.begin("tools/call", {"name": "ring"})
    event = await host.expect("push/event")
    assert event["params"]["featureSet"] == "bell"
    await host.answer(event, {"accepted": True})
    assert (await host.reply(id))["result"]["content"][0]["text"] == "true"


@against_raw_host
async def test_our_server_serves_a_host_that_speaks_only_mcp(connect: ConnectHost) -> None:
    live = McplServer(feature_sets={"bell": feature("pushEvents")})
    host = await connect(Server("bell", "1", extensions=[live], offers=["tools"]))
    await host.open()
    assert await host.result("tools/list") == {"tools": []}
    await host.settle()
    assert all("method" not in message for message in host.received)


@against_raw_server(quick=("memory", "stdio", "http", "ws"))
async def test_our_host_takes_the_event_of_a_raw_server(connect: ConnectServer) -> None:
    async def take(event: PushedEvent) -> PushEventResult:
        return PushEventResult(accepted=True, inference_id="inf_1")

    raw = RawServer({**OFFER, "featureSets": BELL})
    live = McplHost(enabled=["bell"], on_push=take)
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw)
        await raw.expect("notifications/initialized")
        assert (await raw.expect("featureSets/update"))["params"]["enabled"] == ["bell"]
        expected = {"accepted": True, "inferenceId": "inf_1"}
        assert await raw.result("push/event", EVENT) == expected
        error = await raw.error("push/event", {**EVENT, "featureSet": "nosuch", "eventId": "e2"})
        assert error["code"] == -32003


@against_raw_server
async def test_our_host_connects_again_to_a_raw_server(connect: ConnectServer) -> None:
    raw = RawServer({**OFFER, "featureSets": BELL}, tools=[])
    async with Host("h", "1", extensions=[McplHost(enabled=["bell"])]) as host:
        for _ in range(2):
            connection = await connect(host, raw)
            assert (await raw.expect("featureSets/update"))["params"]["enabled"] == ["bell"]
            assert [tool async for tool in connection.tools()] == []
            await connection.session.aclose()
            await raw.gone()
