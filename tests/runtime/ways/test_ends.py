"""The end of a server's process comes in a bounded time, whatever its handlers do."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import NamedTuple

import pytest

from tests.runtime.programs import stuck
from tests.runtime.transports.fake_clients import (
    INITIALIZE,
    RawHttp,
    RawSse,
    RawWebSocket,
    message,
)
from tests.runtime.transports.fixtures_bounded import post
from tests.sample import IS_SAMPLE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

FILE = str(Path(stuck.__file__))
GRACE = 0.3  # what the program's limits are together
SOON = GRACE + 0.5 + 0.5 + 5  # slack, last steps, and a machine that is busy: handlers take 60 s
PATIENCE = 20.0
START = 120.0  # seconds in which a program starts
WORDS = {
    "stdio": (FILE, "asyncio"),
    "stdio, trio": (FILE, "trio"),
    "stdio, embedded": (FILE, "embedded"),
    "http": (FILE, "asgi"),
    "sse": (FILE, "sse"),
    "ws": (FILE, "asgi"),
    "mcp-lite": (FILE, "lite"),
    "grpc": (FILE, "grpc"),
    "kinwire serve": ("-m", "kinwire", "serve", FILE, "--transport", "http", "--port", "0"),
    "kinwire serve, stdio": ("-m", "kinwire", "serve", FILE),
}


class Run(NamedTuple):
    """A process with a handler that runs, and how to end it."""

    way: str
    tool: str
    end: str
    code: int = 0
    """What it exits with."""
    reported: bool = True
    """Whether the log says which handler was stuck."""


class Program:
    """A process that serves; what it writes to stderr is read as it comes."""

    def __init__(self, way: str) -> None:
        self.over_stdio = way.startswith("stdio") or way.endswith("stdio")
        self.way = way
        self.process = subprocess.Popen(
            (sys.executable, *WORDS[way]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if self.over_stdio else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self.ends = ExitStack()

    def said(self, pattern: str) -> re.Match[str]:
        """Read stderr until a line matches."""
        assert self.process.stderr is not None
        with timer(self.process.kill):
            for line in self.process.stderr:
                self.lines.append(line)
                if found := re.search(pattern, line):
                    return found
        raise AssertionError((self.way, self.process.poll(), self.lines))

    def call(self, tool: str) -> None:
        """Have a handler begin."""
        frame = message("tools/call", 2, name=tool, arguments={})
        if self.over_stdio:
            assert self.process.stdin is not None
            for line in (INITIALIZE, message("notifications/initialized"), frame):
                self.process.stdin.write(line.decode() + "\n")
            self.process.stdin.flush()
        else:
            self._call_over_network(int(self.said(r"127\.0\.0\.1:(\d+)")[1]), frame)
        self.said("begun")

    def _call_over_network(self, port: int, frame: bytes) -> None:
        """Call on a connection of its own, and leave the answer unread."""
        if self.way == "ws":
            self.ends.callback((peer := RawWebSocket(port)).close)
            peer.send(frame)
            return
        if self.way == "grpc":
            words = ("call", f"grpc://127.0.0.1:{port}", json.loads(frame)["params"]["name"])
            caller = subprocess.Popen(
                (sys.executable, "-m", "kinwire", *words),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            self.ends.callback(caller.wait)
            self.ends.callback(caller.kill)
            return
        if self.way == "sse":
            self.ends.callback((stream := RawSse(port)).close)
            request = post(frame, path=stream.address)
        elif self.way == "mcp-lite":
            request = post(frame, path="/mcp-lite/v1/calltools")
        else:
            client = RawHttp(port)
            for connection in client._connections:
                self.ends.callback(connection.close)
            request = post(frame, f"Mcp-Session-Id: {client.session}")
        connected = self.ends.enter_context(socket.create_connection(("127.0.0.1", port)))
        connected.sendall(request)

    def end(self, how: str) -> None:
        """Ask for the end."""
        if how == "end of input":
            assert self.process.stdin is not None
            self.process.stdin.close()
            return
        name, _, twice = how.partition(" ")
        number = signal.Signals[name]
        self.process.send_signal(number)
        if twice:
            time.sleep(0.1)
            with suppress(ProcessLookupError):
                self.process.send_signal(number)


@contextmanager
def timer(act: Callable[[], object]) -> Iterator[None]:
    """Call `act` if the block goes on for too long."""
    waiting = Timer(START, act)
    waiting.start()
    try:
        yield
    finally:
        waiting.cancel()


@contextmanager
def program(way: str) -> Iterator[Program]:
    one = Program(way)
    with one.process, one.ends:
        try:
            yield one
        finally:
            one.process.kill()


def fault_of(run: Run) -> str | None:
    """Return what is wrong with how a process ends, None if nothing is."""
    with program(run.way) as one:
        one.call(run.tool)
        one.end(run.end)
        began = time.monotonic()
        try:
            code = one.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return f"{run}: goes on"
        took = time.monotonic() - began
        assert one.process.stderr is not None
        said = "".join(one.lines) + one.process.stderr.read()
    if code != run.code or took > SOON:
        return f"{run}: {code} after {took:.1f} s; {said}"
    if (
        run.reported
        and f"tools/call {run.tool}" not in said
        and f"{run.tool} (stuck.py" not in said
    ):
        return f"{run}: not named: {said}"
    return None


SHORT = [
    Run("stdio", "blocks", "end of input"),
    Run("stdio, trio", "swallows", "SIGTERM"),
    Run("http", "sleeps", "SIGHUP", reported=False),
    Run("http", "swallows", "SIGTERM"),
]

TOOLS = ("sleeps", "blocks", "swallows")
STDIO = ("stdio", "kinwire serve, stdio")
NETWORK = ("http", "sse", "ws", "kinwire serve")
SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


def every(ways: tuple[str, ...], ends: tuple[str, ...]) -> Iterator[Run]:
    """Yield each way with each end and each tool, not all combinations unless it is asked for."""
    whole = os.environ.get("KINWIRE_ENDS") == "all"
    for first, way in enumerate(ways):
        for second, end in enumerate(ends):
            tools = TOOLS if whole else (TOOLS[(first + second) % len(TOOLS)],)
            code = 130 if end == "SIGINT" and way in (*STDIO, "grpc") else 0
            reported = "again" not in end
            yield from (
                Run(way, tool, end, code, reported=reported and tool != "sleeps") for tool in tools
            )


FULL = [
    *every(STDIO, ("end of input", *SIGNALS)),
    *every(NETWORK, SIGNALS),
    *every(("grpc",), SIGNALS),
    Run("mcp-lite", "sleeps", "SIGTERM", reported=False),
    Run("mcp-lite", "swallows", "SIGTERM"),
    Run("mcp-lite", "blocks", "SIGINT"),
    Run("mcp-lite", "blocks", "SIGHUP"),
    *every(("http", "ws"), tuple(f"{one} again" for one in SIGNALS)),
    Run("stdio, embedded", "blocks", "end of input"),
    Run("stdio, embedded", "blocks", "SIGINT", 130),
    Run("stdio, trio", "blocks", "SIGTERM"),
    # Over stdio a second signal ends it as if nobody had handled the first.
    Run("stdio", "blocks", "SIGTERM again", -signal.SIGTERM, reported=False),
    Run("stdio", "blocks", "SIGHUP again", -signal.SIGHUP, reported=False),
    # What lets no thread run is ended by the system.
    Run("stdio", "computes", "SIGTERM", -signal.SIGALRM, reported=False),
    Run("http", "computes", "SIGTERM", -signal.SIGALRM, reported=False),
]


def faults(runs: list[Run], at_once: int) -> list[str]:
    with ThreadPoolExecutor(at_once) as pool:
        return [fault for fault in pool.map(fault_of, runs) if fault is not None]


def test_a_process_ends_by_its_deadline() -> None:
    assert faults(SHORT, len(SHORT)) == []


@pytest.mark.faults
def test_a_process_ends_by_its_deadline_on_every_way() -> None:
    assert faults(FULL[:: 4 if IS_SAMPLE else 1], 6) == []


PARENT = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=2)
child.stdin.write(sys.stdin.buffer.read())
child.stdin.flush()
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.faults
@pytest.mark.parametrize("tool", ["sleeps", "blocks", "swallows"])
def test_a_server_whose_parent_is_killed_ends(tool: str) -> None:
    call = message("tools/call", 2, name=tool, arguments={})
    frames = b"\n".join([INITIALIZE, message("notifications/initialized"), call, b""])
    command = (sys.executable, "-c", PARENT, sys.executable, FILE, "asyncio")
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stderr is not None
        parent.stdin.write(frames)
        parent.stdin.close()
        pid = int(parent.stdout.readline())
        assert b"begun" in parent.stderr.readline()
        parent.kill()
        began = time.monotonic()
        while is_alive(pid) and time.monotonic() - began < PATIENCE:
            time.sleep(0.01)
        assert time.monotonic() - began < SOON


def is_alive(pid: int) -> bool:
    """Return whether a process runs; its parent is gone, so it is not left behind as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or ") Z" not in status.read_text(encoding="utf-8")
