"""Messages that end, stop or go on in the middle: none is acted on, and nobody else notices."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from websockets.exceptions import ConnectionClosed

from kinwire import (
    ConnectionClosedError,
    InvalidResponseError,
    Limits,
    RequestTimeoutError,
    Server,
    connect,
    serve_websocket,
)
from kinwire.support.background import background
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.websocket import connection
from tests.runtime.programs import held
from tests.runtime.transports.fake_clients import RawClient, RawOneWay, RawWebSocket, message
from tests.runtime.transports.faults.fake_clients import RAW_CLIENTS, RawStdio, begun
from tests.runtime.transports.faults.fixtures_ends import client_under_test, server_under_test
from tests.runtime.transports.faults.table import CLIENT, SERVER
from tests.runtime.transports.fixtures_processes import peak_of, serving
from tests.runtime.transports.websocket.fake_peers import RawEnd, raw_client, raw_server
from tests.runtime.transports.websocket.test_client import greet

pytestmark = pytest.mark.faults

MEGABYTE = 1 << 20
BYTES = ("stdio", "http", "sse", "ws")  # what has bytes, and so parts of messages
BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def lives(client: RawClient) -> bool:
    return client.ask(message("ping", 1)) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def call_of(text: str) -> bytes:
    return message("tools/call", 1, name="echo", arguments={"text": text})


def reply_to(request: Any, **result: Any) -> bytes:
    body = {"jsonrpc": "2.0", "id": request["id"], "result": result}
    return json.dumps(body).encode()


# And then the end.


@pytest.mark.fault(4, SERVER)
@pytest.mark.parametrize("transport", BYTES)
def test_half_a_request_is_not_a_request(transport: str) -> None:
    call = call_of("half")
    with server_under_test(transport) as client, begun(client, len(call)) as half:
        half.write(call[:-10])
        assert 1 not in [found["id"] for found in half.leave()]


@pytest.mark.fault(4, CLIENT)
@BACKENDS
@pytest.mark.parametrize("transport", BYTES)
def test_half_a_reply_fails_its_call(transport: str, backend: str) -> None:
    with client_under_test(transport, backend) as client:
        call = client.call()
        reply = reply_to(client.server.asked("x"), whole=True)
        client.server.begin(len(reply))(reply[:-5])
        client.server.leave()
        with pytest.raises((ConnectionClosedError, InvalidResponseError)):
            call.result(20)
        if transport == "http":
            assert client.lives()
        else:
            client.portal.call(client.connection.session.wait_closed)


# And then silence.


@pytest.mark.fault(5, SERVER)
@pytest.mark.parametrize("transport", ["http", "sse"])
def test_a_body_that_stops_is_refused_in_time(transport: str) -> None:
    limits = HttpLimits(body_time=0.3)
    with server_under_test(transport, limits=limits) as client, begun(client, 100) as half:
        half.write(b"{")
        assert lives(client)
        assert half.reply is not None
        assert half.reply.recv(MEGABYTE).startswith(b"HTTP/1.1 408 ")
        assert lives(client)


@pytest.mark.fault(5, SERVER)
@pytest.mark.parametrize("transport", ["stdio", "ws"])
def test_a_request_may_come_later_to_its_end(transport: str) -> None:
    """Its connection has nobody else, and it may be no larger than any."""
    call = call_of("whole")
    with server_under_test(transport) as client, begun(client, len(call)) as half:
        half.write(call[:-10])
        if isinstance(client, RawWebSocket):
            with RawWebSocket(client.port) as other:
                assert lives(other)
        half.write(call[-10:] + (b"\n" if isinstance(client, RawStdio) else b""))
        assert isinstance(client, RawOneWay)
        assert client.next()["result"]["content"][0]["text"] == "whole"


@pytest.mark.fault(5, CLIENT)
@BACKENDS
@pytest.mark.parametrize("transport", BYTES)
def test_a_call_whose_reply_stops_times_out(transport: str, backend: str) -> None:
    ends = {"stdio": b"\n", "sse": b"\n\n"}
    with client_under_test(transport, backend, limits=Limits(request_timeout=0.3)) as client:
        call = client.call()
        reply = reply_to(client.server.asked("x"), late=True)
        write = client.server.begin(len(reply))
        write(reply[:-5])
        with pytest.raises(RequestTimeoutError):
            call.result(20)
        with suppress(OSError):  # over HTTP nobody reads it any more
            write(reply[-5:] + ends.get(transport, b""))
        client.server.finish()
        assert client.lives()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_PING_AFTER", 0.1)
    monkeypatch.setattr(connection, "_PONG_WITHIN", 0.1)


HALF = bytes([0x01, 0x02]) + b'{"'  # a text frame of two bytes, and more to follow
MASKED = bytes([0x01, 0x82]) + bytes(4) + b'{"'


@pytest.mark.fault(5, SERVER, "ws")
@pytest.mark.anyio
@pytest.mark.usefixtures("impatient")
async def test_a_client_that_says_half_and_no_more_is_given_up() -> None:
    with anyio.fail_after(20):
        async with background() as tasks:
            port = await tasks.start(serve_websocket, Server("s", "1").serve)
            async with raw_client(port) as (client, _):
                await client.stream.send(MASKED)
                await client.rest()  # it ends
            tasks.cancel_scope.cancel()


@pytest.mark.fault(5, CLIENT, "ws")
@pytest.mark.anyio
@pytest.mark.usefixtures("impatient")
async def test_a_server_that_says_half_and_no_more_is_given_up() -> None:
    async def handle(end: RawEnd) -> None:
        await greet(end)
        await end.stream.send(HALF)
        await end.rest()

    async with raw_server(handle) as url, connect(url) as peer:
        with pytest.raises(ConnectionClosedError, match="does not answer pings"):
            await peer.mcp.ping()


# And no end.


@contextmanager
def in_a_process(transport: str) -> Iterator[tuple[RawClient, int]]:
    """Yield a client, and the process of its server."""
    with ExitStack() as ends:
        if transport == "stdio":
            client = ends.enter_context(RAW_CLIENTS["stdio"]("asyncio"))
            assert isinstance(client, RawStdio)
            yield client, client.wire.process.pid
        else:
            program = ends.enter_context(serving(Path(held.__file__), "sse"))
            yield ends.enter_context(RAW_CLIENTS[transport](program.port)), program.process.pid


@on_linux
@pytest.mark.fault(6, SERVER)
@pytest.mark.parametrize("transport", BYTES)
def test_a_request_without_end_is_refused_and_costs_no_memory(transport: str) -> None:
    with in_a_process(transport) as (client, pid), begun(client, 1 << 30) as half:
        before = peak_of(pid)
        with suppress(OSError):  # not reading on is a refusal, too
            for _ in range(1024):
                half.write(b"x" * 65536)
        if isinstance(client, RawStdio):
            half.write(b"\n")
            assert client.next()["error"]["code"] == -32700
        elif isinstance(client, RawWebSocket):
            with pytest.raises(ConnectionClosed):
                client.next()
            client = RawWebSocket(client.port)
        else:
            assert half.reply is not None
            with suppress(OSError):
                assert half.reply.recv(MEGABYTE)[:13] in (b"HTTP/1.1 413 ", b"")
        assert peak_of(pid) - before < 16 * MEGABYTE
        with client:
            assert lives(client)


@pytest.mark.fault(6, SERVER, "memory")
def test_a_frame_beyond_the_limit_is_refused_by_a_server() -> None:
    with server_under_test("memory") as client:
        found = client.answer(call_of("x" * (5 * MEGABYTE)))
        assert (found["error"]["code"], found["id"]) == (-32600, 1)
        assert lives(client)


@pytest.mark.fault(6, CLIENT)
@BACKENDS
@pytest.mark.parametrize("transport", BYTES)
def test_a_reply_without_end_fails_its_call_and_costs_no_memory(
    transport: str, backend: str
) -> None:
    with client_under_test(transport, backend, limits=Limits(frame_size=MEGABYTE)) as client:
        call = client.call()
        head = b'{"jsonrpc":"2.0","id":%d,"result":{"x":"' % client.server.asked("x")["id"]
        last = b"\n\n"  # ends a line and an event; a frame of WebSocket has a length
        size = len(head) + 512 * 65536 + len(last) if transport == "ws" else 1 << 30
        write = client.server.begin(size)
        tracemalloc.start()
        try:
            with suppress(OSError):
                write(head)
                for _ in range(512):
                    write(b"x" * 65536)
                write(last)
            with pytest.raises(InvalidResponseError, match="longer"):
                call.result(20)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8 * MEGABYTE
        client.server.finish()
        assert client.lives()


@pytest.mark.fault(6, CLIENT, "memory")
@BACKENDS
def test_a_frame_beyond_the_limit_fails_its_call(backend: str) -> None:
    with client_under_test("memory", backend, limits=Limits(frame_size=MEGABYTE)) as client:
        call = client.call()
        client.server.reply(reply_to(client.server.asked("x"), x="x" * MEGABYTE))
        with pytest.raises(InvalidResponseError, match="longer than"):
            call.result(20)
        assert client.lives()
