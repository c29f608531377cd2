"""A provider over HTTP: what goes out, what comes back, and every way in which it does not."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import InsecureAddressError
from kinwire.mcpl import (
    ChatCompletions,
    HostPeer,
    Inference,
    McplHost,
    McplServer,
    ModelAnswer,
    ModelRequest,
    ProviderError,
)
from kinwire.transports.http_client import client
from kinwire.transports.http_client.fields import USER_AGENT
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from kinwire_protocols.mcpl import InferenceMessage, RoutingPolicy, TokenUsage
from tests.each import each
from tests.runtime.mcp.http_client.fake_server import Asked, Handler, Line, RawServer
from tests.runtime.mcpl.fixtures_pairs import MEMORY, live_pair, sent

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-11.3-1")]

KEY = "sk-s3cret-0123456789"
SET = "memory.consolidation"
REQUEST = ModelRequest("small", [InferenceMessage(role="user", content="Summarize")], 50, 0.5)
USAGE = {"prompt_tokens": 9, "completion_tokens": 3}
WHOLE = {
    "model": "small-2026",
    "choices": [{"message": {"content": "Short and good"}, "finish_reason": "length"}],
    "usage": USAGE,
}
PIECES: list[Any] = [
    {"choices": [{"delta": {"role": "assistant", "content": "Short"}}], "model": "small-2026"},
    {"choices": [{"delta": {"content": " and good"}}]},
    {"choices": [{"delta": {}, "finish_reason": "length"}]},
    {"choices": [], "usage": USAGE},
]
ANSWER = ModelAnswer(
    "Short and good", "small-2026", "length", TokenUsage(input_tokens=9, output_tokens=3)
)


async def completing(asked: Asked, line: Line) -> None:
    """Answer as such servers do, in pieces or not."""
    if not asked.message.get("stream"):
        await line.json(WHOLE)
        return
    await line.stream()
    await line.raw(b": processing\n\n")
    for piece in PIECES:
        await line.event(piece)
    await line.raw(b"data: [DONE]\n\n")
    await line.until_closed()


@asynccontextmanager
async def providing(
    handler: Handler = completing, path: str = "/v1", **options: Any
) -> AsyncGenerator[tuple[ChatCompletions, RawServer]]:
    async with RawServer.serving(handler, path) as server:
        yield ChatCompletions(server.url, api_key=KEY, **options), server


async def failure_with(handler: Handler, *, stream: bool) -> ProviderError:
    async def take(delta: str) -> None:
        """Take a piece, and do nothing with it."""

    async with providing(handler) as (provider, _):
        with pytest.raises(ProviderError) as raised:
            await provider.answer(REQUEST, take if stream else None)
    assert KEY not in f"{raised.value} {raised.value!r} {raised.value.__cause__!r}"
    return raised.value


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1?version=7"])
async def test_a_model_is_asked_and_answers(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    async with providing(path=path, trust_env=False) as (provider, server):
        assert await provider.answer(REQUEST, None) == ANSWER
    (asked,) = server.asked
    query = "?version=7" if "?" in path else ""
    assert (asked.method, asked.target) == ("POST", "/v1/chat/completions" + query)
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["content-type"] == "application/json"
    assert asked.message == {
        "model": "small",
        "messages": [{"role": "user", "content": "Summarize"}],
        "max_tokens": 50,
        "temperature": 0.5,
    }


async def test_a_model_answers_in_pieces_as_they_come() -> None:
    said: list[str] = []
    async with providing() as (provider, server):

        async def take(delta: str) -> None:
            said.append(delta)

        assert await provider.answer(REQUEST, take) == ANSWER
    assert said == ["Short", " and good"]
    assert server.asked[0].message["stream"] is True


async def test_a_server_that_does_not_stream_is_understood() -> None:
    async def whole(asked: Asked, line: Line) -> None:
        await line.json(WHOLE)

    said: list[str] = []
    async with providing(whole) as (provider, _):

        async def take(delta: str) -> None:
            said.append(delta)

        assert await provider.answer(REQUEST, take) == ANSWER
    assert said == ["Short and good"]


async def test_a_body_can_be_adapted_to_a_server_of_another_taste() -> None:
    def adapt(body: dict[str, Any]) -> dict[str, Any]:
        body["max_completion_tokens"] = body.pop("max_tokens")
        return body

    async with providing(adapt=adapt) as (provider, server):
        await provider.answer(REQUEST, None)
    assert server.asked[0].message["max_completion_tokens"] == 50
    assert "max_tokens" not in server.asked[0].message


async def test_without_a_key_none_is_sent() -> None:
    async with RawServer.serving(completing, "/v1") as server:
        await ChatCompletions(server.url).answer(REQUEST, None)
    assert "authorization" not in server.asked[0].headers


# What goes wrong.


def status(code: int, body: Any = None) -> Handler:
    async def handle(asked: Asked, line: Line) -> None:
        await line.json(body or {"error": {"message": f"no {KEY}"}}, code, location="/elsewhere")

    return handle


def raw(data: bytes) -> Handler:
    async def handle(asked: Asked, line: Line) -> None:
        await line.raw(data)
        await line.close()

    return handle


async def reset(asked: Asked, line: Line) -> None:
    await line.reset()


async def broken_off(asked: Asked, line: Line) -> None:
    await line.stream()
    await line.event(PIECES[0])
    await line.close()


async def endless(asked: Asked, line: Line) -> None:
    await line.stream()
    await line.raw(b"data: " + b"x" * (1024 * 1024 + 100))
    await line.raw(b"\n\n")
    await line.until_closed()


async def error_on_the_way(asked: Asked, line: Line) -> None:
    await line.stream()
    await line.event(PIECES[0])
    await line.event({"error": {"code": "rate_limit_exceeded", "message": KEY}})
    await line.until_closed()


async def boundless(asked: Asked, line: Line) -> None:
    await line.raw(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        await line.raw(b" " * 65536)


SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
BAD = [
    pytest.param(status(401), "provider_failed", "HTTP status 401", id="no leave"),
    pytest.param(status(429), "rate_limited", "HTTP status 429", id="too many"),
    pytest.param(status(500), "provider_failed", "HTTP status 500", id="broken"),
    pytest.param(status(504), "timeout", "HTTP status 504", id="too slow behind a proxy"),
    pytest.param(status(307), "provider_failed", "HTTP status 307", id="elsewhere"),
    pytest.param(status(200, {"error": {"message": KEY}}), "provider_failed", "", id="an error"),
    pytest.param(raw(b"garbage"), "provider_failed", "as HTTP/1.1 does", id="no HTTP"),
    pytest.param(raw(b""), "provider_failed", "closed the connection", id="nothing"),
    pytest.param(reset, "provider_failed", "reset by peer", id="reset"),
    pytest.param(
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"),
        "provider_failed",
        "closed the connection",
        id="half a body",
    ),
    pytest.param(
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{"),
        "provider_failed",
        "an object of JSON",
        id="no JSON",
    ),
    pytest.param(boundless, "provider_failed", "more than 16777216 bytes", id="without an end"),
]
BAD_STREAMS = [
    pytest.param(broken_off, "provider_failed", "broken off", id="broken off"),
    pytest.param(endless, "provider_failed", "an object of JSON", id="an endless event"),
    pytest.param(error_on_the_way, "rate_limited", "rate_limit", id="an error on the way"),
    pytest.param(raw(SSE + b"\r\n"), "provider_failed", "broken off", id="no event"),
    pytest.param(
        raw(SSE + b"\r\ndata: nonsense\n\n"), "provider_failed", "an object of JSON", id="no JSON"
    ),
    pytest.param(
        raw(SSE + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        "provider_failed",
        "its body is malformed",
        id="no chunks",
    ),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("handler", "reason", "why"), BAD)
async def test_what_goes_wrong_is_a_failure_with_a_reason(
    handler: Handler, reason: str, why: str, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    failure = await failure_with(handler, stream=stream)
    assert failure.reason == reason
    assert why in failure.why
    assert KEY not in caplog.text


@pytest.mark.parametrize(("handler", "reason", "why"), BAD_STREAMS)
async def test_a_stream_that_breaks_is_a_failure_with_a_reason(
    handler: Handler, reason: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    failure = await failure_with(handler, stream=True)
    assert failure.reason == reason
    assert why in failure.why
    assert KEY not in caplog.text


async def test_a_server_that_is_not_there_is_a_failure() -> None:
    with pytest.raises(ProviderError, match=r"No answer from http://127\.0\.0\.1:1: "):
        await ChatCompletions("http://127.0.0.1:1/v1?key=s3cret").answer(REQUEST, None)


@pytest.mark.parametrize("stream", [False, True])
async def test_giving_up_an_answer_closes_the_request(stream: bool) -> None:
    begun, closed = anyio.Event(), anyio.Event()

    async def never(asked: Asked, line: Line) -> None:
        if stream:
            await line.stream()
            await line.event(PIECES[0])
        else:
            begun.set()
        await line.until_closed()
        closed.set()

    async def take(delta: str) -> None:
        begun.set()

    async with providing(never) as (provider, _), anyio.create_task_group() as tasks:
        tasks.start_soon(provider.answer, REQUEST, take if stream else None)
        await begun.wait()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True), anyio.fail_after(10):
            await closed.wait()


# Where it may be.

FORBIDDEN: list[Any] = [
    ("http://models.example/v1", {}, InsecureAddressError, "without TLS"),
    ("http://10.0.0.1/v1", {}, InsecureAddressError, "without TLS"),
    ("ws://127.0.0.1/v1", {}, ValueError, "expected a URL with http or https"),
    ("ftp://127.0.0.1/v1", {}, ValueError, "expected a URL with http"),
    ("https://ann:s3cret@models.example/v1", {}, ValueError, "without a user"),
    ("https://models.example/v1", {"api_key": "s3cret\r\nX: y"}, ValueError, "Authorization"),
]

MISWRITTEN = [
    ("models.example/v1", "with http or https, got none"),
    ("localhost:8000/v1", "with http or https, got none"),
    ("ws://models.example/v1", "with http or https, got 'ws'"),
    ("https:///v1", "with a host"),
    ("https://[::1/v1", "with a host"),
    ("https://models.example/my models", "without spaces"),
]


@each(("url", "why"), MISWRITTEN)
def test_an_invalid_base_url_is_refused_with_an_example(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=r"^base_url: expected a URL") as raised:
        ChatCompletions(url, api_key=KEY)
    assert why in str(raised.value)
    assert str(raised.value).endswith(
        "Write it as https://models.example.com/v1 or http://127.0.0.1:8000/v1."
    )
    assert "/mcp" not in str(raised.value)


@each(("url", "options", "error", "why"), FORBIDDEN)
def test_an_insecure_base_url_is_refused_immediately(
    url: str, options: dict[str, Any], error: type[Exception], why: str
) -> None:
    with pytest.raises(error, match=why) as raised:
        ChatCompletions(url, **options)
    assert "s3cret" not in str(raised.value)


def test_a_network_of_ones_own_may_be_named_and_the_key_is_not_shown() -> None:
    provider = ChatCompletions("http://10.0.0.1:8000/v1?x=s3cret", api_key=KEY, insecure=True)
    assert repr(provider) == "<ChatCompletions http://10.0.0.1:8000>"
    assert repr(ChatCompletions("https://models.example")) == (
        "<ChatCompletions https://models.example>"
    )


def test_without_its_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httptools", None)
    with pytest.raises(ImportError, match=r"Install kinwire\[http\]"):
        ChatCompletions("https://models.example")


async def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with RawServer.serving(completing) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        provider = ChatCompletions("http://127.0.0.1:1/v1", api_key=KEY)
        assert await provider.answer(REQUEST, None) == ANSWER
    assert proxy.asked[0].target == "http://127.0.0.1:1/v1/chat/completions"


async def test_a_coded_answer_is_read() -> None:
    async def coded(asked: Asked, line: Line) -> None:
        body = gzip.compress(json.dumps(WHOLE).encode())
        await line.status(200, body, content_type="application/json", content_encoding="gzip")

    async with providing(coded) as (provider, server):
        assert await provider.answer(REQUEST, None) == ANSWER
    assert server.asked[0].headers["accept-encoding"] == "identity"
    assert server.asked[0].headers["user-agent"] == USER_AGENT


# Behind a host.


@asynccontextmanager
async def inferring(
    handler: Handler, **options: Any
) -> AsyncGenerator[tuple[HostPeer, McplHost, Any]]:
    live = McplServer(feature_sets=MEMORY)
    async with providing(handler) as (provider, _):
        policy = Inference(provider=provider, routing=RoutingPolicy(default="small"), **options)
        host = McplHost(enabled=["*"], inference=policy)
        async with live_pair(live, host) as lives:
            await lives.connection.mcp.ping()
            yield live.hosts[0], host, lives.connection


@pytest.mark.parametrize("stream", [False, True])
async def test_a_server_has_a_model_behind_http_answer_and_its_use_is_counted(
    stream: bool,
) -> None:
    async with inferring(completing) as (server, host, connection):
        if stream:
            async with server.stream(SET, "Summarize") as answer:
                assert "".join([delta async for delta in answer]) == "Short and good"
            result = answer.result
            chunks = sent(connection, "client", "inference/chunk")
            assert [one["delta"] for one in chunks] == ["Short", " and good"]
        else:
            result = await server.infer(SET, "Summarize")
        used = TokenUsage(input_tokens=9, output_tokens=3)
        assert (result.content, result.model, result.finish_reason, result.usage) == (
            "Short and good",
            "small-2026",
            "max_tokens",
            used,
        )
        assert host.usage == {(host.servers[0].key, SET): used}


@pytest.mark.parametrize(
    ("handler", "reason"),
    [(status(429), "rate_limited"), (status(500), "provider_failed"), (status(504), "timeout")],
)
async def test_a_server_learns_the_reason_and_nothing_else(
    handler: Handler, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with inferring(handler) as (server, host, _):
        with pytest.raises(InternalError) as raised:
            await server.infer(SET, "Summarize")
        assert raised.value.data["reason"] == reason
        assert "HTTP" not in str(raised.value)
        assert "HTTP status" in caplog.text
        assert KEY not in caplog.text
        assert [name for _, name in host.usage] == ([SET] if reason == "timeout" else [])


async def test_a_connection_that_never_stood_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(client, "_CONNECT", 0.0)
    async with inferring(completing) as (server, host, _):
        with pytest.raises(InternalError) as raised:
            await server.infer(SET, "Summarize")
        assert raised.value.data["reason"] == "provider_failed"
        assert "it does not answer" in caplog.text
        assert host.usage == {}


async def test_a_message_that_the_model_cannot_be_given_is_invalid() -> None:
    async with inferring(completing) as (server, _, _connection):
        with pytest.raises(InvalidParamsError, match="#/messages/0/role: expected assistant"):
            await server.infer(SET, [InferenceMessage(role="narrator", content="x")])


async def test_a_cancelled_request_is_closed_and_its_chunks_are_counted() -> None:
    closed = anyio.Event()

    async def slow(asked: Asked, line: Line) -> None:
        await line.stream()
        await line.event(PIECES[0])
        await line.until_closed()
        closed.set()

    async with inferring(slow) as (server, host, connection):
        async with server.stream(SET, "Summarize") as answer:
            assert await anext(aiter(answer)) == "Short"
        await closed.wait()
        await connection.mcp.ping()
        (used,) = host.usage.values()
    assert used.output_tokens > 0
    assert used.input_tokens >= len(json.dumps("Summarize")) / 3.5
