"""A TimeoutError that a function of the host's program raises is its error, not its deadline.

The table has every function that a host gives a limited time, and interceptors around its calls.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import RpcError
from kinwire.mcpl import (
    Channels,
    Hooks,
    HostPeer,
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    Scopes,
    ServerPeer,
    UrlGuard,
)
from kinwire.mcpl.errors import NotPublishedError
from kinwire.mcpl.rules.content import blocks_of
from kinwire.rpc.errors import RequestTimeoutError
from kinwire.transports.guarded_fetch.rules import NotFetchedError
from kinwire_protocols import mcpl
from kinwire_protocols.mcpl.methods import (
    CHANNELS_OUTGOING_CHUNK,
    CONTEXT_AFTER_INFERENCE,
    CONTEXT_BEFORE_INFERENCE,
)
from tests.runtime.mcpl.fixtures_chat import Chat, chatting
from tests.runtime.mcpl.fixtures_hooks import Speaker, after, before, hooked, texts
from tests.runtime.mcpl.fixtures_pairs import feature, live_pair
from tests.runtime.transports.guarded_fetch.fake_network import PUBLIC, TestNetwork

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-10.6-1")]

SETS = {"a": feature("pushEvents", "inferenceRequest", scoped=True)}
CHANNEL = mcpl.ChannelDescriptor(id="c", type="chat", label="c", direction="bidirectional")
SOON = 0.01  # seconds
LONG = 20.0

Function = Callable[..., Awaitable[Any]]
Act = Callable[[Function, float], Awaitable[str]]


async def raises(*given: Any) -> Any:
    raise TimeoutError("of the program")


async def calls_another(*given: Any) -> Any:
    raise RequestTimeoutError("tools/call", 1.0)


async def sleeps(*given: Any) -> Any:
    await anyio.sleep_forever()


# What a peer sees of each function.


@asynccontextmanager
async def hosted(**options: Any) -> AsyncGenerator[tuple[HostPeer, ServerPeer]]:
    """Yield both sides of a host with these options."""
    live = McplServer(feature_sets=SETS, channels=[])
    async with live_pair(live, McplHost(enabled=["*"], **options)) as (connection, peer):
        await connection.mcp.ping()
        yield live.hosts[0], peer


async def on_push(function: Function, timeout: float) -> str:
    async with hosted(on_push=function, push_timeout=timeout) as (host, _):
        try:
            return (await host.push("a", "x", attempts=1)).reason or "accepted"
        except RpcError as error:
            return f"{error.code}"


async def scope_of(scopes: Scopes) -> str:
    async with hosted(scopes=scopes) as (host, _):
        params = {"featureSet": "a", "scope": {"label": "x"}}
        return str((await host.session.raw("scope/elevate", params))["reason"])


async def ask(function: Function, timeout: float) -> str:
    return await scope_of(Scopes(ask=function, ask_timeout=timeout))


async def enrich(function: Function, timeout: float) -> str:
    lists = {"a": mcpl.ScopeRules(whitelist=["x"])}
    return await scope_of(Scopes(lists=lists, enrich=function, ask_timeout=timeout))


async def message_to(channels: Channels) -> str:
    async with hosted(channels=channels) as (host, _):
        await host.channels.register(CHANNEL)
        message = mcpl.IncomingMessage(channel_id="c", message_id="1", content=blocks_of("x"))
        (outcome,) = await host.channels.incoming(message)
        return outcome.reason or "accepted"


async def on_message(function: Function, timeout: float) -> str:
    return await message_to(Channels(on_message=function, message_timeout=timeout))


async def on_turn(function: Function, timeout: float) -> str:
    return await message_to(Channels(on_turn=function))


async def moderate(function: Function, timeout: float) -> str:
    channels = Channels(moderate=function, moderate_timeout=timeout)
    async with chatting(Chat(), channels) as talk:
        try:
            await talk.lives.server.channels.publish("discord:#general", "x")
        except NotPublishedError as error:
            return str(error).split(": ")[-1]
    return "published"


async def provider(function: Function, timeout: float) -> str:
    class Model:
        async def answer(self, request: Any, on_delta: Any) -> ModelAnswer:
            answer: ModelAnswer = await function()
            return answer

    routing = mcpl.RoutingPolicy(default="m")
    inference = Inference(provider=Model(), routing=routing, timeout=timeout)
    async with hosted(inference=inference) as (host, _):
        try:
            return (await host.infer("a", "x")).content
        except RpcError as error:
            return str(error.data["reason"])


def injecting(uri: str) -> Speaker:
    speaker = Speaker("one")
    block = mcpl.ImageBlock(uri=uri)
    speaker.before = [mcpl.ContextInjection(namespace="n", position="system", content=[block])]
    return speaker


async def fetch(function: Function, timeout: float) -> str:
    hooks = Hooks(fetch=function, before_timeout=timeout)
    async with hooked(injecting("https://cdn.example/cat"), hooks=hooks) as host:
        return str((await host.before_inference(before())).system)


async def around(method: Any, function: Function, hooks: Hooks, *, blocking: bool) -> str:
    """Run both hooks while an interceptor of the host is around one of them."""
    speaker = Speaker("one", blocking=blocking)
    speaker.before, speaker.after = ["Known"], "Changed"
    async with hooked(speaker, hooks=hooks) as host:
        (peer,) = host.servers
        peer.session.intercept_outbound(function, method)
        injections = await host.before_inference(before())
        response = await host.after_inference(after("Said"))
    return f"{len(injections.system)} {response}"


async def around_before(function: Function, timeout: float) -> str:
    hooks = Hooks(before_timeout=timeout)
    return await around(CONTEXT_BEFORE_INFERENCE, function, hooks, blocking=True)


async def around_after(function: Function, timeout: float) -> str:
    hooks = Hooks(after_timeout=timeout)
    return await around(CONTEXT_AFTER_INFERENCE, function, hooks, blocking=True)


async def around_notification(function: Function, timeout: float) -> str:
    hooks = Hooks(after_timeout=timeout)
    return await around(CONTEXT_AFTER_INFERENCE, function, hooks, blocking=False)


async def around_pieces(function: Function, timeout: float) -> str:
    channels = Channels(default_outgoing=("chat", "discord:#general"))
    chat = Chat()
    async with chatting(chat, channels) as talk:
        talk.lives.server.session.intercept_outbound(function, CHANNELS_OUTGOING_CHUNK)
        response = await talk.host.channels.write("conv_1", inference_id="inf_1")
        await response.write("x")
        await talk.lives.connection.mcp.ping()
    return f"{len(chat.pieces)} pieces"


# The function; what a peer sees of its error and of its deadline, and what is logged of both.

FUNCTIONS: list[tuple[Act, str, str | None, str, str]] = [
    (on_push, "-32603", "it was not taken in time", "push/event failed", "not taken in time"),
    (ask, "asking failed", "nobody answered in time", "asking for a scope failed", ""),
    (
        enrich,
        "it could not be resolved",
        "it was not resolved in time",
        "could not be resolved",
        "not resolved in time",
    ),
    (
        on_message,
        "the host failed: send it again",
        "the host did not decide in time: send it again",
        "a message was not taken",
        "not decided in time",
    ),
    (on_turn, "the host failed: send it again", None, "a turn was not taken", ""),
    (
        moderate,
        "moderation failed. Change it.",
        "moderation failed. Change it.",
        "moderation failed",
        "moderation was late",
    ),
    (provider, "provider_failed", "timeout", "a model failed", ""),
    (fetch, "[]", "[]", "its content was not read", "hook before inference failed: it was late"),
    (
        around_before,
        "0 Changed",
        "0 Changed",
        "hook before inference failed: of the program",
        "hook before inference failed: it was late",
    ),
    (
        around_after,
        "1 Said",
        "1 Said",
        "hook after inference failed: of the program",
        "hook after inference failed: it was late",
    ),
    (
        around_notification,
        "1 Said",
        "1 Said",
        "not notified of an inference: of the program",
        "not notified of an inference: it was late",
    ),
    (around_pieces, "0 pieces", None, "not shown what goes out: of the program", ""),
]
IDS = [row[0].__name__ for row in FUNCTIONS]


def errors_logged(caplog: pytest.LogCaptureFixture) -> list[BaseException]:
    """Return the errors whose tracebacks are in the log."""
    found = [record.exc_info and record.exc_info[1] for record in caplog.records]
    return [one for one in found if isinstance(one, BaseException)]


@pytest.mark.parametrize(("act", "failed", "_", "logged", "__"), FUNCTIONS, ids=IDS)
async def test_a_timeout_error_of_a_function_is_its_failure(
    act: Act, failed: str, _: Any, logged: str, __: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    assert await act(raises, LONG) == failed
    assert [str(error) for error in errors_logged(caplog)] == ["of the program"]
    assert logged in caplog.text
    assert "late" not in caplog.text
    assert "in time" not in caplog.text


@pytest.mark.parametrize(
    ("act", "late", "logged"),
    [(act, late, logged) for act, _, late, _, logged in FUNCTIONS if late is not None],
    ids=[act.__name__ for act, _, late, _, _ in FUNCTIONS if late is not None],
)
async def test_a_function_that_is_late_is_reported_without_a_traceback(
    act: Act, late: str, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    assert await act(sleeps, SOON) == late
    assert errors_logged(caplog) == []
    assert logged in caplog.text


async def test_a_fetch_that_returns_nothing_drops_only_its_block(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def forgetful(url: str) -> Any:
        """Forget to return."""

    speaker = injecting("https://cdn.example/cat")
    speaker.before.append("Known")
    async with hooked(speaker, hooks=Hooks(fetch=forgetful)) as host:
        injections = await host.before_inference(before())
    assert texts(injections.system) == ["Known"]
    assert "Hooks.fetch: expected TextContent or ImageBlock or" in caplog.text


@pytest.mark.parametrize("act", [on_push, ask, enrich, on_message, moderate, provider])
async def test_a_late_answer_of_another_server_is_a_failure_too(
    act: Act, caplog: pytest.LogCaptureFixture
) -> None:
    failed = {row[0]: row[1] for row in FUNCTIONS}
    assert await act(calls_another, LONG) == failed[act]
    (error,) = errors_logged(caplog)
    assert isinstance(error, RequestTimeoutError)


async def test_a_rule_about_urls_raises_its_own_timeout_error() -> None:
    def allow(url: str) -> bool:
        raise TimeoutError("of the program")

    network = TestNetwork(1, {"cdn.example": [[PUBLIC]]})
    with pytest.raises(TimeoutError, match="of the program"):
        await UrlGuard(allow, network=network)("https://cdn.example/cat")


async def test_a_network_that_is_late_is_reported_as_late() -> None:
    class Silent(TestNetwork):
        resolve = sleeps  # type: ignore[assignment]

    network = Silent(1, {})
    with pytest.raises(NotFetchedError, match="no answer within"):
        await UrlGuard(["*"], network=network, timeout=SOON)("https://cdn.example/cat")


async def test_the_audit_log_does_not_count_a_late_answer_of_another_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "kinwire.mcpl.audit")
    for function, outcome in ((calls_another, "failure"), (sleeps, "timeout")):
        await on_push(function, SOON)
        audited = [one.message for one in caplog.records if one.name == "kinwire.mcpl.audit"]
        assert audited[-1].endswith(f"push/event: {outcome}")
