"""What only the HTTP client meets: connections that end, cookies that expire, proxies, bombs."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections import Counter
from collections.abc import Callable
from functools import cache

import anyio
import pytest

from kinwire import ConnectionClosedError, Host, InvalidResponseError, Limits, connect
from kinwire.mcp.connection import Connection
from tests.runtime.mcp.http_client.fake_server import (
    GREETING,
    Asked,
    Handler,
    Line,
    RawServer,
    polite,
    reply_to,
)
from tests.runtime.transports.faults.table import CLIENT

pytestmark = [pytest.mark.faults, pytest.mark.anyio]

MEGABYTE = 1 << 20
SOON = 10.0  # seconds
FAR = "//127.0.0.1:1/mcp"  # nobody listens there: only the proxy answers

BEGUN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"

# Connections that were kept, and end.


async def closes(asked: Asked, line: Line) -> None:
    await line.close()


async def resets(asked: Asked, line: Line) -> None:
    await line.reset()


def sends(head: bytes) -> Handler:
    async def handle(asked: Asked, line: Line) -> None:
        await line.raw(head)
        await line.close()

    return handle


def answers_and_closes(seconds: float) -> Handler:
    home = polite()

    async def handle(asked: Asked, line: Line) -> None:
        await home(asked, line)
        await anyio.sleep(seconds)
        await line.close()

    return handle


MOMENTS = {
    "with the answer": answers_and_closes(0),
    "while idle": answers_and_closes(0.002),
    "as a request comes": closes,
    "as a request comes, reset": resets,
    "in the head": sends(b"HTTP/1.1 200 O"),
    "in the body": sends(BEGUN),
}
ONCE = ("in the head", "in the body")  # the server has begun to answer
ROUNDS, CALLS = 10, 8


@pytest.mark.fault(39, CLIENT, "http")
@pytest.mark.parametrize("moment", MOMENTS)
async def test_no_call_runs_twice_when_kept_connections_end(moment: str) -> None:
    home, ending = polite(), MOMENTS[moment]
    failed: Counter[str] = Counter()

    async def handle(asked: Asked, line: Line) -> None:
        ends = asked.earlier and asked.about in ("ping", "tools/call")
        await (ending if ends else home)(asked, line)

    async def call(connection: Connection, method: str) -> None:
        try:
            await connection.session.raw(method, {"name": "x"})
        except ConnectionClosedError:
            failed[method] += 1

    with anyio.fail_after(SOON):
        async with RawServer.serving(handle) as server, connect(server.url) as connection:
            for _ in range(ROUNDS):
                async with anyio.create_task_group() as tasks:
                    for number in range(CALLS):
                        method = "tools/call" if number % 2 else "ping"
                        tasks.start_soon(call, connection, method)
    runs = Counter(asked.message["id"] for asked in server.asked if asked.about == "tools/call")
    pings = Counter(asked.message["id"] for asked in server.asked if asked.about == "ping")
    assert len(runs) == ROUNDS * CALLS / 2 or failed["tools/call"]
    assert set(runs.values()) == {1}
    assert set(pings.values()) <= ({1} if moment in ONCE else {1, 2})
    assert not failed["ping"] or moment in ONCE


# Cookies that expire.


@pytest.mark.fault(40, CLIENT, "http")
async def test_a_session_is_begun_again_when_its_cookie_expires() -> None:
    """A balancer sends who comes without a cookie to the next server."""
    nodes = [b"a", b"b"]
    sent: list[str] = []

    async def greet(asked: Asked, line: Line) -> None:
        body = json.dumps(reply_to(asked, GREETING)).encode()
        await line.raw(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\n"
            b"Set-Cookie: node=%s; Max-Age=1\r\nContent-Length: %d\r\n\r\n%s"
            % (node := nodes.pop(0), node, len(body), body)
        )

    async def ping(asked: Asked, line: Line) -> None:
        sent.append(asked.headers.get("cookie", ""))
        if sent[-1] == f"node={asked.headers['mcp-session-id']}":
            await line.json(reply_to(asked))
        else:
            await line.status(404)

    handler = polite(initialize=greet, ping=ping)
    async with RawServer.serving(handler) as server, connect(server.url) as connection:
        await connection.mcp.ping()
        await anyio.sleep(1.1)
        await connection.mcp.ping()
        await connection.mcp.ping()
    assert sent == ["node=a", "", "node=b", "node=b"]


# Proxies that die.

TUNNELS = {
    "before the answer": closes,
    "in the answer": sends(b"HTTP/1.1 200 Connection est"),
    "with the answer": sends(b"HTTP/1.1 200 Connection established\r\n\r\n"),
    "after a refusal": sends(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"),
}


@pytest.mark.fault(41, CLIENT, "http")
@pytest.mark.parametrize("moment", TUNNELS)
async def test_a_proxy_that_dies_before_the_tunnel_stands_is_named(moment: str) -> None:
    async with RawServer.serving(polite(CONNECT=TUNNELS[moment])) as proxy, Host("h", "1") as host:
        through = proxy.url.replace("//", "//ann:s3cret@")
        with anyio.fail_after(SOON), pytest.raises(ConnectionClosedError, match="proxy") as caught:
            await host.connect("https:" + FAR, proxy=through)
        assert "s3cret" not in str(caught.value)
        assert {one.method for one in proxy.asked} == {"CONNECT"}


ANSWERS = {
    "before the answer": closes,
    "before the answer, reset": resets,
    "in the head": sends(b"HTTP/1.1 200 O"),
    "in the body": sends(BEGUN),
    "in a stream": sends(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {"),
}


@pytest.mark.fault(41, CLIENT, "http")
@pytest.mark.parametrize("moment", ANSWERS)
async def test_a_proxy_that_dies_fails_its_calls_alone(moment: str) -> None:
    handler = polite(tools_call=ANSWERS[moment])
    errors = (ConnectionClosedError, InvalidResponseError)
    async with (
        RawServer.serving(handler) as proxy,
        connect("http:" + FAR, proxy=proxy.url) as connection,
    ):
        for _ in range(2):
            with anyio.fail_after(SOON), pytest.raises(errors):
                await connection.session.raw("tools/call", {"name": "x"})
            await connection.mcp.ping()
        assert proxy.about().count("tools/call") == 2


# Bodies that grow when they are decoded.


def packed(data: bytes) -> bytes:
    return gzip.compress(data, 1)


@cache
def zeros() -> bytes:
    """Return 64 MiB in 280 kB."""
    return packed(bytes(64 * MEGABYTE))


BOMBS: dict[str, tuple[Callable[[], bytes], dict[str, str]]] = {
    "json": (zeros, {}),
    "json, packed twice": (lambda: packed(zeros()), {"content_encoding": "gzip, gzip"}),
    "events": (
        lambda: packed(b"data: " + bytes(64 * MEGABYTE)),
        {"content_type": "text/event-stream"},
    ),
}


@pytest.mark.fault(42, CLIENT, "http")
@pytest.mark.parametrize("kind", BOMBS)
@pytest.mark.parametrize("status", [200, 500])
async def test_a_body_that_grows_fails_its_call_and_costs_no_memory(kind: str, status: int) -> None:
    make, fields = BOMBS[kind]
    body = make()
    headers = {"content_type": "application/json", "content_encoding": "gzip", **fields}

    async def bomb(asked: Asked, line: Line) -> None:
        await line.status(status, body, **headers)

    limits = Limits(frame_size=MEGABYTE)
    async with (
        RawServer.serving(polite(tools_call=bomb)) as server,
        Host("h", "1", limits=limits) as host,
    ):
        connection = await host.connect(server.url)
        tracemalloc.start()
        try:
            with anyio.fail_after(SOON), pytest.raises(InvalidResponseError):
                await connection.mcp.tools_call(name="x")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8 * MEGABYTE
        await connection.mcp.ping()
