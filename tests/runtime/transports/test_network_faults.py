"""Peers that stop half-way, send without end, do not read or leave, and a server that is to end.

What is on a wire is the same for Streamable HTTP and HTTP+SSE, as both take messages by POST.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from websockets.exceptions import ConnectionClosedError as ConnectionClosedOnWire

from kinwire import ConnectionClosedError, connect
from kinwire.transports.http.limits import HttpLimits
from tests.runtime.programs import held
from tests.runtime.transports.program import Program, serving
from tests.runtime.transports.raw import RAW, RawClient, RawHttp, RawWebSocket, message
from tests.runtime.transports.serving import NETWORK, Served, served

pytestmark = pytest.mark.faults

FILE = Path(held.__file__)
MEGABYTE = 1 << 20
POST = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
ACCEPT = b"Accept: application/json, text/event-stream\r\n"
QUICK = HttpLimits(body_time=0.3)
SOON = 5.0  # seconds

PATIENT = """
from pathlib import Path

import anyio

from kinwire import Context, Limits, Server

server = Server("patient", "1", limits=Limits(drain=4))


@server.tool
async def wait(context: Context) -> str:
    await context.progress(1)
    while not Path({go_on!r}).exists():
        await anyio.sleep(0.01)
    return "done"
"""
SIZED = """
from kinwire import Limits, Server

server = Server("sized", "1", limits=Limits(frame_size={size}))


@server.tool
async def size(text: str) -> str:
    return str(len(text))
"""


@pytest.fixture(scope="module")
def listening() -> Iterator[Served]:
    with served(held.server, limits=QUICK) as one:
        yield one


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with serving(FILE) as one:
        yield one


def raw_socket(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), SOON)


async def until_free(port: int) -> None:
    """Return when nobody listens there."""
    while True:
        try:
            raw_socket(port).close()
        except ConnectionRefusedError:
            return
        await anyio.sleep(0.01)


def until_closed(connection: socket.socket) -> bytes:
    read = b""
    while chunk := connection.recv(MEGABYTE):
        read += chunk
    return read


def lives(client: RawClient) -> bool:
    return client.ask(message("ping", 1)) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.parametrize("rest", ["closes", "is silent"])
def test_half_a_body_is_no_message(rest: str, listening: Served) -> None:
    with RawHttp(listening.port) as client, raw_socket(listening.port) as connection:
        session = f"Mcp-Session-Id: {client._fields['Mcp-Session-Id']}\r\n".encode()
        call = message("tools/call", 1, name="echo", arguments={"text": "half"})
        head = POST + ACCEPT + session + b"Content-Length: %d\r\n\r\n" % len(call)
        connection.sendall(head + call[:-10])
        if rest == "closes":
            connection.shutdown(socket.SHUT_WR)
            assert b'"half"' not in until_closed(connection)
        else:
            assert connection.recv(MEGABYTE).startswith(b"HTTP/1.1 408 ")
        assert lives(client)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("framing", ["with its length", "in chunks"])
def test_a_body_without_end_is_refused_and_costs_no_memory(framing: str, program: Program) -> None:
    with RawHttp(program.port) as client, raw_socket(program.port) as connection:
        before = program.peak()
        chunked = framing == "in chunks"
        length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 1073741824"
        connection.sendall(POST + ACCEPT + length + b"\r\n\r\n")
        part = b"x" * 65536
        piece = b"10000\r\n" + part + b"\r\n" if chunked else part
        refused = False
        try:
            for _ in range(1024):  # 64 MiB
                connection.sendall(piece)
        except OSError:
            refused = True  # it does not read on, which is a refusal too
        response = b""
        try:
            response = connection.recv(MEGABYTE)
        except OSError:
            assert refused
        assert refused or response.startswith(b"HTTP/1.1 413 ")
        assert program.peak() - before < 16 * MEGABYTE
        assert lives(client)


@pytest.mark.parametrize("transport", RAW)
def test_an_id_that_is_in_use_is_refused_and_the_first_call_goes_on(
    transport: str, listening: Served
) -> None:
    hold = message("tools/call", 7, name="hold")
    echo = message("tools/call", 7, name="echo", arguments={"text": "second"})
    with RAW[transport](listening.port) as client:
        if isinstance(client, RawHttp):
            with raw_socket(listening.port) as first:
                session = f"Mcp-Session-Id: {client._fields['Mcp-Session-Id']}\r\n".encode()
                length = b"Content-Length: %d\r\n\r\n" % len(hold)
                first.sendall(POST + ACCEPT + session + length + hold)
                while (found := client.ask(echo)) and "error" not in found[0]:
                    pass  # the first has not arrived yet
        else:
            client.send(hold)
            found = client.ask(echo)
        assert [(one["error"]["code"], one["id"]) for one in found] in ([(-32600, 7)],)
        assert lives(client)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("transport", RAW)
def test_who_does_not_read_costs_no_memory_and_slows_nobody(
    transport: str, program: Program
) -> None:
    pour = message("tools/call", 7, name="pour", arguments={"kilobytes": 64 * 1024})
    with RAW[transport](program.port) as slow, RawHttp(program.port) as other:
        before = program.peak()
        with raw_socket(program.port) as connection:
            if isinstance(slow, RawHttp):
                session = f"Mcp-Session-Id: {slow._fields['Mcp-Session-Id']}\r\n".encode()
                length = b"Content-Length: %d\r\n\r\n" % len(pour)
                connection.sendall(POST + ACCEPT + session + length + pour)
            else:
                slow.send(pour)
            worst = 0.0
            for _ in range(200):
                began = time.monotonic()
                assert lives(other)
                worst = max(worst, time.monotonic() - began)
            assert worst < SOON
            assert program.peak() - before < 32 * MEGABYTE


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
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


def test_requests_that_come_at_once_are_all_answered(program: Program) -> None:
    """However many bytes they are together: each head is short."""
    one = POST + ACCEPT + b"Content-Length: %d\r\n\r\n" % 60_000 + b"x" * 60_000
    with raw_socket(program.port) as connection:
        connection.sendall(one * 10 + POST[:20])
        read = b""
        while read.count(b"HTTP/1.1 400 ") < 10:
            read += (chunk := connection.recv(MEGABYTE))
            assert chunk, read
        assert b"head" not in read


def test_a_second_signal_ends_a_server_at_once() -> None:
    with serving(FILE) as program, raw_socket(program.port) as connection:
        RawHttp(program.port).close()  # it has begun
        connection.sendall(POST + ACCEPT + b"Content-Length: 9\r\n\r\n")  # it never comes
        program.process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            program.process.wait(0.5)
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(3) == 0


@pytest.mark.parametrize("transport", NETWORK)
def test_what_runs_when_a_server_is_to_end_gets_its_moment(transport: str, tmp_path: Path) -> None:
    file, go_on = tmp_path / "patient.py", tmp_path / "go_on"
    file.write_text(PATIENT.format(go_on=str(go_on)))

    async def use(program: Program) -> list[object]:
        async with connect(program.url(transport)) as server:
            began = anyio.Event()
            waiting = server.with_options(on_progress=lambda report: began.set())
            results: list[object] = []

            async def call() -> None:
                results.append((await waiting.mcp.tools_call(name="wait")).content[0])

            with anyio.fail_after(2 * SOON):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(call)
                    await began.wait()
                    program.process.send_signal(signal.SIGTERM)
                    await until_free(program.port)  # it is about to end
                    go_on.touch()
            return [getattr(result, "text", None) for result in results]

    with serving(file, transport) as program:
        assert anyio.run(use, program) == ["done"]
        assert program.process.wait(2 * SOON) == 0


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
        with pytest.raises(ConnectionClosedOnWire) as closed:
            client.ask(fits + b" ")
        if size == 100_000 or closed.value.rcvd is not None:  # else it went with what was unread
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009


@pytest.mark.parametrize("transport", NETWORK)
def test_a_server_that_is_to_end_fails_calls_at_once_and_ends_with_0(transport: str) -> None:
    async def use(program: Program) -> float:
        async with connect(program.url(transport)) as server:
            failed: list[float] = []

            async def call() -> None:
                with pytest.raises(ConnectionClosedError):
                    await server.mcp.tools_call(name="hold")
                failed.append(anyio.current_time())

            async with anyio.create_task_group() as tasks:
                for _ in range(20):
                    tasks.start_soon(call)
                await server.mcp.ping()
                ended = anyio.current_time()
                program.process.send_signal(signal.SIGTERM)
            assert len(failed) == 20
            return max(failed) - ended

    with serving(FILE, transport) as program:
        assert anyio.run(use, program) < SOON + 2
        assert program.process.wait(2 * SOON) == 0


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("transport", NETWORK)
def test_a_killed_server_fails_every_call_within_a_second(transport: str, backend: str) -> None:
    async def use(program: Program) -> None:
        outcomes: list[str] = []
        async with connect(program.url(transport)) as server:

            async def call() -> None:
                try:
                    await server.mcp.tools_call(name="hold")
                except ConnectionClosedError as error:
                    outcomes.append(type(error).__name__)

            async with anyio.create_task_group() as tasks:
                for _ in range(20):
                    tasks.start_soon(call)
                await server.mcp.ping()
                program.process.kill()
                began = anyio.current_time()
            assert len(outcomes) == 20
            assert anyio.current_time() - began < SOON

    with serving(FILE, transport) as program:
        anyio.run(use, program, backend=backend)
