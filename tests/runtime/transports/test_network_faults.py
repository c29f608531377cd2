"""Faults of HTTP and of WebSocket alone; `faults/` has those that every transport can have."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosedError as ConnectionClosedOnWire

from tests.runtime.programs import held
from tests.runtime.transports.fake_clients import RawClient, RawHttp, RawWebSocket, message
from tests.runtime.transports.fixtures_processes import Program, serving

pytestmark = pytest.mark.faults

FILE = Path(held.__file__)
MEGABYTE = 1 << 20
POST = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
ACCEPT = b"Accept: application/json, text/event-stream\r\n"
SOON = 5.0  # seconds
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SIZED = """
from kinwire import Limits, Server

server = Server("sized", "1", limits=Limits(frame_size={size}))


@server.tool
async def size(text: str) -> str:
    return str(len(text))
"""


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with serving(FILE, "sse") as one:  # it has the other transports, too
        yield one


def raw_socket(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), SOON)


def lives(client: RawClient) -> bool:
    return client.ask(message("ping", 1)) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@on_linux
@pytest.mark.parametrize(
    ("begun", "more"),
    [(b"GET /", b"x" * 65536), (POST, b"X-More: " + b"x" * 65536 + b"\r\n")],
    ids=["target", "headers"],
)
def test_a_head_without_end_is_refused_and_costs_no_memory(
    begun: bytes, more: bytes, program: Program
) -> None:
    with RawHttp(program.port) as client, raw_socket(program.port) as connection:
        before = program.peak()
        connection.sendall(begun)
        with pytest.raises(OSError, match=r"reset|[Bb]roken"):
            connection.sendall(more * 1024)  # 64 MiB
        assert program.peak() - before < 16 * MEGABYTE
        assert lives(client)


@on_linux
def test_a_body_in_chunks_without_end_is_refused_and_costs_no_memory(program: Program) -> None:
    with RawHttp(program.port) as client, raw_socket(program.port) as connection:
        before = program.peak()
        connection.sendall(POST + ACCEPT + b"Transfer-Encoding: chunked\r\n\r\n")
        with suppress(OSError):  # it does not read on, which is a refusal too
            for _ in range(1024):
                connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            assert connection.recv(MEGABYTE).startswith(b"HTTP/1.1 413 ")
        assert program.peak() - before < 16 * MEGABYTE
        assert lives(client)


def test_requests_that_come_together_are_all_answered(program: Program) -> None:
    """However many bytes they are together: each head is short."""
    one = POST + ACCEPT + b"Content-Length: %d\r\n\r\n" % 60_000 + b"x" * 60_000
    with raw_socket(program.port) as connection:
        connection.sendall(one * 10 + POST[:20])
        read = b""
        while read.count(b"HTTP/1.1 400 ") < 10:
            read += (chunk := connection.recv(MEGABYTE))
            assert chunk, read
        assert b"head" not in read


@pytest.mark.parametrize("size", [100_000, 20 * MEGABYTE])
def test_a_websocket_takes_what_a_frame_may_be_and_no_more(size: int, tmp_path: Path) -> None:
    file = tmp_path / "sized.py"
    file.write_text(SIZED.format(size=size))
    with serving(file, "ws") as program, RawWebSocket(program.port) as client:
        call = message("tools/call", 1, name="size", arguments={"text": ""})
        text = "x" * (size - len(call))
        fits = message("tools/call", 1, name="size", arguments={"text": text})
        (answer,) = client.ask(fits)
        assert answer["result"]["content"][0]["text"] == str(len(text))
        (refused,) = client.ask(fits + b" ")
        assert (refused["id"], refused["error"]["code"]) == (1, -32600)
        assert f"longer than {size} bytes" in refused["error"]["message"]
        if size == 100_000:
            # Only the head of the frame: what is sent but unread could lose the server's answer.
            head = b"\x81\xff" + (4 * size + 1).to_bytes(8, "big") + b"\0\0\0\0"
            client.socket.socket.sendall(head)
            with pytest.raises(ConnectionClosedOnWire) as closed:
                client.next()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
