"""A host whose requests are sent by a client of the user's own."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest

from kinwire import ConnectionClosedError, Host, RequestTimeoutError, connect
from kinwire_protocols import mcp
from tests.runtime.mcp.http_client.fake_server import (
    GREETING,
    Asked,
    Line,
    RawServer,
    polite,
    reply_to,
)

pytestmark = pytest.mark.anyio

RESULT: dict[str, Any] = {"content": []}


async def answer_in_a_stream(asked: Asked, line: Line) -> None:
    await line.stream()
    await line.event({"jsonrpc": "2.0", "id": "s", "method": "ping"})
    await line.event(reply_to(asked, RESULT))
    await line.close()


async def test_requests_are_sent_by_the_client_with_its_hooks_and_it_stays_open() -> None:
    seen: list[str] = []

    async def note(request: httpx2.Request) -> None:
        seen.append(request.method)
        request.headers["X-Signed"] = "yes"

    client = httpx2.AsyncClient(
        headers={"User-Agent": "corporate/1", "X-Own": "1"}, event_hooks={"request": [note]}
    )
    async with client, RawServer.serving(polite(tools_call=answer_in_a_stream)) as server:
        async with connect(server.url, http=client, headers={"X-Key": "k"}) as peer:
            assert (await peer.mcp.tools_call(name="x")).content == []
        assert not client.is_closed
    assert seen.count("POST") >= 3
    assert seen[-1] == "DELETE"
    assert len(server.asked) == len(seen)
    for asked in server.asked:
        assert asked.headers["x-signed"] == "yes"
        assert asked.headers["x-own"] == "1"
        assert asked.headers["x-key"] == "k"
        assert asked.headers["user-agent"] == "corporate/1"
        assert "gzip" in asked.headers["accept-encoding"]


async def test_a_user_agent_among_the_headers_precedes_that_of_the_client() -> None:
    async with (
        httpx2.AsyncClient() as client,
        RawServer.serving(polite()) as server,
        connect(server.url, http=client, headers={"User-Agent": "mine/1"}),
    ):
        pass
    assert {asked.headers["user-agent"] for asked in server.asked} == {"mine/1"}


async def test_headers_may_have_other_letters_than_ascii() -> None:
    async def call(asked: Asked, line: Line) -> None:
        await line.raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
            b"id: n\xc3\xbc\nretry: 1\ndata:\n\n"
        )
        waiting.append(asked)
        await line.close()

    async def rest(asked: Asked, line: Line) -> None:
        if "last-event-id" in asked.headers:
            await line.stream()
            await line.event(reply_to(waiting[0], RESULT))
            await line.close()
        else:
            await line.status(405)

    waiting: list[Asked] = []
    async with (
        httpx2.AsyncClient() as client,
        RawServer.serving(polite(tools_call=call, GET=rest)) as server,
        connect(server.url, http=client, headers={"X-Name": "gr\xfc\xdfe"}) as peer,
    ):
        assert (await peer.mcp.tools_call(name="x")).content == []
    assert {asked.headers["x-name"] for asked in server.asked} == {"gr\xfc\xdfe"}
    ids = [asked.headers.get("last-event-id") for asked in server.asked if asked.method == "GET"]
    assert ids[-1] == "n\xc3\xbc"


async def test_the_read_timeout_of_the_client_does_not_end_a_slow_call() -> None:
    async def slow(asked: Asked, line: Line) -> None:
        await anyio.sleep(0.05)
        await line.json(reply_to(asked, RESULT))

    timeout = httpx2.Timeout(5.0, read=0.01)
    async with (
        httpx2.AsyncClient(timeout=timeout) as client,
        RawServer.serving(polite(tools_call=slow)) as server,
        connect(server.url, http=client) as peer,
    ):
        assert (await peer.mcp.tools_call(name="x")).content == []


async def test_a_call_that_is_given_up_is_closed() -> None:
    closed = anyio.Event()

    async def never(asked: Asked, line: Line) -> None:
        await line.until_closed()
        closed.set()

    async with (
        httpx2.AsyncClient() as client,
        RawServer.serving(polite(tools_call=never)) as server,
        connect(server.url, http=client) as peer,
    ):
        with pytest.raises(RequestTimeoutError):
            await mcp.ServerStub(peer.with_options(timeout=0.05)).tools_call(name="x")
        await closed.wait()


async def test_an_error_of_the_client_is_named_and_its_text_is_not_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "kinwire")

    async def refuse(response: httpx2.Response) -> None:
        response.raise_for_status()

    async def fail(asked: Asked, line: Line) -> None:
        await line.status(500)

    client = httpx2.AsyncClient(event_hooks={"response": [refuse]})
    async with (
        client,
        RawServer.serving(polite(initialize=fail), "/mcp?key=t0ken") as server,
        Host("h", "1") as host,
    ):
        with pytest.raises(ConnectionClosedError) as caught:
            await host.connect(server.url, http=client)
    assert "HTTPStatusError of the client passed as `http`" in caught.value.reason
    assert "t0ken" not in f"{caught.value} {caplog.text}"


async def test_a_client_that_was_closed_is_reported() -> None:
    client = httpx2.AsyncClient()
    await client.aclose()
    async with Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError, match="RuntimeError of the client"):
            await host.connect("http://127.0.0.1:1/mcp", http=client)


class FakeResponse:
    def __init__(self, body: bytes) -> None:
        self.status_code = 200
        self.headers: Mapping[str, str] = {"Content-Type": "application/json"}
        self._body = body

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        yield self._body


class FakeUserClient:
    """A client with the same methods, of another library."""

    def __init__(self) -> None:
        self.timeouts: list[Any] = []

    @asynccontextmanager
    async def stream(
        self, method: str, url: str, *, content: bytes | None, headers: Any, timeout: Any
    ) -> AsyncGenerator[FakeResponse]:
        self.timeouts.append(timeout)
        message = json.loads(content or b"{}")
        result = GREETING if message.get("method") == "initialize" else {}
        yield FakeResponse(
            json.dumps({"jsonrpc": "2.0", "id": message.get("id", 0), "result": result}).encode()
        )

    async def aclose(self) -> None:
        raise AssertionError("it is not ours to close")


async def test_any_client_with_the_same_methods_can_be_used() -> None:
    client = FakeUserClient()
    async with connect("https://far.example/mcp", http=client) as peer:
        await peer.mcp.ping()
    assert client.timeouts[0] == (10.0, None, None, None)


REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("http://127.0.0.1/", {"http": httpx2.Client()}, TypeError, "an asynchronous HTTP client"),
    ("http://127.0.0.1/", {"http": httpx2.AsyncClient}, TypeError, "an asynchronous HTTP client"),
    ("ws://127.0.0.1/", {}, ValueError, "http: this option is for http and https"),
    ("http://127.0.0.1/", {"proxy": "http://127.0.0.1:1"}, ValueError, "Leave proxy out"),
]


@pytest.mark.parametrize(("url", "options", "error", "why"), REFUSED)
async def test_options_that_do_not_go_together_are_refused(
    url: str, options: dict[str, Any], error: type[Exception], why: str
) -> None:
    async with Host("h", "1") as host:
        with pytest.raises(error, match=why):
            await host.connect(url, **{"http": httpx2.AsyncClient(), **options})
