"""What a server of ours asks of a host: what it may send, and what it makes of the answer."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Context, Server
from kinwire.mcpl import McplServer, Outbox
from kinwire_protocols import mcpl
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp import TextContent
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import VERSION, Error, Message
from tests.runtime.mcpl.raw.scenarios import ConnectHost, against_raw_host

ROOM = mcpl.ChannelDescriptor(id="chat:1", type="chat", label="1", direction="inbound")
OTHER = ROOM.model_copy(update={"id": "chat:2"})
OFFER: Message = {
    "version": "0.4",
    "pushEvents": True,
    "inferenceRequest": {"streaming": False},
    "channels": {"register": True},
    "featureSets": True,
}


def asking() -> tuple[McplServer, Server]:
    live = McplServer(feature_sets={"a": feature("pushEvents", "inferenceRequest")}, channels=[])
    return live, Server("s", "1", extensions=[live])


@pytest.mark.spec("mcpl-5.2-1", "mcpl-6.5-1", "mcpl-14.3-12")
@pytest.mark.parametrize("left_out", ["", "pushEvents", "channels"])
@against_raw_host(wires=["memory"])
async def test_a_host_takes_what_it_offers_once_the_handshake_has_ended(
    connect: ConnectHost, left_out: str
) -> None:
    live = McplServer(feature_sets={"a": feature("pushEvents")}, channels=[ROOM])
    host = await connect(Server("s", "1", extensions=[live]))
    host.answers["channels/register"] = {}
    offer = {name: one for name, one in OFFER.items() if name != left_out}
    hello = {"protocolVersion": VERSION, "clientInfo": {"name": "h", "version": "0"}}
    await host.result("initialize", {**hello, "capabilities": {"experimental": {"mcpl": offer}}})
    (peer,) = live.hosts
    assert not peer.may_push("a")
    await host.notify("notifications/initialized")
    await host.settle()
    assert peer.may_push("a") is (left_out != "pushEvents")
    assert peer.may_bring("chat:1") is (left_out != "channels")
    assert not peer.may_bring("chat:unknown")
    await host.notify("featureSets/update", {"disabled": ["a"]})
    await host.settle()
    assert not peer.may_push("a")


REFUSED = {"accepted": False, "reason": "not wanted"}


@pytest.mark.spec("mcpl-9.3-1", "mcpl-9.3-3", "mcpl-9.4-2")
@pytest.mark.parametrize(
    ("second", "expected"),
    [({"accepted": False, "reason": "duplicate"}, {"accepted": True}), (REFUSED, REFUSED)],
)
@against_raw_host(wires=["memory"])
async def test_only_a_duplicate_of_a_repeated_event_counts_as_accepted(
    connect: ConnectHost, second: Message, expected: Message
) -> None:
    live, server = asking()
    answers = iter([{"accepted": False, "reason": "backpressure"}, second])
    host = await connect(server)
    host.answers["push/event"] = lambda params: next(answers)
    await host.open(OFFER, update={"enabled": ["a"]})
    await host.settle()
    answer = await live.hosts[0].push("a", "Now", first_delay=0)
    assert answer == mcpl.PushEventResult(**expected)
    first, again = host.params_of("push/event")
    assert first == again


@pytest.mark.spec("mcpl-11.2-5", "mcpl-11.2-6")
@pytest.mark.parametrize(
    ("options", "preferences"),
    [
        ({}, None),
        ({"max_tokens": 5}, {"maxTokens": 5}),
        ({"temperature": 0.5, "timeout": None}, {"temperature": 0.5}),
    ],
)
@against_raw_host(wires=["memory"])
async def test_an_inference_request_has_the_preferences_that_were_given(
    connect: ConnectHost, options: Any, preferences: Any
) -> None:
    live, server = asking()
    host = await connect(server)
    host.answers["inference/request"] = {"content": "x", "model": "m", "finishReason": "end_turn"}
    await host.open(OFFER, update={"enabled": ["a"]})
    await host.settle()
    assert (await live.hosts[0].infer("a", "Why?", **options)).content == "x"
    assert [one.get("preferences") for one in host.params_of("inference/request")] == [preferences]


@pytest.mark.spec("mcpl-6.7-1")
@pytest.mark.parametrize(
    ("returned", "answer"),
    [
        (None, {"accepted": True}),
        (mcpl.FeatureSetsUpdateResult(accepted=False), {"accepted": False}),
    ],
)
@against_raw_host(wires=["memory"])
async def test_the_handler_of_an_update_may_answer(
    connect: ConnectHost, returned: Any, answer: Message
) -> None:
    live, server = asking()

    @live.on.feature_sets_update
    async def updated(params: mcpl.FeatureSetsUpdateParams) -> Any:
        return returned

    host = await connect(server)
    await host.open(OFFER)
    assert await host.result("featureSets/update", {"enabled": ["a"]}) == answer


@pytest.mark.spec("mcpl-6.7-4", "mcpl-6.7-5")
@against_raw_host(wires=["memory"])
async def test_a_change_names_only_what_was_added_or_removed(connect: ConnectHost) -> None:
    live, server = asking()
    host = await connect(server)
    await host.open(OFFER)
    await host.settle()
    await live.change(added={"b": feature("tools")})
    await live.change(removed=["b"])
    await host.settle()
    added = {"b": {"description": "A set", "uses": ["tools"]}}
    assert host.params_of("featureSets/changed") == [{"added": added}, {"removed": ["b"]}]


@pytest.mark.spec("mcpl-14.1-2")
@pytest.mark.parametrize("served", [["open"], ["close"], ["open", "close"]])
@against_raw_host(wires=["memory"])
async def test_channels_have_a_lifecycle_if_they_are_opened_and_closed(
    connect: ConnectHost, served: list[str]
) -> None:
    live, server = asking()

    async def serve(params: Any) -> Any:
        raise AssertionError

    for name in served:
        getattr(live.on, f"channels_{name}")(serve)
    host = await connect(server)
    offer = (await host.open(OFFER))["capabilities"]["experimental"]["mcpl"]
    assert offer["channels"]["lifecycle"] is (len(served) == 2)


@pytest.mark.spec("mcpl-14.3-1", "mcpl-14.2-1")
@against_raw_host(wires=["memory"])
async def test_a_refused_registration_leaves_the_earlier_channel(connect: ConnectHost) -> None:
    live, server = asking()
    host = await connect(server)
    host.answers["channels/register"] = {}
    await host.open(OFFER)
    await host.settle()
    channels = live.hosts[0].channels
    await channels.register(ROOM)
    host.answers["channels/register"] = Error(-32602, "No")
    with pytest.raises(InvalidParamsError):
        await channels.register(ROOM.model_copy(update={"label": "new"}), OTHER)
    assert channels.known == [ROOM]


@pytest.mark.spec("mcpl-7.7-1", "mcpl-6-1")
@against_raw_host(wires=["memory"])
async def test_a_strict_server_wants_a_scope_for_scoped_tools_only(
    connect: ConnectHost, caplog: pytest.LogCaptureFixture
) -> None:
    live = McplServer(
        feature_sets={"scoped": feature("tools", scoped=True), "free": feature("tools")},
        tools={"move": "scoped", "look": "free"},
        strict_scopes=True,
    )
    server = Server("s", "1", extensions=[live], page_size=1)

    @server.tool
    async def move(context: Context) -> None:
        """Move."""
        live.state_of(context).save({"moved": True})

    @server.tool
    async def look() -> None:
        """Look."""

    @server.tool
    async def wait(context: Context) -> None:
        """Wait."""
        live.state_of(context).save({"waited": True})

    host = await connect(server)
    await host.open(OFFER, update={"enabled": ["*"]})
    assert (await host.call("move"))["error"]["code"] == -32602
    moved = await host.call("move", scope={"label": "x"})
    assert moved["result"]["state"]["data"] == {"moved": True}
    assert "state" not in (await host.call("look"))["result"]
    assert "state" not in (await host.call("wait"))["result"]  # it has no set to keep it for
    page = await host.result("tools/list", {})
    while "nextCursor" in page:
        page = await host.result("tools/list", {"cursor": page["nextCursor"]})
    assert caplog.messages == []  # no page lists all tools, so none is reported as missing


@pytest.mark.spec("mcpl-9.4-2")
@against_raw_host(wires=["memory"])
async def test_a_refusal_without_a_callback_is_logged_by_its_id(
    connect: ConnectHost, caplog: pytest.LogCaptureFixture
) -> None:
    live = McplServer(feature_sets={"a": feature("pushEvents")}, channels=[ROOM])
    outbox = Outbox(live)
    host = await connect(Server("s", "1", extensions=[live]))
    host.answers |= {"push/event": REFUSED, "channels/register": {}}
    outcome = {"messageId": "m1", "accepted": False, "reason": "not wanted"}
    host.answers["channels/incoming"] = {"results": [outcome]}
    await host.open(OFFER, update={"enabled": ["a"]})
    await outbox.push("a", "Now", event_id="e1")
    await outbox.drain()
    text: list[mcpl.Block] = [TextContent(text="Hello")]
    await outbox.incoming(mcpl.IncomingMessage(channel_id="chat:1", message_id="m1", content=text))
    await outbox.drain()
    refused = [f"{name} was refused: not wanted" for name in ("event 'e1'", "message 'm1'")]
    assert caplog.messages == refused


CHANGED = mcpl.AfterInferenceResult(feature_set="a", modified_response="new")
UNCHANGED = mcpl.AfterInferenceResult(feature_set="a")


@pytest.mark.spec("mcpl-10.5-2", "mcpl-10.5-6")
@pytest.mark.parametrize(
    ("blocking", "waits", "returned", "warnings"),
    [
        (False, False, CHANGED, 1),
        (False, False, UNCHANGED, 0),
        (False, False, None, 0),
        (False, True, CHANGED, 0),
        (True, False, CHANGED, 0),
    ],
)
@against_raw_host(wires=["memory"])
async def test_a_change_of_a_response_that_no_host_waits_for_is_reported(
    connect: ConnectHost,
    caplog: pytest.LogCaptureFixture,
    blocking: bool,
    waits: bool,
    returned: Any,
    warnings: int,
) -> None:
    sets = {"a": feature("contextHooks.afterInference")}
    live = McplServer(feature_sets=sets, blocking=blocking)

    @live.on.context_after_inference
    async def change(params: mcpl.AfterInferenceParams) -> Any:
        return returned

    host = await connect(Server("s", "1", extensions=[live]))
    hooks = {"contextHooks": {"afterInference": {"blocking": True}}}
    await host.open({**OFFER, **hooks}, update={"enabled": ["a"]})
    turn = {"inferenceId": "i", "conversationId": "c", "turnIndex": 0, "userMessage": "Why?"}
    params = {**turn, "model": {"id": "m"}, "assistantMessage": "old"}
    if waits:
        answer = await host.result("context/afterInference", params)
        assert answer["modifiedResponse"] == "new"
    else:
        await host.notify("context/afterInference", params)
    await host.settle()
    assert len([one for one in caplog.messages if "no host waits" in one]) == warnings
    assert len(caplog.messages) == warnings
