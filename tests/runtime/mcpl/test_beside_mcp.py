"""MCP with MCPL: MCP is unchanged, and it alone cannot do what MCPL is for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import anyio
import pytest

from kinwire import (
    CapabilityNotNegotiatedError,
    Context,
    Host,
    RpcError,
    Sampling,
    SamplingRequest,
    Server,
    pair,
    unattended,
)
from kinwire.mcpl import (
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    PushedEvent,
    ScriptedProvider,
    content_text,
)
from kinwire.testing import Frame
from kinwire_protocols import mcp, mcpl
from kinwire_protocols.base import JsonObject
from tests.runtime.mcpl.fixtures_pairs import MEMORY, live_pair, sent

pytestmark = pytest.mark.anyio

FACTS = "memory://facts"
TURN = mcpl.BeforeInferenceParams(
    inference_id="inf_1", conversation_id="conv_1", turn_index=0, model=mcpl.ModelInfo(id="m")
)


class Memory:
    """A server with something of MCP of each kind, and hooks and events where there is MCPL."""

    def __init__(self, *, live: bool = True) -> None:
        self.live = McplServer(feature_sets=MEMORY)
        self.server = Server("memory", "1", extensions=[self.live] if live else [])
        self.asked: list[str] = []
        self.server.tool(self.learn)
        self.server.tool(self.summarize)
        self.server.resource(FACTS)(self.facts)
        self.live.on.context_before_inference(self._recall)

    async def learn(self) -> str:
        """Learn a fact."""
        self.server.resource_updated(FACTS)
        return "learned"

    async def summarize(self, context: Context) -> str:
        """Have the client's model write, as MCP has it."""
        answer = await context.sample("Summarize", max_tokens=10)
        return getattr(answer.content, "text", "")

    async def facts(self) -> str:
        """What is known."""
        return "two facts"

    async def _recall(self, params: mcpl.BeforeInferenceParams) -> mcpl.BeforeInferenceResult:
        self.asked.append(params.inference_id)
        injection = mcpl.ContextInjection(namespace="n", position="system", content="two facts")
        return mcpl.BeforeInferenceResult(
            feature_set="memory.retrieval", context_injections=[injection]
        )


class Person:
    """Lets a model write for a server, or not."""

    def __init__(self, *, lets: bool = True) -> None:
        self.lets = lets
        self.asked: list[SamplingRequest] = []
        self.sampling = Sampling(written, approve_request=self._see, approve_result=unattended)

    async def _see(self, request: SamplingRequest) -> mcp.CreateMessageRequestParams | None:
        self.asked.append(request)
        return request.params if self.lets else None


async def written(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
    content = mcp.TextContent(text="a summary")
    return mcp.CreateMessageResult(role="assistant", content=content, model="m")


def without_mcpl(frames: Sequence[Frame]) -> list[tuple[str, JsonObject]]:
    """Return who sent what, without what MCPL has added."""
    found: list[tuple[str, JsonObject]] = []
    for sender, data in frames:
        message = json.loads(data)
        if message.get("method") in mcpl.PROTOCOL.methods:
            continue
        for part in ("params", "result"):
            message.get(part, {}).get("capabilities", {}).pop("experimental", None)
        found.append((sender, message))
    return sorted(found, key=lambda one: one[0])  # each side's own order is what counts


async def use_mcp(live_host: bool, live_server: bool) -> list[tuple[str, JsonObject]]:
    memory, person = Memory(live=live_server), Person()
    extensions = [McplHost(enabled=["*"])] if live_host else []
    news = anyio.Event()
    host = Host("h", "1", sampling=person.sampling, extensions=extensions)

    @host.on.notifications_resources_updated
    async def updated(params: mcp.ResourceUpdatedNotificationParams) -> None:
        news.set()

    with anyio.fail_after(20):
        async with pair(memory.server, host) as connection:
            assert [tool.name async for tool in connection.tools()] == ["learn", "summarize"]
            await connection.mcp.resources_subscribe(uri=FACTS)
            await connection.mcp.tools_call(name="learn")
            await news.wait()
            await connection.mcp.resources_read(uri=FACTS)
            await connection.mcp.tools_call(name="summarize")
            with pytest.raises(RpcError):
                await connection.mcp.resources_read(uri="memory://nothing")
            return without_mcpl(connection.frames)


@pytest.mark.spec("mcpl-abstract-1", "mcpl-1-1", "mcpl-2-2")
async def test_what_is_of_mcp_goes_over_the_wire_as_it_does_without_mcpl() -> None:
    first, *others = [await use_mcp(*who) for who in product((False, True), repeat=2)]
    assert len(first) > 10
    assert others == [first] * 3


@pytest.mark.spec("mcpl-1-2", "mcpl-1-3")
async def test_with_mcp_alone_events_are_polled_and_the_host_adds_context() -> None:
    memory = Memory()
    plain = McplHost(enabled=["*"])  # at hand, but not spoken
    async with pair(memory.server, Host("h", "1")) as connection:
        assert memory.live.hosts == []  # nobody to push to, nobody to inject for
        await memory.learn()
        assert await plain.before_inference(TURN) == await McplHost().before_inference(TURN)
        await connection.mcp.ping()
        received = [
            json.loads(frame.data) for frame in connection.frames if frame.sender == "server"
        ]
        assert [one["method"] for one in received if "method" in one] == []
        (found,) = (await connection.mcp.resources_read(uri=FACTS)).contents
        assert getattr(found, "text", None) == "two facts"
    assert memory.asked == []
    async with live_pair(memory.live, plain, memory.server):
        brought = await plain.before_inference(TURN)
    assert memory.asked == ["inf_1"]
    assert len(brought.system) == 1


@pytest.mark.spec("mcpl-1-5", "mcpl-9-1", "mcpl-9-2")
async def test_resource_updates_only_inform_and_events_carry_data_and_an_answer() -> None:
    memory, pushed, news = Memory(), list[PushedEvent](), list[Any]()

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        pushed.append(event)
        return mcpl.PushEventResult(accepted=True, inference_id="inf_1")

    live = McplHost(enabled=["*"], on_push=take)
    host = Host("h", "1", extensions=[live])

    @host.on.notifications_resources_updated
    async def updated(params: mcp.ResourceUpdatedNotificationParams) -> None:
        news.append(params.uri)

    with anyio.fail_after(20):
        async with pair(memory.server, host) as connection:
            await connection.mcp.resources_subscribe(uri=FACTS)
            await connection.mcp.tools_call(name="learn")
            while not news:
                await anyio.lowlevel.checkpoint()
            assert pushed == []
            assert sent(connection, "server", "notifications/resources/updated") == [{"uri": FACTS}]
            answer = await memory.live.hosts[0].push(
                "memory.proactive", "Call Alice", origin={"memory": "m1"}
            )
            await connection.mcp.ping()
    assert news == [FACTS]
    assert answer.inference_id == "inf_1"
    (event,) = pushed
    assert content_text(event.params.payload.content) == "Call Alice"
    assert event.params.origin == {"memory": "m1"}
    assert event.params.timestamp


@pytest.mark.spec("mcpl-1-4", "mcpl-1-6", "mcpl-11-2")
async def test_sampling_asks_a_person_and_inference_the_policy_of_the_host() -> None:
    memory, person = Memory(), Person(lets=False)
    answers = ScriptedProvider(*[ModelAnswer("a summary", "haiku")] * 2)
    routing = mcpl.RoutingPolicy(default="haiku")
    live = McplHost(enabled=["*"], inference=Inference(provider=answers, routing=routing))
    host = Host("h", "1", sampling=person.sampling, extensions=[live])
    with anyio.fail_after(20):
        async with pair(memory.server, host) as connection:
            with pytest.raises(mcp.SamplingRejectedError):
                await connection.mcp.tools_call(name="summarize")
            assert len(person.asked) == 1
            serving = memory.live.hosts[0]
            answer = await serving.infer("memory.consolidation", "Summarize")
            assert answer.content == "a summary"
            assert len(person.asked) == 1  # nobody was asked
            (side,) = live.servers
            await side.disable("memory.consolidation")
            await connection.mcp.ping()
            with pytest.raises(mcpl.FeatureSetNotEnabledError):
                await serving.infer("memory.consolidation", "Summarize")
    assert len(answers.requests) == 1


USES = {
    "memory.retrieval": "before",
    "memory.extraction": "after",
    "memory.consolidation": "infer",
    "memory.proactive": "push",
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.spec("mcpl-1-7")
async def test_each_behaviour_of_a_server_is_let_by_itself(name: str) -> None:
    memory, done = Memory(), set[str]()

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        done.add("push")
        return mcpl.PushEventResult(accepted=True)

    @memory.live.on.context_after_inference
    async def extract(params: mcpl.AfterInferenceParams) -> mcpl.AfterInferenceResult:
        done.add("after")
        return mcpl.AfterInferenceResult()

    answers = ScriptedProvider(ModelAnswer("a summary", "haiku"))
    policy = Inference(provider=answers, routing=mcpl.RoutingPolicy(default="haiku"))
    host = McplHost(enabled=[name], on_push=take, inference=policy)
    async with live_pair(memory.live, host, memory.server) as (connection, _):
        await connection.mcp.ping()
        (serving,) = memory.live.hosts
        await host.before_inference(TURN)
        await host.after_inference(
            mcpl.AfterInferenceParams(**dict(TURN), assistant_message="Hello")
        )
        with suppress(mcpl.FeatureSetNotEnabledError):
            await serving.infer("memory.consolidation", "Summarize")
        with suppress(mcpl.FeatureSetNotEnabledError):
            await serving.push("memory.proactive", "Now")
        await connection.mcp.ping()
    done |= {"before"} if memory.asked else set()
    done |= {"infer"} if answers.requests else set()
    assert done == {USES[name]}


@pytest.mark.spec("mcpl-3-1")
@pytest.mark.parametrize(("live_host", "live_server"), [(True, False), (False, True)])
async def test_where_one_end_knows_mcp_alone_the_other_sends_it_nothing_else(
    live_host: bool, live_server: bool
) -> None:
    memory = Memory(live=live_server)
    live = McplHost(enabled=["*"])
    host = Host("h", "1", extensions=[live] if live_host else [])
    with anyio.fail_after(20):
        async with pair(memory.server, host) as connection:
            await connection.mcp.tools_call(name="learn")
            assert (live.of(connection), memory.live.hosts) == (None, [])
            if live_host:
                with pytest.raises(CapabilityNotNegotiatedError):
                    await mcpl.ServerStub(connection).context_before_inference(**dict(TURN))
            received = [json.loads(frame.data) for frame in connection.frames]
    assert not {one.get("method") for one in received} & mcpl.PROTOCOL.methods.keys()
