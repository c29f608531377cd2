"""Replies that break off are asked for again after their last event."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError, InvalidResponseError, connect
from kinwire_protocols import mcp
from tests.runtime.mcp.http_client.fake_server import (
    Asked,
    Handler,
    Line,
    RawServer,
    polite,
)

pytestmark = pytest.mark.anyio

ANSWER: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "result": {"content": []}}
IDS = ["e_1-a:b", "e_2-a:b", "e_3-a:b"]


def report(number: int) -> dict[str, Any]:
    params = {"progressToken": 2, "progress": number}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def stream(*events: tuple[dict[str, Any], str], abort: bool = False) -> Handler:
    async def handle(asked: Asked, line: Line) -> None:
        if abort:
            await line.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
            await line.raw(b"Content-Length: 100000\r\n\r\n")
        else:
            await line.stream()
        for message, id in events:
            await line.event(message, id=id, retry="1")
        await line.close()

    return handle


def resuming(*handlers: Handler) -> tuple[Handler, list[str | None]]:
    """Return what serves GET: each handler once, then nothing; and the ids it is asked for."""
    left = list(handlers)
    asked_for: list[str | None] = []

    async def get(asked: Asked, line: Line) -> None:
        if "last-event-id" not in asked.headers:
            await line.status(405)
            return
        asked_for.append(asked.headers["last-event-id"])
        if left:
            await left.pop(0)(asked, line)
        else:
            await line.status(404)

    return get, asked_for


@pytest.mark.parametrize("abort", [False, True])
async def test_what_was_missed_comes_once_and_in_order(abort: bool) -> None:
    heard: list[float] = []
    begun = stream((report(1), IDS[0]), (report(2), IDS[1]), abort=abort)
    get, asked_for = resuming(stream((report(3), IDS[2]), (ANSWER, "x")))
    async with (
        RawServer.serving(polite(tools_call=begun, GET=get)) as server,
        connect(server.url) as peer,
    ):
        loud = peer.with_options(on_progress=lambda one: heard.append(one.progress))
        await mcp.ServerStub(loud).tools_call(name="x")
    assert heard == [1, 2, 3]
    assert asked_for == [IDS[1]]


async def test_a_second_break_does_not_forget_where_to_go_on() -> None:
    get, asked_for = resuming(stream(), stream(), stream((ANSWER, "x")))
    begun = stream((report(1), IDS[0]))
    async with (
        RawServer.serving(polite(tools_call=begun, GET=get)) as server,
        connect(server.url) as peer,
    ):
        await peer.mcp.tools_call(name="x")
    assert asked_for == [IDS[0]] * 3


HOPELESS = [
    pytest.param([], "cannot be had again: HTTP 404", 1, id="not kept"),
    pytest.param([stream((report(2), ""))], "ended without the answer", 1, id="the id is cleared"),
    pytest.param([stream()] * 9, "broke off 5 times in a row", 5, id="nothing comes any more"),
]


@pytest.mark.parametrize(("attempts", "why", "count"), HOPELESS)
async def test_it_is_given_up_when_nothing_more_comes(
    attempts: list[Handler], why: str, count: int
) -> None:
    get, asked_for = resuming(*attempts)
    begun = stream((report(1), IDS[0]))
    async with (
        RawServer.serving(polite(tools_call=begun, GET=get)) as server,
        connect(server.url) as peer,
    ):
        with pytest.raises(InvalidResponseError, match=why):
            await peer.mcp.tools_call(name="x")
        assert len(asked_for) == count
        await peer.mcp.ping()


async def test_a_server_that_is_gone_is_not_waited_for() -> None:
    async def die(asked: Asked, line: Line) -> None:
        server.stop()
        await line.stream()
        await line.event(report(1), id="1", retry="60000")
        await line.reset()

    async with RawServer.serving(polite(tools_call=die)) as server, connect(server.url) as peer:
        with anyio.fail_after(5), pytest.raises(ConnectionClosedError, match="No answer from"):
            await peer.mcp.tools_call(name="x")
