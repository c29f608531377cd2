"""Connections under uvicorn on which nothing moves are given up; the time is handed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kinwire.transports.http.connections import ConnectionWatch
from tests.each import each

COMING: dict[str, Any] = {"type": "http"}
COMPLETE = {**COMING, "path": "/mcp"}


class Socket:
    """What uvicorn's connections have of asyncio."""

    def __init__(self, unread: int) -> None:
        self.unread = unread
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return self.unread

    def abort(self) -> None:
        self.aborted = True


class Cycle:
    """What uvicorn knows of a request."""

    def __init__(self, *, complete: bool) -> None:
        self.response_complete = complete


class OfWebSocket:
    """A connection of uvicorn's, after an upgrade."""

    def __init__(self, *, unread: int = 0) -> None:
        self.transport = Socket(unread)


class OfHttp(OfWebSocket):
    """A connection of uvicorn's, and the request that came last."""

    def __init__(self, scope: Any = None, cycle: Cycle | None = None, *, unread: int = 0) -> None:
        super().__init__(unread=unread)
        self.scope = scope
        self.cycle = cycle


RUNS, DONE = Cycle(complete=False), Cycle(complete=True)

STILL = [
    pytest.param(OfHttp(), 10, id="nothing came"),
    pytest.param(OfHttp(COMING), 10, id="half a head"),
    pytest.param(OfHttp(COMING, DONE), 10, id="half a second head"),
    pytest.param(OfHttp(COMING, RUNS), 10, id="half a head behind a request that runs"),
    pytest.param(OfHttp(COMPLETE, DONE), 10, id="no second request"),
    pytest.param(OfHttp(COMPLETE, RUNS, unread=1), 30, id="an answer that nobody reads"),
    pytest.param(OfHttp(COMPLETE, DONE, unread=1), 30, id="the rest of one"),
    pytest.param(OfWebSocket(unread=1), 30, id="messages that nobody reads"),
    pytest.param(OfHttp(COMPLETE, RUNS), None, id="a request that runs"),
    pytest.param(OfWebSocket(), None, id="a WebSocket that is silent"),
]


@each(("connection", "seconds"), STILL)
def test_what_stands_still_is_given_up(connection: OfWebSocket, seconds: int | None) -> None:
    watch = ConnectionWatch()
    given_up = None
    for now in range(100, 200):
        watch.tick([connection], float(now))
        if connection.transport.aborted:
            given_up = now - 100
            break
    assert given_up == seconds


READERS = [
    pytest.param(lambda now: 100 - 99 * (now % 20 == 1), id="seldom, and it grows as well"),
    pytest.param(lambda now: 90_000 - 30_000 * (now % 3) if now else 1, id="more came than ever"),
    pytest.param(lambda now: 60_000 + now * 37_813 % 9_973 if now else 0, id="from a full buffer"),
    pytest.param(lambda now: 100_000 + now * 1_000 - 5_000 * (now % 25 == 3), id="too slowly"),
]


@each("unread", READERS)
def test_who_reads_a_little_is_waited_for(unread: Callable[[int], int]) -> None:
    watch = ConnectionWatch()
    connection = OfHttp(COMPLETE, RUNS)
    for now in range(300):
        connection.transport.unread = unread(now)
        watch.tick([connection], float(now))
    assert not connection.transport.aborted


def test_who_reads_no_more_is_given_up_whatever_else_comes() -> None:
    watch = ConnectionWatch()
    connection = OfWebSocket(unread=1)
    for now in range(30):
        watch.tick([connection], float(now))
        connection.transport.unread += 1_000
    assert not connection.transport.aborted
    watch.tick([connection], 30.0)
    assert connection.transport.aborted


def test_who_sends_request_after_request_is_waited_for() -> None:
    watch = ConnectionWatch()
    connection = OfHttp()
    for now in range(100):
        connection.scope, connection.cycle = dict(COMPLETE), DONE
        watch.tick([connection], float(now))
    assert not connection.transport.aborted
