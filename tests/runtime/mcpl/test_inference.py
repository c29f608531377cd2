"""Inference that a live server asks for: routed, in pieces, limited, stopped."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import CapabilityNotNegotiatedError, Context, Host, RpcError, Server
from kinwire.mcpl import (
    HostPeer,
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    ModelRequest,
    ProviderError,
    ScriptedProvider,
)
from kinwire.rpc.routes import Route
from kinwire.storage import open_store
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from kinwire_protocols.mcpl import RoutingPolicy, TokenUsage
from kinwire_protocols.mcpl.methods import INFERENCE_REQUEST
from tests.runtime.mcp.fake_client import RawClient, raw_client
from tests.runtime.mcpl.fixtures_pairs import MEMORY, Lives, live_pair, raw_server, sent

pytestmark = pytest.mark.anyio

SUMMARY = "Consolidated memory summary"
ANSWER = ModelAnswer(
    SUMMARY, "claude-haiku-4-5-20251001", "stop", TokenUsage(input_tokens=450, output_tokens=120)
)
SET = "memory.consolidation"
OnDelta = Callable[[str], Awaitable[None]] | None


@asynccontextmanager
async def inferring(
    provider: Any, routing: RoutingPolicy | None = None, **options: Any
) -> AsyncGenerator[tuple[HostPeer, Lives, McplHost]]:
    live = McplServer(feature_sets=MEMORY, model_info=True)
    policy = Inference(
        provider=provider, routing=routing or RoutingPolicy(default="haiku"), **options
    )
    mcpl_host = McplHost(enabled=["*"], inference=policy)
    async with live_pair(live, mcpl_host) as lives:
        await lives.connection.mcp.ping()
        yield live.hosts[0], lives, mcpl_host


@pytest.mark.spec("mcpl-11.1-1", "mcpl-11.3-1", "mcpl-11.3-2")
async def test_a_server_has_the_host_s_model_answer() -> None:
    provider = ScriptedProvider(ANSWER)
    async with inferring(provider) as (server, _, _host):
        result = await server.infer(SET, "Summarize", max_tokens=500, temperature=0.7)
    assert result.content == SUMMARY
    assert result.model == "claude-haiku-4-5-20251001"
    assert provider.requests == [
        ModelRequest("haiku", [mcpl.InferenceMessage(role="user", content="Summarize")], 500, 0.7)
    ]


@pytest.mark.spec("mcpl-11.3-3", "mcpl-11.3-4")
async def test_the_result_says_why_the_model_stopped_and_what_it_used() -> None:
    async with inferring(ScriptedProvider(ANSWER, ANSWER)) as (server, lives, host):
        result = await server.infer(SET, "Summarize")
        assert result.finish_reason == "end_turn"
        assert result.usage == TokenUsage(input_tokens=450, output_tokens=120)
        await server.infer(SET, "Summarize")
        assert host.usage == {
            (lives.server.key, SET): TokenUsage(input_tokens=900, output_tokens=240)
        }


@pytest.mark.spec("mcpl-11.4-1", "mcpl-11.4-2", "mcpl-11.4-3")
async def test_an_answer_comes_in_pieces_and_then_as_a_whole() -> None:
    async with inferring(ScriptedProvider(ANSWER)) as (server, (connection, _), _host):
        async with server.stream(SET, "Summarize") as answer:
            pieces = [delta async for delta in answer]
            assert answer.result.content == SUMMARY
        chunks = sent(connection, "client", "inference/chunk")
        (request,) = (
            message
            for message in map(json.loads, (frame.data for frame in connection.frames))
            if message.get("method") == "inference/request"
        )
    assert "".join(pieces) == SUMMARY
    assert [chunk["delta"] for chunk in chunks] == ["Consolidated ", "memory ", "summary"]
    assert [chunk["index"] for chunk in chunks] == [0, 1, 2]
    assert {chunk["requestId"] for chunk in chunks} == {request["id"]}
    assert request["params"]["stream"] is True


@pytest.mark.spec("mcpl-5.1-5", "mcpl-11.4-1")
async def test_a_server_that_does_not_offer_streaming_gets_no_pieces() -> None:
    deltas = list[OnDelta]()

    class Provider:
        async def answer(self, request: ModelRequest, on_delta: OnDelta) -> ModelAnswer:
            deltas.append(on_delta)
            return ANSWER

    asked = {"featureSet": "think", "stream": True, "messages": [{"role": "user", "content": "A"}]}
    policy = Inference(provider=Provider(), routing=RoutingPolicy(default="haiku"))
    for streaming in (False, True):
        offer = {
            "inferenceRequest": {"streaming": streaming},
            "featureSets": {"think": {"description": "T", "uses": ["inferenceRequest"]}},
        }
        live = McplHost(enabled=["*"], inference=policy)
        async with raw_server(offer) as raw, Host("h", "1", extensions=[live]) as opened:
            await opened.connect(raw.transport)
            answer = await raw.session.raw("inference/request", asked)
            assert answer["content"] == SUMMARY
    assert [one is None for one in deltas] == [True, False]


@pytest.mark.spec("mcpl-13.1-5")
async def test_what_one_server_has_used_is_reset_for_it_alone() -> None:
    offer = {
        "inferenceRequest": True,
        "featureSets": {"think": {"description": "T", "uses": ["inferenceRequest"]}},
    }
    asked = {"featureSet": "think", "messages": [{"role": "user", "content": "A"}]}
    policy = Inference(
        provider=ScriptedProvider(ANSWER, ANSWER), routing=RoutingPolicy(default="haiku")
    )
    async with open_store("memory:") as store:
        records = await store.records("mcpl")
        for again in (False, True):
            live = McplHost(enabled=["*"], inference=policy, records=records)
            async with (
                raw_server(offer) as one,
                raw_server(offer) as two,
                Host("h", "1", extensions=[live]) as opened,
            ):
                for name, raw in (("one", one), ("two", two)):
                    await opened.connect(raw.transport, server_id=name)
                    if not again:
                        await raw.session.raw("inference/request", asked)
                first, second = live.servers
                if not again:
                    await live.reset_usage(first)
                assert list(live.usage) == [(second.key, "think")]


@pytest.mark.spec("mcpl-11.2-3")
async def test_without_stream_no_chunks_come() -> None:
    async with inferring(ScriptedProvider(ANSWER)) as (server, (connection, _), _host):
        await server.infer(SET, "Summarize")
        assert sent(connection, "client", "inference/chunk") == []


class Parrot:
    """Answers with the question, when the test lets it."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.stopped: list[str] = []
        self.go_on = anyio.Event()

    async def answer(self, request: ModelRequest, on_delta: OnDelta) -> ModelAnswer:
        said = str(request.messages[0].content)
        self.begun.append(said)
        try:
            if on_delta is not None:
                await on_delta(said[0])
            await self.go_on.wait()
            for sign in said[1:]:
                if on_delta is not None:
                    await on_delta(sign)
        except BaseException:
            self.stopped.append(said)
            raise
        return ModelAnswer(said, request.model)


@pytest.mark.spec("mcpl-11.4-2")
async def test_two_concurrent_streams_do_not_mix() -> None:
    provider = Parrot()
    read: dict[str, str] = {}
    async with inferring(provider) as (server, _, _host):

        async def follow(text: str) -> None:
            async with server.stream(SET, text) as answer:
                read[text] = "".join([delta async for delta in answer])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, "abcdef")
            tasks.start_soon(follow, "uvwxyz")
            while len(provider.begun) < 2:
                await anyio.lowlevel.checkpoint()
            provider.go_on.set()
    assert read == {"abcdef": "abcdef", "uvwxyz": "uvwxyz"}


class Elsewhere:
    """A third-party host: it continues after a cancellation, and sends the given chunks."""

    def __init__(self) -> None:
        self.asked: dict[str, Any] = {}
        self.go_on = anyio.Event()

    async def answer(self, params: Any, request: Any) -> JsonObject:
        self.asked[params.messages[0].content] = request.id
        with anyio.CancelScope(shield=True):
            await self.go_on.wait()
        return {"content": "right", "model": "m", "finishReason": "stop"}

    async def was_asked(self, *questions: str) -> None:
        while not self.asked.keys() >= set(questions):
            await anyio.lowlevel.checkpoint()

    @asynccontextmanager
    async def hosting(self) -> AsyncGenerator[tuple[RawClient, HostPeer]]:
        live = McplServer(feature_sets=MEMORY)
        server = Server("memory", "1", extensions=[live])
        offer = {"experimental": {"mcpl": {"inferenceRequest": {"streaming": True}}}}
        routes = {INFERENCE_REQUEST.name: Route(INFERENCE_REQUEST, self.answer)}
        with anyio.fail_after(20):
            async with raw_client(server, routes) as client:
                await client.greet(offer)
                yield client, live.hosts[0]


async def pieces(client: RawClient, request_id: Any, *deltas: str) -> None:
    for index, delta in enumerate(deltas):
        chunk = {"requestId": request_id, "index": index, "delta": delta}
        await client.session.raw_notify("inference/chunk", chunk)


@pytest.mark.spec("mcpl-11.4-2")
async def test_pieces_of_an_answer_that_nobody_waits_for_are_nobody_elses() -> None:
    host = Elsewhere()
    async with host.hosting() as (client, server), anyio.create_task_group() as tasks:
        async with server.stream(SET, "left"):
            await host.was_asked("left")
        tasks.start_soon(server.infer, SET, "whole")
        async with server.stream(SET, "one") as one:
            await host.was_asked("whole", "one")
            for nobodys in (host.asked["left"], host.asked["whole"], 9999):
                await pieces(client, nobodys, "wrong", "wrong")
            await pieces(client, host.asked["one"], "ri", "ght")
            await client.session.raw("ping")
            host.go_on.set()
            assert [delta async for delta in one] == ["ri", "ght"]


async def test_streams_do_not_wait_for_one_another_to_begin() -> None:
    host = Elsewhere()
    async with (
        host.hosting() as (client, server),
        server.stream(SET, "one") as one,
        server.stream(SET, "other") as other,
    ):
        await host.was_asked("one", "other")
        await pieces(client, host.asked["other"], "righ", "t")
        await pieces(client, host.asked["one"], "ri", "ght")
        await client.session.raw("ping")
        host.go_on.set()
        assert [delta async for delta in one] == ["ri", "ght"]
        assert [delta async for delta in other] == ["righ", "t"]


@pytest.mark.spec("mcpl-11.4-1")
async def test_a_stream_that_is_left_stops_the_model_and_its_pieces() -> None:
    provider = Parrot()
    async with inferring(provider) as (server, (connection, _), _host):
        async with server.stream(SET, "abc") as answer:
            assert await anext(aiter(answer)) == "a"
        await connection.mcp.ping()
        while not provider.stopped:
            await anyio.lowlevel.checkpoint()
        provider.go_on.set()
        await connection.mcp.ping()
        assert len(sent(connection, "client", "inference/chunk")) == 1
        with pytest.raises(RuntimeError, match="still under way"):
            _ = answer.result
    assert provider.stopped == ["abc"]


@pytest.mark.spec("mcpl-11-1", "mcpl-abstract-4")
async def test_a_tool_can_wait_for_an_inference() -> None:
    live = McplServer(feature_sets=MEMORY)
    server = Server("memory", "1", extensions=[live])

    @server.tool
    async def consolidate(context: Context) -> str:
        """Summarize what is known."""
        host = live.of(context)
        assert host is not None
        async with host.stream(SET, "Summarize") as answer:
            return "".join([delta async for delta in answer])

    policy = Inference(provider=ScriptedProvider(ANSWER), routing=RoutingPolicy(default="haiku"))
    async with live_pair(live, McplHost(enabled=["*"], inference=policy), server) as lives:
        result = await lives.connection.mcp.tools_call(name="consolidate")
    assert getattr(result.content[0], "text", "") == SUMMARY


@pytest.mark.spec("mcpl-11.5-1", "mcpl-11.5-5", "mcpl-11.2-2")
async def test_models_are_chosen_by_server_set_and_conversation() -> None:
    provider = ScriptedProvider(*[ANSWER] * 3)
    routing = RoutingPolicy(
        default="haiku",
        by_feature={f"memory/{SET}": "sonnet"},
        overrides={"conversation:conv_123": "opus"},
    )
    async with inferring(provider, routing, larger={"sonnet": (1000, "large")}) as (server, _, _h):
        await server.infer(SET, "short")
        await server.infer(SET, "short", conversation_id="conv_123")
        await server.infer(SET, "x" * 4000)
    assert [one.model for one in provider.requests] == ["sonnet", "opus", "large"]


@pytest.mark.spec("mcpl-11.5-4", "mcpl-11.5-5")
async def test_a_conversation_that_got_a_larger_model_keeps_it() -> None:
    provider = ScriptedProvider(*[ANSWER] * 6)
    larger = {"haiku": (1000, "sonnet"), "sonnet": (4000, "large")}
    async with inferring(provider, larger=larger) as (server, _, _h):
        await server.infer(SET, "short", conversation_id="long")
        await server.infer(SET, "x" * 4000, conversation_id="long")
        await server.infer(SET, "short", conversation_id="long")
        await server.infer(SET, "x" * 16_000, conversation_id="long")
        await server.infer(SET, "short", conversation_id="other")
        await server.infer(SET, "short")
    models = [one.model for one in provider.requests]
    assert models == ["haiku", "sonnet", "sonnet", "large", "haiku", "haiku"]


@pytest.mark.spec("mcpl-11.5-5")
async def test_a_model_is_not_kept_longer_than_the_host_says() -> None:
    provider = ScriptedProvider(*[ANSWER] * 2)
    larger = {"haiku": (1000, "sonnet")}
    async with inferring(provider, larger=larger, pin_life=0) as (server, _, _h):
        await server.infer(SET, "x" * 4000, conversation_id="conv")
        await server.infer(SET, "short", conversation_id="conv")
    assert [one.model for one in provider.requests] == ["sonnet", "haiku"]


@pytest.mark.spec("mcpl-13.1-5")
async def test_missing_usage_is_estimated_and_not_sent() -> None:
    silent = ModelAnswer("x" * 350, "m")
    async with inferring(ScriptedProvider(silent), budgets={"*": 100}) as (server, _, host):
        assert (await server.infer(SET, "Summarize")).usage is None
        (used,) = host.usage.values()
        assert used.output_tokens > 100
        with pytest.raises(InternalError, match="budget_spent"):
            await server.infer(SET, "Summarize")


class Failing:
    """Says something, perhaps, and fails."""

    def __init__(self, said: str, error: Exception) -> None:
        self.said = said
        self.error = error

    async def answer(self, request: ModelRequest, on_delta: OnDelta) -> ModelAnswer:
        if self.said and on_delta is not None:
            await on_delta(self.said)
        raise self.error


@pytest.mark.spec("mcpl-13.1-5")
async def test_a_failure_costs_what_was_said_before_it() -> None:
    failure = ProviderError("provider_failed", "its stream was broken off")
    for said, counted in ("", 0), ("x" * 350, 1):
        async with inferring(Failing(said, failure)) as (server, _, host):
            with pytest.raises(InternalError, match="provider_failed"):
                async with server.stream(SET, "Summarize") as answer:
                    assert "".join([delta async for delta in answer]) == said
            assert len(host.usage) == counted
            assert all(one.output_tokens > 100 for one in host.usage.values())


async def test_what_cannot_be_run_is_an_error_that_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def reason(server: HostPeer) -> Any:
        with pytest.raises(InternalError) as raised:
            await server.infer(SET, "Summarize")
        return raised.value.data["reason"]

    async with inferring(ScriptedProvider(), RoutingPolicy(default="")) as (server, _, _h):
        assert await reason(server) == "no_route"
    async with inferring(ScriptedProvider()) as (server, _, _h):  # no answer is left
        assert await reason(server) == "provider_failed"
    async with inferring(ScriptedProvider(ANSWER), budgets={"memory.*": 500}) as (server, _, _h):
        await server.infer(SET, "Summarize")
        assert await reason(server) == "budget_spent"
    async with inferring(Parrot(), timeout=0.01) as (server, _, _h):
        assert await reason(server) == "timeout"
        with pytest.raises(InternalError):
            async with server.stream(SET, "Summarize") as answer:
                assert [delta async for delta in answer]
    async with (
        inferring(Parrot(), at_once=1) as (server, _, _h),
        server.stream(SET, "Summarize") as answer,
    ):
        assert await anext(answer) == "S"
        assert await reason(server) == "busy"
    assert "the script has no answer left" in caplog.text


@pytest.mark.spec("mcpl-11.5-2", "mcpl-13.1-5")
async def test_a_set_that_is_off_or_does_not_infer_gets_nothing() -> None:
    provider = ScriptedProvider(ANSWER)
    async with inferring(provider) as (server, (connection, live), _host):
        with pytest.raises(mcpl.FeatureSetNotEnabledError, match="uses inferenceRequest"):
            await server.infer("memory.proactive", "Summarize")
        await live.disable(SET)
        with pytest.raises(mcpl.FeatureSetNotEnabledError):
            await server.session.raw(
                "inference/request",
                {"featureSet": SET, "messages": [{"role": "user", "content": "x"}]},
            )
        await connection.mcp.ping()
    assert provider.requests == []


@pytest.mark.spec("mcpl-11.2-1", "mcpl-11.2-4")
async def test_a_request_without_set_or_messages_is_invalid() -> None:
    async with inferring(ScriptedProvider()) as (server, _, _host):
        for params, message in (
            ({"messages": []}, "/featureSet: expected"),
            ({"featureSet": SET}, "/messages: expected"),
        ):
            with pytest.raises(InvalidParamsError, match=message):
                await server.session.raw("inference/request", params)


@pytest.mark.spec("mcpl-12-1", "mcpl-12.1-1", "mcpl-12.2-1")
async def test_a_server_can_ask_which_model_runs() -> None:
    model = mcpl.ModelInfo(
        id="claude-opus-4-5-20251101",
        vendor="anthropic",
        context_window=200_000,
        capabilities=["vision", "tools"],
    )
    async with inferring(ScriptedProvider(), model=model) as (server, (connection, _), _host):
        assert await server.model_info() == model
        assert sent(connection, "server", "model/info") == [{}]
    async with inferring(ScriptedProvider()) as (server, _, _host):
        with pytest.raises(RpcError) as raised:
            await server.model_info()
    assert raised.value.code == -32601


async def test_a_host_without_a_model_is_not_asked() -> None:
    live = McplServer(feature_sets=MEMORY)
    async with live_pair(live, McplHost(enabled=["*"])) as (connection, _):
        await connection.mcp.ping()
        with pytest.raises(CapabilityNotNegotiatedError):
            await live.hosts[0].infer(SET, "Summarize")


async def test_other_hosts_may_use_unknown_stop_reasons_and_no_usage() -> None:
    async def answer(params: Any, request: Any) -> JsonObject:
        return {"content": "x", "model": "m", "finishReason": "stop"}

    live = McplServer(feature_sets=MEMORY)
    server = Server("memory", "1", extensions=[live])
    offer = {"experimental": {"mcpl": {"inferenceRequest": True}}}
    routes = {INFERENCE_REQUEST.name: Route(INFERENCE_REQUEST, answer)}
    with anyio.fail_after(20):
        async with raw_client(server, routes) as client:
            await client.greet(offer)
            async with live.hosts[0].stream(SET, "x") as stream:
                assert [delta async for delta in stream] == ["x"]
                assert stream.result.finish_reason == "stop"
