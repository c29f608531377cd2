"""What servers of others do that the text does not say: each shape is met as it was seen.

One was looked at, which pushes heartbeats; others are of what hosts of others make servers send.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Host
from kinwire.mcp.connection import Connection
from kinwire.mcpl import Channels, McplHost, PushedEvent, ServerPeer
from kinwire.rpc.limits import Limits
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject, to_wire
from tests.runtime.mcpl.fake_peer import INFO, Fake, outcome, refused
from tests.runtime.mcpl.fixtures_chat import GENERAL
from tests.runtime.mcpl.fixtures_hooks import before

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-8-8")]

MOMENT = Limits(request_timeout=0.05)
EVENT = {"eventId": "heartbeat_1", "timestamp": "2026-01-23T14:00:00Z"}
PAYLOAD = {"content": [{"type": "text", "text": "Still here"}]}

HEARTBEAT: JsonObject = {
    "version": "0.4",
    "pushEvents": True,
    "channels": False,
    "rollback": False,
    "featureSets": [
        {
            "name": "heartbeat",
            "description": "Pushes",
            "uses": ["tools"],
            "rollback": False,
            "hostState": False,
        }
    ],
}


async def take(event: PushedEvent) -> mcpl.PushEventResult:
    return mcpl.PushEventResult(accepted=True)


@asynccontextmanager
async def serving(
    offer: Any, **answers: Any
) -> AsyncGenerator[tuple[Fake, Connection, ServerPeer, McplHost]]:
    """Yield a server, and how our host has it. Names of methods have `_` for their slash."""
    greeting = {
        "protocolVersion": "2024-11-05",
        "capabilities": {"tools": {}, "experimental": {"mcpl": offer}},
        "serverInfo": INFO,
    }
    own = {name.replace("_", "/"): answer for name, answer in answers.items()}
    server = Fake({"initialize": greeting, **own})
    mcpl_host = McplHost(enabled=["*"], on_push=take, channels=Channels())
    with anyio.fail_after(5):
        async with Host("h", "1", extensions=[mcpl_host], limits=MOMENT) as host:
            connection = await host.connect(server)
            live = mcpl_host.of(connection)
            assert live is not None
            yield server, connection, live, mcpl_host


async def test_the_heartbeat_s_own_offer_is_switched_and_its_silence_is_borne() -> None:
    async with serving(HEARTBEAT) as (server, connection, live, _):
        assert live.enabled == ["heartbeat"]
        assert live.feature_sets["heartbeat"].uses == ["tools"]
        (update,) = await server.tells("featureSets/update")  # which it drops
        assert update["params"] == {"enabled": ["heartbeat"], "disabled": []}
        assert await outcome(connection.mcp.ping()) == -32601
        await live.disable("heartbeat")
        assert len(await server.tells("featureSets/update", 2)) == 2


async def test_an_event_of_a_set_without_events_is_refused_with_the_reason() -> None:
    async with serving(HEARTBEAT) as (server, connection, _, _host):
        event = {"featureSet": "heartbeat", **EVENT, "payload": PAYLOAD}
        error = (await server.ask(1, "push/event", event))["error"]  # an id that the host had too
        assert error["code"] == -32001
        assert "does not declare that it uses pushEvents" in error["message"]
        assert error["data"]["canEnable"] is False
        assert await outcome(connection.mcp.ping()) == -32601


EVENTS: JsonObject = {"description": "Pushes", "uses": ["pushEvents"], "hostState": True}
OFFERS = [
    pytest.param({"featureSets": {"heartbeat": EVENTS}}, ["heartbeat"], id="an object"),
    pytest.param({"featureSets": [{**EVENTS, "name": "heartbeat"}]}, ["heartbeat"], id="a list"),
    pytest.param({"featureSets": True}, [], id="only that there are some"),
    pytest.param({"version": "0.5", "featureSets": {"heartbeat": EVENTS}}, ["heartbeat"], id="0.5"),
    pytest.param({"version": 0.4, "featureSets": {"heartbeat": EVENTS}}, ["heartbeat"], id="float"),
]


@pytest.mark.parametrize(("offer", "enabled"), OFFERS)
async def test_an_event_is_taken_however_its_set_was_offered(
    offer: JsonObject, enabled: list[str]
) -> None:
    async with serving({"pushEvents": True, **offer}) as (server, connection, live, _):
        assert live.enabled == enabled
        event = {"featureSet": "heartbeat", **EVENT, "payload": PAYLOAD}
        answer = await server.ask(0, "push/event", event)
        assert answer.get("result") == ({"accepted": True} if enabled else None)
        assert answer.get("error", {}).get("code") == (None if enabled else -32003)
        assert await outcome(connection.mcp.ping()) == -32601


async def test_channels_that_are_offered_by_a_boolean_are_all_there() -> None:
    answers = {"channels_publish": {"delivered": True}, "channels_list": {"channels": []}}
    async with serving({"channels": True}, **answers) as (server, _, live, _host):
        registered = await server.ask(1, "channels/register", {"channels": [to_wire(GENERAL)]})
        assert registered["result"] == {}
        assert (await server.ask(2, "channels/list"))["result"]["channels"][0]["id"] == GENERAL.id
        assert (await live.channels.publish(GENERAL.id, "Hello")).delivered
        assert await live.channels.listed() == []


HOOKED = {
    "contextHooks": {"beforeInference": True, "afterInference": {"blocking": True}},
    "featureSets": {
        "m": {
            "description": "All hooks",
            "uses": ["contextHooks.beforeInference", "contextHooks.afterInference"],
        }
    },
}
SAID = {"namespace": "n", "position": "system", "content": "Tea"}
RESOURCE = {"type": "resource", "resource": {"uri": "memo://1", "text": "Tea"}}
INJECTED = [
    pytest.param({"featureSet": "m", "contextInjections": [SAID]}, 1, id="as the text has it"),
    pytest.param({"contextInjections": []}, 0, id="nothing, by no set"),
    pytest.param({}, 0, id="nothing at all"),
    pytest.param(
        {"contextInjections": [{**SAID, "featureSet": "m"}]}, 1, id="the set at the injection"
    ),
    pytest.param({"contextInjections": [SAID]}, 0, id="by no set"),
    pytest.param({"featureSet": "n", "contextInjections": [SAID]}, 0, id="by an unknown set"),
    pytest.param(
        {"featureSet": "m", "contextInjections": [{**SAID, "content": [RESOURCE]}]}, 1,
        id="a resource as MCP writes it",
    ),
    pytest.param(refused(-32601, "Method not found"), 0, id="a hook that is offered and unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "injections"), INJECTED)
async def test_what_a_hook_brings_counts_in_every_shape_that_says_whose_it_is(
    answer: JsonObject, injections: int
) -> None:
    async with serving(HOOKED, context_beforeInference=answer) as (_, connection, _live, host):
        found = await host.before_inference(before())
        assert len(found.system) == injections
        assert all(getattr(one.content[0], "text", "Tea") == "Tea" for one in found.system)
        assert await outcome(connection.mcp.ping()) == -32601
