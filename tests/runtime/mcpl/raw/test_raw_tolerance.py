"""Mistakes of a peer cost only what is wrong, and nothing is sent that was not negotiated."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Context, Host, Server
from kinwire.mcpl import Channels, McplHost, McplServer, PushedEvent
from kinwire_protocols import mcpl
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import Message, RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

SETS: Message = {
    "memory": {"description": "Recall", "uses": ["contextHooks.beforeInference", "pushEvents"]}
}
HOOKS = {"version": "0.4", "contextHooks": {"beforeInference": True}, "featureSets": SETS}
BEFORE = mcpl.BeforeInferenceParams(
    inference_id="inf_1", conversation_id="conv_1", turn_index=0, model=mcpl.ModelInfo(id="m")
)


def injection(content: Any, **more: Any) -> Message:
    return {"namespace": "n", "position": "system", "content": content, **more}


@pytest.mark.spec("mcpl-10.4-1")
@against_raw_server
async def test_one_wrong_injection_loses_only_itself(
    connect: ConnectServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "kinwire.mcpl")
    live = McplHost(enabled=["*"])
    raw = RawServer(HOOKS)
    wrong = [5, injection("x", position="below"), {"content": "x"}, injection(7)]
    raw.answers["context/beforeInference"] = {
        "featureSet": "memory",
        "contextInjections": [injection("first"), *wrong, injection("last")],
    }
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw)
        found = await live.before_inference(BEFORE)
    texts = [block.text for one in found.system for block in one.content if block.type == "text"]
    assert texts == ["first", "last"]
    dropped = [one.getMessage() for one in caplog.records if "left out" in one.getMessage()]
    assert len(dropped) == len(wrong), dropped


@against_raw_host
async def test_requests_without_params_have_an_empty_object(connect: ConnectHost) -> None:
    live = McplServer(feature_sets={}, channels=[], model_info=True)
    server = Server("s", "1", extensions=[live])

    @server.tool
    async def ask(context: Context) -> None:
        """Ask for what needs no params."""
        host = live.of(context)
        assert host is not None
        await host.channels.listed()
        await host.model_info()

    host = await connect(server)
    host.answers |= {"channels/list": {"channels": []}, "model/info": {"id": "m"}}
    await host.open({"version": "0.4", "channels": {"register": True}, "modelInfo": True})
    assert "result" in await host.call("ask")
    assert host.params_of("channels/list") == host.params_of("model/info") == [{}]


@against_raw_server
async def test_our_host_lists_channels_with_an_empty_object(connect: ConnectServer) -> None:
    live = McplHost(channels=Channels())
    raw = RawServer({"version": "0.4", "channels": {"register": True}, "featureSets": {}})
    raw.answers["channels/list"] = {"channels": []}
    async with Host("h", "1", extensions=[live]) as host:
        server = live.of(await connect(host, raw))
        assert server is not None
        assert await server.channels.listed() == []
    assert raw.params_of("channels/list") == [{}]


@pytest.mark.spec("mcpl-11.2-3")
@pytest.mark.parametrize("streaming", [True, False])
@against_raw_host
async def test_a_stream_is_requested_only_if_it_was_negotiated(
    connect: ConnectHost, streaming: bool
) -> None:
    live = McplServer(feature_sets={"sum": feature("inferenceRequest")})
    server = Server("s", "1", extensions=[live])

    @server.tool
    async def summarize(context: Context) -> str:
        """Ask for an answer in pieces."""
        host = live.of(context)
        assert host is not None
        async with host.stream("sum", "much") as answer:
            return "".join([delta async for delta in answer])

    host = await connect(server)
    host.answers["inference/request"] = {
        "content": "Short",
        "model": "m",
        "finishReason": "end_turn",
    }
    offer = {"version": "0.4", "inferenceRequest": {"streaming": streaming}, "featureSets": True}
    await host.open(offer, update={"enabled": ["sum"]})
    assert "Short" in str((await host.call("summarize"))["result"])
    (params,) = host.params_of("inference/request")
    assert params.get("stream", False) is streaming


@against_raw_host
async def test_true_as_the_offer_of_a_host_is_no_offer(connect: ConnectHost) -> None:
    live = McplServer(feature_sets={"a": feature("pushEvents")}, model_info=True, channels=[])
    host = await connect(Server("s", "1", extensions=[live]))
    greeting = await host.open(True)
    assert "mcpl" not in greeting["capabilities"].get("experimental", {})
    await host.notify("featureSets/update", {"enabled": ["a"]})
    assert (await host.error("channels/list", {}))["code"] == -32601
    assert live.hosts == []


@against_raw_server
async def test_true_as_the_offer_of_a_server_is_no_offer(connect: ConnectServer) -> None:
    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        raise AssertionError

    live = McplHost(enabled=["*"], on_push=take, channels=Channels())
    raw = RawServer(True)
    async with Host("h", "1", extensions=[live]) as host:
        assert live.of(await connect(host, raw)) is None
        for method in ("push/event", "model/info", "channels/list"):
            assert (await raw.error(method, {}))["code"] == -32601
        assert raw.params_of("featureSets/update") == []
