"""The client of MCP-lite reads streams of raw servers over HTTP."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from kinwire.mcplite.client.outcomes import (
    LiteAnswer,
    LitePart,
)
from kinwire.rpc.errors import (
    ConnectionClosedError,
    InvalidResponseError,
)
from kinwire_protocols.jsonrpc.errors import InternalError
from tests.runtime.mcp.http_client.fake_server import Asked, Line
from tests.runtime.mcplite.client.fixtures_raw import ANSWER, answering, of

pytestmark = pytest.mark.anyio


def events(*given: tuple[str, Any], end: str = "") -> bytes:
    lines = [f"event: {name}\ndata: {json.dumps(value)}\n\n" for name, value in given]
    return "".join([*lines, end]).encode()


HALVES: Any = (("message", {"partial": "one "}), ("heartbeat", {}), ("message", {"partial": "two"}))


@pytest.mark.spec("mcp-lite-4.3-1", "mcp-lite-3.7-2", "mcp-lite-A.4-2")
async def test_parts_of_a_stream_come_before_its_outcome() -> None:
    full = {**ANSWER, "id": 2}
    ends: list[tuple[dict[str, Any], str]] = [
        ({"_meta": {"response_type": "answer"}}, "one two"),
        (full, "done"),
        ({"jsonrpc": "2.0", "id": 3, "result": ANSWER}, "done"),
        ({"content": []}, ""),
    ]
    left = list(ends)

    async def handle(asked: Asked, line: Line) -> None:
        assert asked.headers["accept"] == "text/event-stream"
        await line.stream()
        await line.raw(b": comment\n\n")
        for byte in events(*HALVES, ("tea", 5), ("done", left.pop(0)[0])):
            await line.raw(bytes([byte]))
        await line.close()

    async with of(handle) as (client, _):
        for _, text in ends:
            parts = [part async for part in client.stream("report", {"topic": "x"})]
            assert [one.text for one in parts[:-1] if isinstance(one, LitePart)] == ["one ", "two"]
            outcome = parts[-1]
            assert isinstance(outcome, LiteAnswer)
            assert outcome.text == text


@pytest.mark.spec("mcp-lite-4.3-5")
async def test_streams_that_end_otherwise_raise() -> None:
    error = {"code": -32603, "message": "broken"}
    rows: list[tuple[bytes, type[Exception]]] = [
        (events(*HALVES), ConnectionClosedError),
        (events(*HALVES, ("error", error)), InternalError),
        (events(("error", {"error": error})), InternalError),
        (events(("error", {"message": "x"})), InvalidResponseError),
        (events(("message", {"jsonrpc": "2.0", "id": 5, "error": error})), InternalError),
        (events(("done", {"jsonrpc": "2.0", "id": 99, "result": ANSWER})), InvalidResponseError),
        (events(("done", {**ANSWER, "id": 99})), InvalidResponseError),
        (events(("message", {"text": "x"})), InvalidResponseError),
        (events(("message", {"partial": 5})), InvalidResponseError),
        (events(("message", {"partial": "x" * 3000})), InvalidResponseError),
        (b"data: nonsense\n\n", InvalidResponseError),
        (
            events(*([("message", {"partial": "x" * 900})] * 4), ("done", {"_meta": {}})),
            InvalidResponseError,
        ),
    ]
    left = list(rows)

    async def handle(asked: Asked, line: Line) -> None:
        await line.stream()
        await line.raw(left.pop(0)[0])
        await line.close()

    async with of(handle, answer_size=2000) as (client, _):
        for number, (_, kind) in enumerate(rows):
            with pytest.raises(kind) as caught:
                _ = [part async for part in client.stream("report")]
            assert type(caught.value) is kind, number


async def test_a_server_that_does_not_stream_gives_the_outcome_alone() -> None:
    async with of(answering(ANSWER, 503)) as (client, _):
        (outcome,) = [part async for part in client.stream("report")]
        assert isinstance(outcome, LiteAnswer)
        with pytest.raises(InvalidResponseError):
            _ = [part async for part in client.stream("report")]


async def test_a_stream_that_is_left_is_cancelled_at_the_server() -> None:
    closed = anyio.Event()

    async def handle(asked: Asked, line: Line) -> None:
        await line.stream()
        await line.event({"partial": "one"})
        await line.until_closed()
        closed.set()

    async with of(handle) as (client, _):
        async with aclosing(client.stream("report")) as parts:
            async for part in parts:
                assert isinstance(part, LitePart)
                break
        with anyio.fail_after(5):
            await closed.wait()


async def test_the_progress_of_a_promise_is_followed() -> None:
    progress = {"progress": 1, "total": 2, "message": "half"}

    async def handle(asked: Asked, line: Line) -> None:
        await line.stream()
        await line.event({"partial": "", "progress": progress})
        await line.event({**ANSWER}, event="done")
        await line.close()

    async with of(handle) as (client, server):
        first, last = [part async for part in client.promise("p").follow()]
        assert isinstance(first, LitePart)
        assert (first.text, first.progress) == ("", progress)
        assert isinstance(last, LiteAnswer)
        assert server.asked[0].message["params"]["name"] == "redeem"
