"""A host of a server of 2024-11-05: all comes on one stream, messages are posted elsewhere."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError, Host, InvalidResponseError, connect
from tests.runtime.mcp.http_client.fake_server import (
    GREETING,
    Asked,
    Line,
    RawServer,
    polite,
    reply_to,
)

pytestmark = pytest.mark.anyio


class OldServer:
    """A server of HTTP+SSE."""

    def __init__(self, endpoint: str, status: int = 405) -> None:
        self._endpoint = endpoint
        self._status = status
        self._stream: Line | None = None
        self._turn = anyio.Lock()

    async def __call__(self, asked: Asked, line: Line) -> None:
        if asked.method == "GET":
            self._stream = line
            await line.stream()
            await line.raw(f"event: endpoint\ndata: {self._endpoint}\n\n".encode())
            await line.until_closed()
        elif asked.target == "/sse":
            await line.status(self._status)
        else:
            await line.status(202, b"Accepted")
            async with self._turn:
                await self._answer(asked)

    async def _answer(self, asked: Asked) -> None:
        assert self._stream is not None
        if asked.about == "tools/call":
            await self._stream.close()
        elif "id" in asked.message:
            result = GREETING if asked.about == "initialize" else {}
            await self._stream.event(reply_to(asked, result))


@asynccontextmanager
async def old_server(endpoint: str, status: int = 405) -> AsyncGenerator[RawServer]:
    async with RawServer.serving(OldServer(endpoint, status), "/sse") as server:
        yield server


@pytest.mark.parametrize("status", [400, 404, 405])
@pytest.mark.parametrize("endpoint", ["/messages?session=1", "{origin}/messages?session=1"])
async def test_an_old_server_is_found_out_and_spoken_to(endpoint: str, status: int) -> None:
    async with old_server("", status) as server:
        origin = server.url.removesuffix("/sse")
        server.handler = OldServer(endpoint.format(origin=origin), status)
        async with connect(server.url, headers={"X-Key": "k"}) as peer:
            for _ in range(3):
                await peer.mcp.ping()
        assert [one.target for one in server.asked][:2] == ["/sse", "/sse"]
        assert {one.target for one in server.asked[2:]} == {"/messages?session=1"}
        assert {one.headers["x-key"] for one in server.asked} == {"k"}
        assert server.about().count("initialize") == 2
        assert "DELETE" not in server.about()


async def test_the_end_of_the_stream_is_the_end_of_the_session() -> None:
    async with old_server("/messages") as server, connect(server.url) as peer:
        with anyio.fail_after(5), pytest.raises(ConnectionClosedError, match="event stream"):
            await peer.mcp.tools_call(name="x")
        assert peer.session.closed


async def test_messages_are_not_posted_to_another_origin() -> None:
    async with (
        RawServer.serving(polite()) as other,
        old_server(other.url) as server,
        Host("h", "1") as host,
    ):
        with pytest.raises(ConnectionClosedError, match="messages to be posted elsewhere"):
            await host.connect(server.url, headers={"X-Key": "s3cret"})
        assert other.asked == []


async def test_a_server_of_neither_kind_is_recognized_by_its_first_answer() -> None:
    async def nothing(asked: Asked, line: Line) -> None:
        await line.status(404, json.dumps({"detail": "x"}).encode())

    async with RawServer.serving(nothing) as server, Host("h", "1") as host:
        with pytest.raises(InvalidResponseError, match=r"HTTP 404\. Nothing is served there"):
            await host.connect(server.url)
        assert [one.method for one in server.asked] == ["POST", "GET"]


async def test_concurrent_calls_get_their_own_answers() -> None:
    async def call(peer: Any, text: str) -> None:
        result = await peer.mcp.completion_complete(
            ref={"type": "ref/prompt", "name": text}, argument={"name": "a", "value": text}
        )
        assert result.completion.values == [text]

    class Completing(OldServer):
        async def _answer(self, asked: Asked) -> None:
            assert self._stream is not None
            if asked.about != "completion/complete":
                await super()._answer(asked)
                return
            values = [asked.message["params"]["argument"]["value"]]
            await self._stream.event(reply_to(asked, {"completion": {"values": values}}))

    async with (
        RawServer.serving(Completing("/messages"), "/sse") as server,
        connect(server.url) as peer,
        anyio.create_task_group() as tasks,
    ):
        for number in range(20):
            tasks.start_soon(call, peer, f"text {number}")
