"""The two servers of section 15, built as a user would, and held by one host."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import pytest

from kinwire import Host, Server
from kinwire.mcpl import (
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    PushedEvent,
    ScriptedProvider,
    ServerPeer,
)
from kinwire.support.background import background
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import JsonObject, to_wire
from tests.runtime.transports.fixtures_recorded import Recorded
from tests.spec.fenced import at, blocks_of, values_of
from tests.spec.texts import text_of

pytestmark = pytest.mark.anyio

USES = {
    "memory.retrieval": ("Retrieve relevant memories", "contextHooks.beforeInference"),
    "memory.extraction": ("Learn from conversations", "contextHooks.afterInference"),
    "memory.consolidation": ("Summarize memories using AI", "inferenceRequest"),
    "memory.proactive": ("Surface reminders proactively", "pushEvents"),
}
KNOWN = (
    "<memories>\nScaling mannequin installation to 8-10 units. "
    "DMX lighting, X32 audio routing.\n</memories>"
)
SECRET, SHOWN = "The API key is sk-1234567890abcdef...", "The API key is [REDACTED]..."
MODEL = mcpl.ModelInfo(
    id="claude-opus-4-5-20251101",
    vendor="anthropic",
    context_window=200_000,
    capabilities=["vision"],
)


def blocks_below(heading: str) -> list[list[Any]]:
    """Return what the blocks of a part of section 15 have written down."""
    found = text_of("mcpl")
    begin = found.index(f"### {heading}")
    end = min(place for mark in ("\n### ", "\n## ") if (place := found.find(mark, begin + 1)) > 0)
    return [values_of(one) for one in blocks_of("# \n" + found[begin:end])]


def memory_server() -> tuple[McplServer, Server]:
    sets = {name: mcpl.FeatureSet(description=one, uses=[use]) for name, (one, use) in USES.items()}
    live = McplServer(feature_sets=sets)

    @live.on.context_before_inference
    async def recall(params: mcpl.BeforeInferenceParams) -> mcpl.BeforeInferenceResult:
        injection = mcpl.ContextInjection(
            namespace="memory",
            position="system",
            content=[mcp.TextContent(text=KNOWN)],
            metadata={"memoryIds": ["mem_a1", "mem_a2"]},
        )
        return mcpl.BeforeInferenceResult(
            feature_set="memory.retrieval", context_injections=[injection]
        )

    @live.on.context_after_inference
    async def learn(params: mcpl.AfterInferenceParams) -> mcpl.AfterInferenceResult:
        return mcpl.AfterInferenceResult()

    return live, Server("memory", "1", extensions=[live])


def compliance_server() -> tuple[McplServer, Server]:
    declared = mcpl.FeatureSet(
        description="Redact secrets and PII from responses", uses=["contextHooks.afterInference"]
    )
    live = McplServer(feature_sets={"compliance.redaction": declared}, blocking=True)

    @live.on.context_after_inference
    async def redact(params: mcpl.AfterInferenceParams) -> mcpl.AfterInferenceResult:
        return mcpl.AfterInferenceResult(
            feature_set="compliance.redaction",
            modified_response=params.assistant_message.replace("sk-1234567890abcdef", "[REDACTED]"),
            metadata={"redactions": [{"type": "api_key"}]},
        )

    return live, Server("compliance", "1", extensions=[live])


class Held(NamedTuple):
    host: McplHost
    memory: McplServer
    wires: dict[str, Recorded]
    pushed: list[PushedEvent]

    def of(self, name: str) -> ServerPeer:
        return next(one for one in self.host.servers if one.id == name)

    def told(self, name: str, method: str) -> tuple[JsonObject, Any]:
        """Return the params of the one message of that method, and its result."""
        messages = [message for _, message in self.wires[name].messages]
        (asked,) = (one for one in messages if one.get("method") == method)
        answers = (one["result"] for one in messages if "result" in one)
        ids = (one["id"] for one in messages if "result" in one)
        found = dict(zip(ids, answers, strict=True)).get(asked.get("id"))
        return asked.get("params", {}), found

    def offered(self, name: str) -> JsonObject:
        offer: JsonObject = self.told(name, "initialize")[1]
        found: JsonObject = offer["capabilities"]["experimental"]["mcpl"]
        return found


@asynccontextmanager
async def held() -> AsyncGenerator[Held]:
    """Yield one host with both servers."""
    pushed: list[PushedEvent] = []

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        pushed.append(event)
        return mcpl.PushEventResult(accepted=True, inference_id="inf_1")

    answers = ScriptedProvider(ModelAnswer("Eight units", "haiku"))
    inference = Inference(provider=answers, routing=mcpl.RoutingPolicy(default="haiku"))
    live = McplHost(enabled=["*"], on_push=take, inference=inference)
    (memory, serving), (_, compliance) = memory_server(), compliance_server()
    wires: dict[str, Recorded] = {}
    with anyio.fail_after(20):
        async with background() as tasks, Host("h", "1", extensions=[live]) as opened:
            for name, server in (("memory", serving), ("compliance", compliance)):
                near, far = memory_pair()
                wires[name] = Recorded(near)
                tasks.start_soon(server.serve, far)
                connection = await opened.connect(wires[name], server_id=name)
                await connection.mcp.ping()
            yield Held(live, memory, wires, pushed)


def before() -> mcpl.BeforeInferenceParams:
    return mcpl.BeforeInferenceParams(
        inference_id="inf_xyz",
        conversation_id="conv_123",
        turn_index=7,
        user_message="How's the mannequin project?",
        model=MODEL,
    )


@pytest.mark.spec("mcpl-15-1", "mcpl-15.1-1")
async def test_the_memory_server_offers_what_the_text_shows() -> None:
    ((shown,), _, _) = blocks_below("15.1 Memory Server")
    expected = at(shown, "/capabilities/experimental/mcpl")
    async with held() as both:
        offered = both.offered("memory")
        live = both.of("memory")
        assert live.enabled == sorted(USES)
        assert all(live.participates(use) for _, use in USES.values() if "Hooks" in use)
        answer = await both.memory.hosts[0].infer("memory.consolidation", "Summarize")
    assert answer.content == "Eight units"
    assert offered == expected


@pytest.mark.spec("mcpl-15.1-2", "mcpl-10.2-1")
async def test_the_memory_server_recalls_before_inference_as_the_text_shows() -> None:
    (_, (asked, answer), _) = blocks_below("15.1 Memory Server")
    async with held() as both:
        found = await both.host.before_inference(before())
        params, result = both.told("memory", "context/beforeInference")
    assert params == asked["params"]
    assert result == answer["result"]
    (injection,) = found.system
    assert (injection.server, injection.feature_set) == ("memory", "memory.retrieval")
    assert list(injection.content) == [mcp.TextContent(text=KNOWN)]
    assert (found.before_user, found.after_user) == ([], [])


@pytest.mark.spec("mcpl-15.1-3", "mcpl-9.2-4")
async def test_the_memory_server_reminds_as_the_text_shows() -> None:
    (_, _, (asked,)) = blocks_below("15.1 Memory Server")
    async with held() as both:
        answer = await both.memory.hosts[0].push(
            "memory.proactive",
            [mcp.TextContent(text="You mentioned following up with Alice today")],
            event_id="evt_reminder_001",
            timestamp="2026-01-23T14:00:00Z",
            origin={"server": "memory", "memoryId": "mem_followup"},
        )
        params, _ = both.told("memory", "push/event")
    assert answer.accepted
    assert params == asked["params"]
    (event,) = both.pushed
    assert event.params.origin == {"server": "memory", "memoryId": "mem_followup"}


@pytest.mark.spec("mcpl-15.2-1", "mcpl-10.5-3")
async def test_the_compliance_server_offers_what_the_text_shows() -> None:
    ((shown,), _) = blocks_below("15.2 Compliance Server (Blocking Hook)")
    expected = at(shown, "/capabilities/experimental/mcpl")
    async with held() as both:
        offered, live = both.offered("compliance"), both.of("compliance")
        assert live.offer.blocking
        await both.host.before_inference(before())
        asked = [one.get("method") for _, one in both.wires["compliance"].messages]
    assert offered == expected
    assert "context/beforeInference" not in asked


@pytest.mark.spec("mcpl-15.2-2", "mcpl-10.5-6")
async def test_the_compliance_server_blacks_out_the_secret_as_the_text_shows() -> None:
    (_, (asked, answer)) = blocks_below("15.2 Compliance Server (Blocking Hook)")
    params = mcpl.AfterInferenceParams(
        inference_id="inf_abc",
        conversation_id="conv_456",
        turn_index=3,
        user_message="What's the API key?",
        assistant_message=SECRET,
        model=MODEL,
        usage=mcpl.TokenUsage(input_tokens=50, output_tokens=20),
    )
    async with held() as both:
        assert await both.host.after_inference(params) == SHOWN
        await both.of("memory").session.raw("ping")
        sent, result = both.told("compliance", "context/afterInference")
        told, nothing = both.told("memory", "context/afterInference")
    assert sent == {**asked["params"], "model": to_wire(MODEL)}
    assert result == answer["result"]
    assert (told["assistantMessage"], nothing) == (SHOWN, None)  # a notification
