"""Hooks and inference (section 10.7): only inference that a hook's answer waits for is refused."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire import Context, Host, Server
from kinwire.mcpl import (
    Hooks,
    HostPeer,
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    ScriptedProvider,
)
from kinwire.support.background import background
from kinwire_protocols import mcpl
from kinwire_protocols.base import from_wire
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import Error, RawHost, RawServer
from tests.runtime.mcpl.raw.scenarios import (
    ConnectHost,
    ConnectServer,
    against_raw_host,
    against_raw_server,
)

BEFORE, AFTER = "context/beforeInference", "context/afterInference"
USES = ("contextHooks.beforeInference", "contextHooks.afterInference", "inferenceRequest")
BOTH_HOOKS = {"beforeInference": True, "afterInference": {"blocking": True}}
OFFER = {
    "version": "0.4",
    "contextHooks": BOTH_HOOKS,
    "inferenceRequest": True,
    "featureSets": {"memory": {"description": "Remember", "uses": list(USES)}},
}
TURN = {
    "inferenceId": "inf_1",
    "conversationId": "conv_1",
    "turnIndex": 0,
    "userMessage": "Hello",
    "model": {"id": "m"},
}
ENDED = {**TURN, "assistantMessage": "Hi", "usage": {"inputTokens": 1, "outputTokens": 1}}
PARAMS = {BEFORE: TURN, AFTER: ENDED}
INFER = {"featureSet": "memory", "messages": [{"role": "user", "content": "Summarize"}]}
RESULT = {"content": "Short", "model": "m", "finishReason": "end_turn"}


# Our side is the host.


def inferring(**options: Any) -> McplHost:
    """Return a host that answers every inference."""
    provider = ScriptedProvider(*[ModelAnswer("Short", "m")] * 9)
    inference = Inference(provider=provider, routing=mcpl.RoutingPolicy(default="m"))
    return McplHost(enabled=["memory"], inference=inference, **options)


async def run_hook(live: McplHost, method: str) -> None:
    if method == BEFORE:
        await live.before_inference(from_wire(mcpl.BeforeInferenceParams, TURN))
    else:
        await live.after_inference(from_wire(mcpl.AfterInferenceParams, ENDED))


@pytest.mark.spec("mcpl-10.7-1", "mcpl-10.7-2", "mcpl-10.7-3")
@pytest.mark.parametrize("method", [BEFORE, AFTER])
@against_raw_server
async def test_a_host_refuses_inference_for_the_conversation_of_an_open_hook(
    connect: ConnectServer, method: str
) -> None:
    raw, live = RawServer(OFFER), inferring()
    same = {**INFER, "conversationId": "conv_1"}
    async with Host("h", "1", extensions=[live]) as host, background() as tasks:
        await connect(host, raw)
        tasks.start_soon(run_hook, live, method)
        hook = await raw.expect(method)
        error = await raw.error("inference/request", same)
        assert (error["code"], error["data"]["retryable"]) == (-32600, True)
        for other in (INFER, {**INFER, "conversationId": "conv_2"}):
            assert (await raw.result("inference/request", other))["content"] == "Short"
        await raw.answer(hook, {"featureSet": "memory"})
        await raw.settle()
        assert (await raw.result("inference/request", same))["content"] == "Short"


@against_raw_server(wires=["memory"])
async def test_a_hook_of_another_server_does_not_count(connect: ConnectServer) -> None:
    one, two, live = RawServer(OFFER, name="one"), RawServer(OFFER, name="two"), inferring()
    two.answers[BEFORE] = {"featureSet": "memory"}
    async with Host("h", "1", extensions=[live]) as host, background() as tasks:
        await connect(host, one)
        await connect(host, two)
        tasks.start_soon(run_hook, live, BEFORE)
        hook = await one.expect(BEFORE)
        await two.settle()
        asked = {**INFER, "conversationId": "conv_1"}
        assert (await two.result("inference/request", asked))["content"] == "Short"
        await one.answer(hook, {"featureSet": "memory"})


@pytest.mark.parametrize("ends", ["late", "refused", "notified"])
@against_raw_server(wires=["memory"])
async def test_a_hook_that_nobody_waits_for_does_not_count(
    connect: ConnectServer, ends: str
) -> None:
    hooks = Hooks(before_timeout=0.02, blocking=ends != "notified")
    raw, live = RawServer(OFFER), inferring(hooks=hooks)
    if ends == "refused":
        raw.answers[BEFORE] = Error(-32603, "No")
    async with Host("h", "1", extensions=[live]) as host:
        await connect(host, raw)
        await run_hook(live, AFTER if ends == "notified" else BEFORE)
        asked = {**INFER, "conversationId": "conv_1"}
        assert (await raw.result("inference/request", asked))["content"] == "Short"


# Our side is the server.


async def outcome_of(host: HostPeer) -> str:
    try:
        return (await host.infer("memory", "Summarize")).content
    except InvalidRequestError as error:
        return "refused, retryable" if error.data["retryable"] else "refused"


async def directly(host: HostPeer, program: Any) -> str:
    return await outcome_of(host)


async def streaming(host: HostPeer, program: Any) -> str:
    try:
        async with host.stream("memory", "Summarize") as answer:
            return "".join([delta async for delta in answer])
    except InvalidRequestError as error:
        return "refused, retryable" if error.data["retryable"] else "refused"


async def in_a_group_of_the_handler(host: HostPeer, program: Any) -> str:
    found: list[str] = []

    async def infer() -> None:
        found.append(await outcome_of(host))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(infer)
    return found[0]


async def in_a_group_of_the_program(host: HostPeer, program: Any) -> str:
    found: list[str] = []
    done = anyio.Event()

    async def infer() -> None:
        found.append(await outcome_of(host))
        done.set()

    program.start_soon(infer)
    await done.wait()  # a test may, to see that it was sent while the hook is open
    return found[0]


@pytest.mark.spec("mcpl-10.7-1", "mcpl-10.7-2")
@pytest.mark.parametrize("method", [BEFORE, AFTER])
@pytest.mark.parametrize(
    ("infer", "expected"),
    [
        (directly, "refused, retryable"),
        (streaming, "refused, retryable"),
        (in_a_group_of_the_handler, "refused, retryable"),
        (in_a_group_of_the_program, "Short"),
    ],
)
@against_raw_host
async def test_a_server_sends_no_inference_that_its_hook_waits_for(
    connect: ConnectHost, method: str, infer: Any, expected: str
) -> None:
    live = McplServer(feature_sets={"memory": feature(*USES)}, blocking=True)
    outcomes: list[str] = []
    program: list[Any] = []  # the task group of the program

    @live.on.context_before_inference
    async def before(
        params: mcpl.BeforeInferenceParams, context: Context
    ) -> mcpl.BeforeInferenceResult:
        outcomes.append(await infer(live.of(context), program[0]))
        return mcpl.BeforeInferenceResult(feature_set="memory")

    @live.on.context_after_inference
    async def after(
        params: mcpl.AfterInferenceParams, context: Context
    ) -> mcpl.AfterInferenceResult:
        outcomes.append(await infer(live.of(context), program[0]))
        return mcpl.AfterInferenceResult(feature_set="memory")

    host = await opened(connect, live)
    async with background() as tasks:
        program.append(tasks)
        await host.result(method, PARAMS[method])
    assert outcomes == [expected]
    assert len(host.params_of("inference/request")) == (expected == "Short")


@against_raw_host(wires=["memory"])
async def test_a_hook_without_an_answer_may_infer(connect: ConnectHost) -> None:
    live = McplServer(feature_sets={"memory": feature(*USES)})
    done, outcomes = anyio.Event(), list[str]()

    @live.on.context_after_inference
    async def after(
        params: mcpl.AfterInferenceParams, context: Context
    ) -> mcpl.AfterInferenceResult:
        peer = live.of(context)
        assert peer is not None
        outcomes.append(await outcome_of(peer))
        done.set()
        return mcpl.AfterInferenceResult()

    host = await opened(connect, live)
    await host.notify(AFTER, ENDED)
    await done.wait()
    assert outcomes == ["Short"]


async def opened(connect: ConnectHost, live: McplServer) -> RawHost:
    host = await connect(Server("memory", "1", extensions=[live]))
    host.answers["inference/request"] = RESULT
    offer = {"version": "0.4", "contextHooks": BOTH_HOOKS, "inferenceRequest": True}
    await host.open({**offer, "featureSets": True}, update={"enabled": ["memory"]})
    return host
