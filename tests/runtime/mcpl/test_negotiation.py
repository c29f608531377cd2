"""The handshake of MCPL: who has it, in which shape, and what passes before the first update."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError, Context, Host, Server, SessionStateError, pair
from kinwire.mcpl import Channels, Hooks, McplHost, McplServer
from kinwire.mcpl.rules.content import blocks_of
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.mcpl.methods import PUSH_EVENT
from tests.each import each
from tests.runtime.mcp.fake_client import raw_client
from tests.runtime.mcpl.fixtures_pairs import MEMORY, feature, live_pair, raw_server, sent

pytestmark = pytest.mark.anyio

EVENT = mcpl.PushEventParams(
    feature_set="memory.proactive",
    event_id="evt_1",
    timestamp="2026-01-23T14:00:00Z",
    payload=mcpl.PushEventPayload(content=blocks_of("You wanted to call Alice today")),
)


def memory(mcpl_server: McplServer | None) -> Server:
    server = Server("memory", "1", extensions=[] if mcpl_server is None else [mcpl_server])

    @server.tool
    async def remind(context: Context) -> str:
        """Push an event, or say why that cannot be."""
        try:
            await context.session.call(PUSH_EVENT, EVENT)
        except CapabilityNotNegotiatedError:
            return "nobody to push to"
        return "pushed"

    @server.resource("memory://facts")
    async def facts() -> str:
        """What is known."""
        return "two facts"

    return server


def hearing() -> tuple[McplHost, list[str]]:
    host, heard = McplHost(enabled=["*"]), list[str]()

    @host.on.push_event
    async def push_event(params: mcpl.PushEventParams) -> mcpl.PushEventResult:
        heard.append(params.event_id)
        return mcpl.PushEventResult(accepted=True)

    return host, heard


async def said(connection: Any, name: str) -> str:
    (block,) = (await connection.mcp.tools_call(name=name)).content
    assert isinstance(block, mcp.TextContent)
    return block.text


@pytest.mark.parametrize("live_host", [True, False], ids=["host", "plain host"])
@pytest.mark.parametrize("live_server", [True, False], ids=["server", "plain server"])
@pytest.mark.spec("mcpl-3.2-3", "mcpl-3.3-3", "mcpl-2-1")
async def test_each_of_the_four_pairs_works_as_far_as_both_go(
    live_server: bool, live_host: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    mcpl_host, heard = hearing()
    server = memory(McplServer(feature_sets=MEMORY) if live_server else None)
    host = Host("h", "1", extensions=[mcpl_host] if live_host else [])
    both = live_server and live_host
    with anyio.fail_after(20):
        async with pair(server, host) as connection:
            assert await said(connection, "remind") == ("pushed" if both else "nobody to push to")
            assert (await connection.mcp.resources_read(uri="memory://facts")).contents
            assert (mcpl_host.of(connection) is not None) == both
            updates = sent(connection, "client", "featureSets/update")
    assert heard == ["evt_1"] * both
    assert len(updates) == both
    assert {record.name for record in caplog.records} <= {"kinwire.mcpl.audit"}
    assert bool(caplog.records) == both


@pytest.mark.spec("mcpl-3.2-1", "mcpl-3.2-2")
async def test_a_host_of_mcp_is_sent_nothing_of_mcpl() -> None:
    server = memory(McplServer(feature_sets=MEMORY))
    with anyio.fail_after(20):
        async with raw_client(server) as client:
            answer = await client.greet()
            assert "experimental" not in answer["capabilities"]
            await client.session.raw("tools/call", {"name": "remind"})
    assert [one["method"] for one in client.heard if "method" in one] == []


@pytest.mark.spec("mcpl-3.3-1", "mcpl-3.3-2")
async def test_a_server_of_mcp_is_served_no_event_and_called_for_no_hook() -> None:
    mcpl_host, heard = hearing()
    with anyio.fail_after(20):
        async with pair(memory(None), Host("h", "1", extensions=[mcpl_host])) as connection:
            assert mcpl_host.of(connection) is None
            assert mcpl_host.servers == []
            with pytest.raises(CapabilityNotNegotiatedError):
                await mcpl.ServerStub(connection).state_rollback(feature_set="a", checkpoint="b")
    assert heard == []


@pytest.mark.spec("mcpl-3.1-1", "mcpl-5.1-1", "mcpl-5.1-2")
async def test_offers_are_in_experimental_and_do_not_change_the_mcp_version() -> None:
    async with live_pair(McplServer(feature_sets=MEMORY), hearing()[0]) as (connection, _):
        greeting = connection.greeting
        assert greeting.protocol_version == "2024-11-05"
        offered = (greeting.capabilities.experimental or {})["mcpl"]
        assert offered["version"] == "0.4"
        assert offered["pushEvents"] is True
        assert set(offered["featureSets"]) == set(MEMORY)


@pytest.mark.spec("mcpl-5.2-1", "mcpl-5.2-2", "mcpl-5.2-3")
async def test_a_host_offers_what_it_serves_at_the_same_place() -> None:
    host, _ = hearing()
    async with live_pair(McplServer(feature_sets=MEMORY), host) as (connection, live):
        assert host.servers == [live]
        (offer,) = sent(connection, "client", "initialize")
    assert offer["protocolVersion"] == "2024-11-05"
    offered = offer["capabilities"]["experimental"]["mcpl"]
    assert offered["version"] == "0.4"
    assert offered["pushEvents"] is True
    assert offered["featureSets"] is True
    assert "inferenceRequest" not in offered


@pytest.mark.spec("mcpl-5.2-4", "mcpl-5.3-1", "mcpl-6.4-1")
async def test_the_first_update_follows_initialized_immediately() -> None:
    async with live_pair(McplServer(feature_sets=MEMORY), hearing()[0]) as (connection, _):
        while not sent(connection, "client", "featureSets/update"):  # the update is still under way
            await anyio.lowlevel.checkpoint()
        begun = [frame.data for frame in connection.frames if frame.sender == "client"]
    names = [b"initialize", b"notifications/initialized", b"featureSets/update"]
    assert all(name in data for name, data in zip(names, begun, strict=False))


async def test_what_is_tagged_and_comes_before_the_update_waits_for_it() -> None:
    mcpl_host, heard = hearing()
    declared = {"memory.proactive": {"description": "A", "uses": ["pushEvents"]}}
    offer: dict[str, Any] = {"pushEvents": True, "featureSets": declared}
    answers: list[Any] = []
    order: list[str] = []
    seen: list[int] = []
    async with (
        raw_server(offer) as raw,
        anyio.create_task_group() as tasks,
        Host("h", "1", extensions=[mcpl_host]) as host,
    ):

        async def push() -> None:
            event = {"featureSet": "memory.proactive", "eventId": "early", "timestamp": "now"}
            seen.append(len(mcpl_host.servers))
            answers.append(
                await raw.session.raw("push/event", {**event, "payload": {"content": "x"}})
            )
            order.extend(one.get("method", "reply") for one in raw.heard)

        tasks.start_soon(push)  # while the host waits for the result of `initialize`
        await host.connect(raw.transport)
    assert answers == [{"accepted": True}]
    assert heard == ["early"]
    assert seen == [0]  # no hook of a server is called before its first update
    assert order.index("featureSets/update") < order.index("reply")


async def test_an_empty_offer_is_one_of_mcpl_with_nothing_to_switch() -> None:
    mcpl_host = McplHost(enabled=["*"])
    async with raw_server({}) as raw, Host("h", "1", extensions=[mcpl_host]) as host:
        live = mcpl_host.of(await host.connect(raw.transport))
        assert live is not None
        assert live.enabled == []
        await raw.session.raw("ping")
        assert raw.received("featureSets/update") == [{"enabled": [], "disabled": []}]


async def test_feature_sets_in_a_list_are_handled_like_an_object(
    caplog: pytest.LogCaptureFixture,
) -> None:
    mcpl_host = McplHost(enabled=["heartbeat"])
    declared = {"name": "heartbeat", "description": "Alive", "uses": ["tools"], "hostState": False}
    offer = {"version": "0.5", "pushEvents": True, "channels": False, "featureSets": [declared]}
    async with raw_server(offer) as raw, Host("h", "1", extensions=[mcpl_host]) as host:
        live = mcpl_host.of(await host.connect(raw.transport, server_id="beat"))
        assert live is not None
        assert live.id == "beat"
        assert live.enabled == ["heartbeat"]
    assert "beat: its offer of MCPL: version: expected 0.4, got '0.5'" in caplog.text


async def test_a_server_can_declare_its_feature_sets_as_a_list() -> None:
    mcpl_server = McplServer(feature_sets=MEMORY, as_list=True)
    async with live_pair(mcpl_server, McplHost(enabled=["*"])) as (connection, live):
        offered = (connection.greeting.capabilities.experimental or {})["mcpl"]
        assert [one["name"] for one in offered["featureSets"]] == list(MEMORY)
        assert live.enabled == sorted(MEMORY)


async def test_a_host_with_id_0_and_without_an_update_finds_every_set_on() -> None:
    mcpl_server = McplServer(feature_sets=MEMORY)
    server = memory(mcpl_server)
    offer = {"experimental": {"mcpl": {"version": "0.4", "channels": True, "modelInfo": True}}}
    with anyio.fail_after(20):
        async with raw_client(server) as client:
            await client.greet(offer)
            (live,) = mcpl_server.hosts
            assert live.enabled == sorted(MEMORY)


async def test_a_server_can_be_set_to_wait_for_the_first_update() -> None:
    mcpl_server = McplServer(feature_sets=MEMORY, enabled_at_first=False)
    server = memory(mcpl_server)
    offer = {"experimental": {"mcpl": {"pushEvents": True, "featureSets": True}}}
    with anyio.fail_after(20):
        async with raw_client(server) as client:
            await client.greet(offer)
            (live,) = mcpl_server.hosts
            assert live.enabled == []
            with pytest.raises(mcpl.FeatureSetNotEnabledError):
                await mcpl.ClientStub(live.session).push_event(**dict(EVENT))
            await client.session.raw_notify("featureSets/update", {"enabled": ["memory.*"]})
            await client.session.raw("ping")
            assert live.enabled == sorted(MEMORY)


async def test_a_server_asks_for_nothing_before_the_handshake_is_over() -> None:
    mcpl_server = McplServer(feature_sets=MEMORY)
    offer = {"experimental": {"mcpl": {"pushEvents": True, "featureSets": True}}}
    with anyio.fail_after(20):
        async with raw_client(memory(mcpl_server)) as client:
            await client.greet(offer, done=False)
            (live,) = mcpl_server.hosts
            with pytest.raises(SessionStateError, match="has not finished the handshake"):
                await live.session.call(PUSH_EVENT, EVENT)
            assert client.received("push/event") == []


def test_a_set_of_a_server_has_a_name_that_a_set_can_have() -> None:
    with pytest.raises(ValueError, match=r"without a star, got 'memory\.\*'"):
        McplServer(feature_sets={"memory.*": feature()})


@each("option", ["enabled", "disabled", "forbidden"])
def test_a_policy_takes_several_patterns_and_not_the_letters_of_one(option: str) -> None:
    wrong: dict[str, Any] = {option: "memory.*"}
    with pytest.raises(TypeError, match=f"{option}: expected several"):
        McplHost(**wrong)
    for taken in ("order", "fail_closed"):
        wrong = {taken: "memory.*"}
        with pytest.raises(TypeError, match=f"{taken}: expected several"):
            Hooks(**wrong)


def test_what_else_takes_several_strings_takes_no_letters_of_one_either() -> None:
    letters: Any = "channels.*"
    with pytest.raises(TypeError, match="raw: expected several"):
        Channels(raw=letters)
    with pytest.raises(TypeError, match="also_uses: expected several"):
        McplServer(feature_sets={}, also_uses="pushEvents")


async def test_one_string_is_not_taken_for_several_names_that_go() -> None:
    mcpl_server = McplServer(feature_sets={"a": feature("pushEvents")}, channels=[])
    channels = Channels()
    async with live_pair(mcpl_server, McplHost(channels=channels)) as (connection, live):
        await connection.mcp.ping()
        side = mcpl_server.hosts[0].channels
        for change in (mcpl_server.change, mcpl_server.change_channels, side.change):
            with pytest.raises(TypeError, match="removed: expected several"):
                await change(removed="a")
        assert sent(connection, "server", "featureSets/changed") == []
        assert sent(connection, "server", "channels/changed") == []
        assert set(live.feature_sets) == {"a"}


def test_a_mode_of_state_that_there_is_not_is_refused_by_the_host_itself() -> None:
    wrong: Any = "trees"
    with pytest.raises(ValueError, match="state: expected 'tree', 'latest' or 'none', got 'trees'"):
        McplHost(state=wrong)
