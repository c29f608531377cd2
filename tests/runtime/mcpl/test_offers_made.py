"""What servers offer on the wire, what hosts make of it, and what channels come of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from kinwire import Host, RpcError
from kinwire.mcpl import (
    Channels,
    McplHost,
    McplServer,
    PushedEvent,
)
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.mcpl import models
from kinwire_protocols.mcpl.tables import USES
from tests.runtime.mcpl.fixtures_chat import GENERAL, INBOX, NEWS, Chat, News, chatting, message
from tests.runtime.mcpl.fixtures_pairs import MEMORY, feature, live_pair, raw_server, sent

pytestmark = pytest.mark.anyio


def offered(connection: Any) -> JsonObject:
    found: JsonObject = (connection.greeting.capabilities.experimental or {})["mcpl"]
    return found


def hooking(**options: Any) -> McplServer:
    live = McplServer(feature_sets={}, **options)

    @live.on.context_before_inference
    async def inject(params: mcpl.BeforeInferenceParams) -> mcpl.BeforeInferenceResult:
        return mcpl.BeforeInferenceResult()

    @live.on.context_after_inference
    async def change(params: mcpl.AfterInferenceParams) -> mcpl.AfterInferenceResult:
        return mcpl.AfterInferenceResult()

    return live


def using(*uses: str) -> McplServer:
    return McplServer(feature_sets={"a": feature(*uses)})


def of(row: str, name: str, *members: Any) -> Any:
    return pytest.param(name, *members, marks=pytest.mark.spec(f"mcpl-{row}"), id=name)


OFFERS = [
    of("5.1-3", "pushEvents", lambda: using("pushEvents"), True),
    of(
        "5.1-4",
        "contextHooks",
        hooking,
        {"beforeInference": True, "afterInference": {"blocking": False}},
    ),
    of("5.1-5", "inferenceRequest", lambda: using("inferenceRequest"), {"streaming": True}),
    of("5.1-6", "modelInfo", lambda: McplServer(feature_sets={}, model_info=True), True),
]


@pytest.mark.parametrize(("member", "server", "value"), OFFERS)
async def test_a_server_offers_what_it_does_in_the_shape_of_the_text(
    member: str, server: Callable[[], McplServer], value: Any
) -> None:
    async with live_pair(using("tools"), McplHost()) as (connection, _):
        assert member not in offered(connection)
    async with live_pair(server(), McplHost()) as (connection, _):
        assert offered(connection)[member] == value
    async with live_pair(hooking(blocking=True), McplHost()) as (connection, _):
        assert offered(connection)["contextHooks"]["afterInference"] == {"blocking": True}


@pytest.mark.spec("mcpl-3.1-2", "mcpl-5.1-7", "mcpl-6.1-1")
async def test_sets_are_offered_by_name_with_what_they_are_for_and_known_so() -> None:
    live = hooking(also_uses=("pushEvents", "inferenceRequest"))
    async with live_pair(live, McplHost()) as (connection, _):
        expected = {"version", "pushEvents", "contextHooks", "inferenceRequest", "featureSets"}
        assert offered(connection).keys() == expected
    async with live_pair(McplServer(feature_sets=MEMORY), McplHost()) as (connection, side):
        assert offered(connection)["featureSets"] == {
            name: {"description": one.description, "uses": one.uses} for name, one in MEMORY.items()
        }
        assert side.feature_sets == MEMORY


BROKEN = [
    of("6.2-1", "no description", {"uses": ["pushEvents"]}),
    of("6.2-1", "a number", {"description": 5, "uses": ["pushEvents"]}),
    of("6.2-2", "no uses", {"description": "A"}),
    of("6.2-2", "one use", {"description": "A", "uses": "pushEvents"}),
    of("B.2-1", "uses that are not strings", {"description": "A", "uses": [1]}),
]


@pytest.mark.parametrize(("name", "broken"), BROKEN)
async def test_an_invalid_set_is_left_out_and_refused_where_it_is_named(
    name: str, broken: JsonObject, caplog: pytest.LogCaptureFixture
) -> None:
    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        return mcpl.PushEventResult(accepted=True)

    sets = {name: broken, "whole": {"description": "A", "uses": ["pushEvents"]}}
    live = McplHost(enabled=["*"], on_push=take)
    offer = {"pushEvents": True, "featureSets": sets}
    async with raw_server(offer) as raw, Host("h", "1", extensions=[live]) as host:
        side = live.of(await host.connect(raw.transport))
        assert side is not None
        assert side.enabled == ["whole"]
        event = {"eventId": "e", "timestamp": "2026-01-23T10:30Z", "payload": {"content": ""}}
        with pytest.raises(RpcError) as raised:
            await raw.session.raw("push/event", {**event, "featureSet": name})
        assert raised.value.code == -32003
        assert (await raw.session.raw("push/event", {**event, "featureSet": "whole"}))["accepted"]
    assert f"featureSets/{name}" in caplog.text


@pytest.mark.spec("mcpl-6.2-3", "mcpl-B.2-1")
async def test_seven_uses_are_known_and_another_one_is_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    known = get_args(models.FeatureSetUse.__value__)
    assert (*known,) == (*USES,)
    assert len(known) == 7
    sets = {use: {"description": "A", "uses": [use]} for use in (*known, "telepathy")}
    live = McplHost(enabled=["*"])
    async with raw_server({"featureSets": sets}) as raw, Host("h", "1", extensions=[live]) as host:
        side = live.of(await host.connect(raw.transport))
        assert side is not None
        assert len(side.enabled) == 8
        assert [side.feature_sets[use].uses for use in known] == [[use] for use in known]
    (told,) = (one for one in caplog.messages if "is not a known use" in one)
    assert "'telepathy'" in told


@pytest.mark.spec("mcpl-14.1-3")
async def test_channels_are_published_to_and_observed_by_sets_that_use_that() -> None:
    async def outcome(*uses: str) -> tuple[bool, bool]:
        off = {"b": feature("channels.publish"), "c": feature("channels.observe")}
        chat = Chat(sets={"a": feature(*uses), **off})
        async with chatting(chat, enabled=["a"]) as (_, (_connection, live), side):
            (taken,) = await side.channels.incoming(message(1))
            try:
                await live.channels.publish(GENERAL.id, "Hello")
            except mcpl.ChannelNotPermittedError:
                return False, taken.accepted
            return True, taken.accepted

    assert await outcome("channels.publish") == (True, False)
    assert await outcome("channels.observe") == (False, True)
    assert await outcome("tools") == (False, False)


NINE = "register changed list open close outgoing/chunk outgoing/complete publish incoming"


@pytest.mark.spec("mcpl-0.4.0-draft-march-2026-1")
async def test_a_session_of_channels_speaks_the_nine_methods() -> None:
    news = News()
    policy = news.policy(default_outgoing=("chat", GENERAL.id))
    async with chatting(Chat(), policy) as (host, (connection, live), side):
        await side.channels.change(updated=[NEWS.model_copy(update={"label": "n"})])
        await side.channels.listed()
        await live.channels.listed()
        opened = await live.channels.open("discord", {"guild": "acme", "channel": "#x"})
        await live.channels.close(opened.id)
        outcomes = await side.channels.incoming(message(1), message(2, INBOX.id))
        response = await host.channels.write("conv_1", inference_id="inf_1")
        await response.write("Hel")
        await response.finish("Hello")
        await connection.mcp.ping()
        spoken = {
            name.removeprefix("channels/")
            for name in mcpl.PROTOCOL.methods
            if name.startswith("channels/")
            and (sent(connection, "client", name) or sent(connection, "server", name))
        }
    assert [one.accepted for one in outcomes] == [True, True]
    assert spoken == set(NINE.split())


@pytest.mark.spec("mcpl-0.4.0-draft-march-2026-2")
async def test_the_default_path_of_a_host_is_not_sent() -> None:
    async def told(**policy: Any) -> list[Any]:
        chat = Chat()
        async with chatting(chat, Channels(**policy)) as (host, (connection, live), side):
            frames = [one.data for one in connection.frames]
            for name in ("channels/default", "channels/setDefault"):
                for session in (live.session, side.session):
                    with pytest.raises(MethodNotFoundError):
                        await session.raw(name, {"channelId": GENERAL.id})
            if policy:
                response = await host.channels.write("conv_1", inference_id="inf_1")
                await response.finish("Hello")
                assert chat.delivered == [(NEWS.id, "Hello")]
        return frames

    assert await told(default_outgoing=("chat", NEWS.id)) == await told()
