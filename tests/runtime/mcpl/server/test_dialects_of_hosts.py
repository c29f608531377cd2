"""What hosts of others do that the text does not say: each shape is met as it was seen.

Two were looked at, a test harness and an agent framework. What is called after one was seen there.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import Server
from kinwire.mcpl import HostPeer, McplServer
from kinwire.rpc.limits import Limits
from kinwire.support.background import background
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject, to_wire
from tests.runtime.mcpl.fake_peer import INFO, NOTHING, Fake, outcome, refused
from tests.runtime.mcpl.fixtures_chat import GENERAL
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.programs import live as program

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-8-7")]

MOMENT = Limits(request_timeout=0.05)
SETS = {
    "nope": feature("pushEvents", "inferenceRequest", scoped=True),
    "hooks": feature("contextHooks.beforeInference"),
}

HARNESS: JsonObject = {
    "version": "0.4",
    "pushEvents": True,
    "contextHooks": {"beforeInference": True, "afterInference": True},
    "inferenceRequest": {"streaming": True},
    "channels": True,
    "modelInfo": True,
    "scopedAccess": True,
    "featureSets": True,
}
AGENT: JsonObject = {**HARNESS, "featureSets": {}, "channels": {"register": True, "publish": True}}

Use = Callable[[HostPeer], Awaitable[Any]]


async def push(host: HostPeer) -> Any:
    return to_wire(await host.push("nope", "Now", attempts=1))


async def infer(host: HostPeer) -> Any:
    return to_wire(await host.infer("nope", "Why?"))


async def stream(host: HostPeer) -> Any:
    async with host.stream("nope", "Why?") as answer:
        return [delta async for delta in answer]


async def elevate(host: HostPeer) -> Any:
    asked = mcpl.ClientStub(host.session).scope_elevate(feature_set="nope", scope=SCOPE)
    return to_wire(await asked)


async def model(host: HostPeer) -> Any:
    return to_wire(await mcpl.ClientStub(host.session).model_info())


async def listed(host: HostPeer) -> Any:
    return await host.channels.listed()


async def registered(host: HostPeer) -> Any:
    await host.channels.register(GENERAL)
    return [one.id for one in host.channels.known]


SCOPE = mcpl.Scope(label="/etc/hosts")
UNKNOWN = {"accepted": False, "reason": "Unknown feature set: nope"}
DENIED = {"approved": False, "reason": "User approval required"}
STOPPED = {"content": "So", "model": "m", "finishReason": "stop"}
METHOD = refused(-32601, "Method not found")
HOSTS = [
    pytest.param(AGENT, push, "push/event", UNKNOWN, UNKNOWN, id="a refusal as a result"),
    pytest.param(
        AGENT, push, "push/event",
        {"accepted": False, "reason": "duplicate"}, {"accepted": False, "reason": "duplicate"},
        id="a duplicate as a refusal",
    ),
    pytest.param(
        HARNESS, push, "push/event", {"accepted": True}, {"accepted": True},
        id="an event without an inference",
    ),
    pytest.param(HARNESS, push, "push/event", METHOD, -32601, id="pushing offered and unknown"),
    pytest.param(AGENT, elevate, "scope/elevate", DENIED, DENIED, id="nobody to approve"),
    pytest.param(
        AGENT, infer, "inference/request", refused(-32600, "Not during a hook"), -32600,
        id="no inference while any hook is open",
    ),
    pytest.param(
        HARNESS, infer, "inference/request", STOPPED, STOPPED, id="a reason outside the three"
    ),
    pytest.param(
        HARNESS, stream, "inference/request", STOPPED, ["So"], id="streaming offered, no pieces"
    ),
    pytest.param(AGENT, model, "model/info", NOTHING, "no answer", id="model/info unanswered"),
    pytest.param(AGENT, listed, "channels/list", NOTHING, "no answer", id="a list unanswered"),
    pytest.param(HARNESS, listed, "channels/list", METHOD, -32601, id="a list that is unknown"),
    pytest.param(
        HARNESS, registered, "channels/register", {}, [GENERAL.id], id="registered, with no word"
    ),
]  # fmt: skip


@asynccontextmanager
async def hosted(offer: JsonObject, answers: JsonObject) -> AsyncGenerator[tuple[Fake, HostPeer]]:
    """Yield a host, and how our server has it."""
    live = McplServer(feature_sets=SETS, channels=[], model_info=True, as_list=True)
    server = Server("ours", "1", extensions=[live], limits=MOMENT)
    host = Fake(answers)
    with anyio.fail_after(5):
        async with background() as tasks:
            tasks.start_soon(server.serve, host)
            sets = (await greeted(host, offer))["featureSets"]
            assert [one["name"] for one in sets] == list(SETS)  # an object crashes the harness
            yield host, live.hosts[0]
            host.hang_up()


async def greeted(host: Fake, offer: JsonObject) -> JsonObject:
    """Shake hands, counting ids from 0; return what the server offers."""
    offered = {"experimental": {"mcpl": offer}}
    params = {"protocolVersion": "2024-11-05", "capabilities": offered, "clientInfo": INFO}
    greeting = (await host.ask(0, "initialize", params))["result"]
    host.say(method="notifications/initialized")
    await host.ask(1, "ping")
    own: JsonObject = greeting["capabilities"]["experimental"]["mcpl"]
    return own


@pytest.mark.parametrize(("offer", "use", "method", "answer", "expected"), HOSTS)
async def test_a_server_makes_the_best_of_a_host_that_answers_in_its_own_way(
    offer: JsonObject, use: Use, method: str, answer: Any, expected: Any
) -> None:
    async with hosted(offer, {method: answer}) as (host, live):
        assert live.enabled == sorted(SETS)  # such a host sends no update, which leaves all on
        assert await outcome(use(live)) == expected
        assert len(await host.tells(method)) == 1
        assert (await host.ask(2, "ping"))["result"] == {}


async def test_ids_of_the_two_directions_have_nothing_to_do_with_each_other() -> None:
    """Both sides count, so the same number is under way in both directions."""
    async with hosted(HARNESS, {"push/event": NOTHING}) as (host, live):
        taken: list[Any] = []

        async def pushing() -> None:
            taken.append(await live.push("nope", "Now", attempts=1))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pushing)
            (pushed,) = await host.tells("push/event")
            assert (await host.ask(pushed["id"], "ping"))["result"] == {}
            assert taken == []
            host.say(id=pushed["id"], result={"accepted": True, "inferenceId": "inf_1"})
    assert taken == [mcpl.PushEventResult(accepted=True, inference_id="inf_1")]


async def test_the_harness_carries_state_as_it_came_and_publishes_piece_by_piece() -> None:
    """The state of a call is plain data in the request, and a checkpoint in the result."""
    notes = {"name": "add_note", "arguments": {"text": "tea", "place": "/home/a"}}
    host = Fake({"channels/register": {}})
    with anyio.fail_after(5):
        async with background() as tasks:
            tasks.start_soon(program.server.serve, host)
            await greeted(host, HARNESS)
            first = (await host.ask(2, "tools/call", notes))["result"]["state"]
            carried = {**notes, "state": first["data"], "scope": None, "unknown": 1}
            second = (await host.ask(3, "tools/call", carried))["result"]["state"]
            assert second["parent"] == first["checkpoint"]
            back = {"featureSet": "notes.edit", "checkpoint": first["checkpoint"]}
            assert (await host.ask(4, "state/rollback", back))["result"]["success"] is True
            piece = {"channelId": program.GENERAL.id, "content": "He", "stream": True}
            host.say(method="featureSets/update", params={})  # what it sends in place of none
            await host.tells("channels/register")
            host.say(method="channels/publish", params=piece)
            while ["publish", program.GENERAL.id, "He", True] not in program.heard:
                await anyio.lowlevel.checkpoint()
            host.hang_up()
