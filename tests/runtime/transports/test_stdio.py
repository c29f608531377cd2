"""A server on its own standard input and output, as a client of any make sees it: in bytes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.fixtures_wire import Wire
from tests.runtime.rpc.fixtures_jsonrpc_vectors import BYTES, RESULT, TEXTS, Reply


@pytest.fixture(params=["asyncio", "trio"])
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def running(request: pytest.FixtureRequest) -> Iterator[Wire]:
    """A server that tests share which leave it as it was."""
    with Wire.server(str(request.param)) as wire:
        yield wire


# How each library waits for a descriptor is proved with pipes: where a test is about something
# else, one library is enough on every change.
ONE_LIBRARY = pytest.mark.parametrize(
    "backend", ["asyncio", pytest.param("trio", marks=pytest.mark.slow)]
)

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}'
TRICKY = "é漢😀\u2028\u2029\u0085—"


def replied(message: dict[str, Any]) -> Reply:
    return message["error"]["code"] if "error" in message else RESULT, message["id"]


def request(id: object, tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    return json.dumps(message, ensure_ascii=False).encode()


# Frames.


@pytest.mark.spec("mcp-json-rpc-2.0-requirements-1", "mcp-stdio-transport-1")
def test_every_vector_earns_its_reply_and_a_ping_is_answered_after_it(running: Wire) -> None:
    # A newline inside a frame ends it, so only what holds none can be sent as one line.
    vectors = [(text.encode(), reply) for text, reply in TEXTS] + BYTES
    vectors = [(frame, reply) for frame, reply in vectors if b"\n" not in frame]
    for number, (frame, expected) in enumerate(vectors):
        running.send(frame)
        if expected is not None:
            assert replied(running.message()) == expected, frame[:200]
        assert replied(running.ask(f"after {number}")) == (RESULT, f"after {number}"), frame[:200]


def test_a_line_ends_with_the_newline_byte_only(running: Wire) -> None:
    assert json.loads(running.call("echo", text=TRICKY)) == {"text": TRICKY}
    running.send(request(1, "echo", text=TRICKY))
    line = running.line()
    assert "\u2028".encode() in line
    assert line.endswith(b"}")


def test_bytes_may_come_one_at_a_time(running: Wire) -> None:
    for byte in request(1, "echo", text=TRICKY) + b"\n":
        running.write(bytes([byte]))
    assert TRICKY in running.message()["result"]["content"][0]["text"]


def test_many_lines_in_one_write_are_answered(running: Wire) -> None:
    running.send(*(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % id for id in range(500)))
    assert sorted(running.message()["id"] for _ in range(500)) == list(range(500))


def test_length_headers_are_unreadable_lines_and_crlf_is_fine(running: Wire) -> None:
    running.write(b"Content-Length: 40\r\n\r\n" + PING + b"\r\n")
    assert replied(running.message()) == (-32700, None)
    assert running.line() == PONG


@pytest.mark.parametrize("backend", ["asyncio", "uvloop", "trio"])
@pytest.mark.parametrize("size", [65_535, 65_536, 1_048_577, 4_000_000])
@pytest.mark.faults
def test_long_lines_are_carried_both_ways(backend: str, size: int) -> None:
    with Wire.server(backend) as wire:
        assert json.loads(wire.call("echo", text="x" * size)) == {"text": "x" * size}
        assert wire.call("long", size=2 * size) == "x" * (2 * size)


def resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def resident_at_rest(pid: int) -> int:
    """Return the resident size once the process takes no more of the processor."""
    seen: list[str] = []
    while len(seen) < 10 or len(set(seen[-10:])) > 1:
        seen.append(" ".join(Path(f"/proc/{pid}/stat").read_text().split()[13:15]))
        time.sleep(0.05)
    return resident(pid)


# What must not get into the protocol.


@pytest.mark.spec("mcp-stdio-transport-3", "mcp-stdio-transport-4")
@pytest.mark.fault(14, "server", "stdio")
@ONE_LIBRARY
def test_stray_output_goes_to_stderr_and_stray_reading_gets_nothing(backend: str) -> None:
    with Wire.server(backend) as wire:
        wire.send(PING, request(2, "pollute"), b'{"jsonrpc":"2.0","id":3,"method":"ping"}')
        messages = {message["id"]: message for message in (wire.message() for _ in range(3))}
        assert messages[2]["result"]["content"][0]["text"] == "read b''"
        wire.close_input()
        assert wire.exit_code() == 0
        assert wire.remaining() == b"after\n"
        for word in (b"printed", b"written", b"by a child", b"by a shell"):
            assert word in wire.words()


# The end.


@pytest.mark.parametrize(
    "backend", ["asyncio", pytest.param("uvloop", marks=pytest.mark.slow), "trio"]
)
@pytest.mark.spec("mcp-shutdown-procedures-2")
def test_the_end_of_input_ends_the_server(backend: str) -> None:
    with Wire.server(backend) as wire:
        assert replied(wire.ask(1)) == (RESULT, 1)
        wire.close_input()
        assert wire.exit_code() == 0
        assert b"ended: The client closed" in wire.words()
        assert wire.words().count(b"ended:") == 1


@ONE_LIBRARY
def test_input_that_has_ended_before_the_start_is_an_end(backend: str) -> None:
    with Wire.server(backend, stdin=subprocess.DEVNULL) as wire:
        assert (wire.exit_code(), wire.remaining()) == (0, b"after\n")


@ONE_LIBRARY
def test_requests_before_the_end_are_answered_also_one_without_a_newline(backend: str) -> None:
    with Wire.server(backend) as wire:
        wire.write(PING + b"\n" + PING)
        wire.close_input()
        assert [wire.line(), wire.line()] == [PONG, PONG]


@ONE_LIBRARY
def test_a_running_request_gets_a_moment_and_the_rest_is_cancelled(backend: str) -> None:
    with Wire.server(backend) as wire:
        wire.send(request(1, "wait", seconds=0.3), request(2, "wait", seconds=300))
        wire.hear(b"waiting\nwaiting\n")
        wire.close_input()
        assert wire.message()["id"] == 1
        assert wire.exit_code() == 0
        assert wire.remaining() == b"after\n"


@ONE_LIBRARY
def test_a_client_that_stops_reading_ends_the_server(backend: str) -> None:
    with Wire.server(backend) as wire:
        assert replied(wire.ask(1)) == (RESULT, 1)
        assert wire.process.stdout is not None
        wire.process.stdout.close()
        wire.send(PING)
        assert wire.exit_code() != -13
        assert b"does not read" in wire.words()


# Other kinds of descriptors.


@ONE_LIBRARY
def test_a_file_is_read_to_its_end(backend: str, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(PING + b"\n" + request(2, "echo", a=1))
    with (
        (tmp_path / "in").open("rb") as given,
        (tmp_path / "out").open("wb") as taken,
        Wire.server(backend, stdin=given, stdout=taken) as wire,
    ):
        assert wire.exit_code() == 0
    lines = (tmp_path / "out").read_bytes().splitlines()
    assert {json.loads(line)["id"] for line in lines[:-1]} == {1, 2}
    assert lines[-1] == b"after"


@pytest.mark.slow
def test_sockets_are_spoken_on_and_given_back_as_they_were(backend: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, Wire.server(backend, stdin=theirs, stdout=theirs) as wire:
        ours.settimeout(60)
        ours.sendall(PING + b"\n")
        assert ours.makefile("rb").readline().strip() == PONG
        assert not os.get_blocking(theirs.fileno())  # one open file: this process shares it
        ours.shutdown(socket.SHUT_WR)
        assert wire.exit_code() == 0
        assert os.get_blocking(theirs.fileno())


@pytest.mark.slow
def test_a_terminal_stays_blocking(backend: str) -> None:
    ours, theirs = pty.openpty()
    try:
        with Wire.server(backend, stdin=theirs) as wire:
            os.write(ours, PING + b"\n")
            assert wire.line() == PONG
            assert os.get_blocking(theirs)
            os.write(ours, b"\x04")
            assert wire.exit_code() == 0
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.slow
def test_a_pipe_shared_with_stderr_stays_blocking_there(backend: str) -> None:
    with Wire.server(backend, stderr=subprocess.STDOUT) as wire:
        assert replied(wire.ask(1)) == (RESULT, 1)
        flags = Path(f"/proc/{wire.process.pid}/fdinfo/2").read_text()
        assert not int(flags.split("flags:")[1].split()[0], 8) & os.O_NONBLOCK


@pytest.mark.slow
def test_a_named_pipe_reports_its_end(backend: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "in")
    opened = os.open(tmp_path / "in", os.O_RDWR)
    with (tmp_path / "in").open("rb") as given, Wire.server(backend, stdin=given) as wire:
        os.write(opened, PING + b"\n")
        os.close(opened)
        assert wire.line() == PONG
        assert wire.exit_code() == 0


@pytest.mark.slow
def test_a_full_pipe_is_written_as_it_empties(backend: str) -> None:
    with Wire.server(backend) as wire:
        assert wire.process.stdout is not None
        fcntl.fcntl(wire.process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        wire.send(*(request(id, "long", size=50_000) for id in range(100)))
        assert sorted(wire.message()["id"] for _ in range(100)) == list(range(100))


@pytest.mark.faults
@pytest.mark.fault(18, "server", "stdio")
def test_a_client_that_reads_nothing_for_a_while_costs_bounded_memory(backend: str) -> None:
    with Wire.server(backend) as wire:
        assert replied(wire.ask(0)) == (RESULT, 0)
        before = resident(wire.process.pid)
        writer = subprocess.Popen(
            [sys.executable, "-c", FLOOD], stdin=subprocess.DEVNULL, stdout=wire.process.stdin
        )
        grown = resident_at_rest(wire.process.pid) - before
        assert sum(1 for _ in range(1500) if wire.message()["result"]) == 1500
        assert writer.wait(60) == 0
        assert grown < 32 * 1024 * 1024


FLOOD = """
import os, json
for id in range(1500):
    params = {"name": "long", "arguments": {"size": 50000}}
    line = json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    os.write(1, line.encode() + b"\\n")
"""
