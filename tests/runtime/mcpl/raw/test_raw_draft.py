"""Peers of MCPL 0.5, an upstream draft, are understood where the draft fits into 0.4."""

from __future__ import annotations

from kinwire import Context, Host, Server
from kinwire.mcpl import McplHost, McplServer
from kinwire.mcpl.rules.offers import read_offer, uses_in
from kinwire_protocols import mcpl
from tests.each import each
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import Error, Message, RawHost, RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

OFFER = {"version": "0.5", "pushEvents": True, "featureSets": True}
SIGNALS = ("channels/typing", "channels/acknowledge")


@against_raw_host
async def test_an_update_that_is_a_request_is_obeyed_and_answered(connect: ConnectHost) -> None:
    live = McplServer(feature_sets={"a": feature("pushEvents"), "b": feature("pushEvents")})
    host = await connect(Server("s", "1", extensions=[live]))
    await host.open(OFFER)
    update = {"enabled": ["a"], "disabled": ["b"], "effectiveCapabilities": {"pushEvents": True}}
    assert await host.result("featureSets/update", update) == {"accepted": True}
    assert live.hosts[0].enabled == ["a"]
    await host.notify("featureSets/update", {"enabled": ["b"]})  # as in 0.4
    await host.settle()
    assert live.hosts[0].enabled == ["a", "b"]


@against_raw_host
async def test_our_server_accepts_signals_of_channels(connect: ConnectHost) -> None:
    host = await connect(Server("s", "1", extensions=[McplServer(feature_sets={})]))
    await host.open(OFFER)
    await accepts_signals(host)


@against_raw_server
async def test_our_host_accepts_signals_of_channels(connect: ConnectServer) -> None:
    raw = RawServer({**OFFER, "featureSets": {}})
    async with Host("h", "1", extensions=[McplHost()]) as host:
        await connect(host, raw)
        await accepts_signals(raw)


async def accepts_signals(peer: RawHost | RawServer) -> None:
    params: Message = {"channelId": "c", "until": "2026-01-23T10:30:00Z"}
    for method in SIGNALS:
        assert await peer.result(method, params) == {}
        await peer.notify(method, params)
    await peer.settle()


@against_raw_host(wires=("memory",))
async def test_a_denied_capability_is_an_error_of_its_own(connect: ConnectHost) -> None:
    live = McplServer(feature_sets={"a": feature("pushEvents")})
    server = Server("s", "1", extensions=[live])
    errors: list[Exception] = []

    @server.tool
    async def ring(context: Context) -> None:
        """Push an event."""
        host = live.of(context)
        assert host is not None
        try:
            await host.push("a", "Ring")
        except mcpl.CapabilityDeniedError as error:
            errors.append(error)

    host = await connect(server)
    host.answers["push/event"] = Error(-32002, "Capability denied")
    await host.open(OFFER, update={"enabled": ["a"]})
    await host.call("ring")
    assert len(errors) == 1


HOOKS = ["contextHooks.beforeInference", "contextHooks.afterInference"]
CHANNELS = ["channels.publish", "channels.observe"]
PATHS = [
    ("pushEvents", ["pushEvents"]),
    ("pushEvents.webhook", ["pushEvents"]),
    ("contextHooks", HOOKS),
    ("contextHooks.*", HOOKS),
    ("contextHooks.beforeInference.userMessage", HOOKS[:1]),
    ("channels", CHANNELS),
    ("*.publish", ["channels.publish"]),
    ("channelsX", []),
    ("mcpl.pushEvents", []),
    ("", []),
]


@each(("path", "uses"), PATHS)
def test_a_path_is_read_as_the_uses_that_it_contains(path: str, uses: list[str]) -> None:
    assert uses_in(path) == uses


def test_sets_keep_their_paths_and_get_the_uses() -> None:
    declared = {"description": "A", "uses": ["contextHooks.*", "tools", "magic"]}
    offer = read_offer({"version": "0.5", "featureSets": {"a": declared}})
    assert offer.feature_sets["a"].uses == ["contextHooks.*", "tools", "magic", *HOOKS]
    assert [one for one in offer.warnings if "is not a known use" in one] == [
        "featureSets/a/uses: 'magic' is not a known use"
    ]


@against_raw_server
async def test_a_server_with_paths_takes_part_in_hooks(connect: ConnectServer) -> None:
    live = McplHost(enabled=["*"])
    raw = RawServer(
        {
            "version": "0.5",
            "contextHooks": True,
            "featureSets": {"a": {"description": "A", "uses": ["contextHooks"]}},
        }
    )
    raw.answers["context/beforeInference"] = {}
    before = mcpl.BeforeInferenceParams(
        inference_id="i", conversation_id="c", turn_index=0, model=mcpl.ModelInfo(id="m")
    )
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw)
        await live.before_inference(before)
    assert len(raw.params_of("context/beforeInference")) == 1
