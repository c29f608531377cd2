"""A host's own function that returns nothing is reported by name, and has no effect."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcpl import Channels, HostPeer, Inference, McplHost, McplServer, Scopes
from kinwire.mcpl.rules.content import blocks_of
from kinwire_protocols import mcpl
from kinwire_protocols.jsonrpc.errors import InternalError
from tests.runtime.mcpl.fixtures_pairs import feature, live_pair

pytestmark = pytest.mark.anyio

SETS = {"a": feature("pushEvents", "inferenceRequest", scoped=True)}
CHANNEL = mcpl.ChannelDescriptor(id="c", type="chat", label="c", direction="bidirectional")


async def nothing(*given: Any) -> Any:
    """Forget to return."""


class Mute:
    answer = staticmethod(nothing)


async def push(host: HostPeer) -> bool:
    with pytest.raises(InternalError):
        await host.push("a", "x", event_id="1")
    return False


async def infer(host: HostPeer) -> bool:
    with pytest.raises(InternalError):
        await host.infer("a", "x")
    return False


async def elevate(host: HostPeer) -> Any:
    params = {"featureSet": "a", "scope": {"label": "x"}}
    return (await host.session.raw("scope/elevate", params))["approved"]


async def write(host: HostPeer) -> Any:
    await host.channels.register(CHANNEL)
    message = mcpl.IncomingMessage(channel_id="c", message_id="1", content=blocks_of("x"))
    (outcome,) = await host.channels.incoming(message)
    return outcome.accepted


MUTE = Inference(provider=Mute(), routing=mcpl.RoutingPolicy(default="m"))
FORGETFUL: list[tuple[dict[str, Any], Any, str]] = [
    ({"on_push": nothing}, push, "McplHost.on_push: expected PushEventResult"),
    ({"inference": MUTE}, infer, "Provider.answer: expected ModelAnswer"),
    ({"scopes": Scopes(ask=nothing)}, elevate, "Scopes.ask: expected ScopeAnswer"),
    (
        {"channels": Channels(on_message=nothing)},
        write,
        "Channels.on_message: expected MessageDecision",
    ),
]


@pytest.mark.parametrize(
    ("options", "use", "message"), FORGETFUL, ids=["push", "provider", "ask", "message"]
)
async def test_a_function_that_returns_nothing_is_reported_by_name(
    options: dict[str, Any], use: Any, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    live = McplServer(feature_sets=SETS, channels=[])
    async with live_pair(live, McplHost(enabled=["*"], **options)) as (connection, _):
        await connection.mcp.ping()
        assert await use(live.hosts[0]) is False
    assert message in caplog.text
    assert "got NoneType. Return one in every case." in caplog.text


async def test_a_plain_function_is_reported_by_name(caplog: pytest.LogCaptureFixture) -> None:
    def plain(event: Any) -> Any:
        return mcpl.PushEventResult(accepted=True)

    live = McplServer(feature_sets=SETS)
    async with live_pair(live, McplHost(enabled=["*"], on_push=plain)) as (connection, _):
        await connection.mcp.ping()
        assert await push(live.hosts[0]) is False
    expected = "McplHost.on_push: expected an async function, got a plain one. Define it with"
    assert expected in caplog.text
