"""A server as a process: how it begins, how it ends, and that nothing else gets into its output."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire.mcp.host import Host, connect
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.transports.child import stdio
from kinwire_protocols import mcp

PROGRAM = """
import sys
import threading
import time

import anyio

from kinwire import Context, Server

server = Server("program", "1")
started = threading.Event()

@server.tool
def block() -> None:
    time.sleep(60)

@server.tool
def noisy() -> str:
    print("this is a stray line")
    return "quiet"

@server.tool
async def leave() -> None:
    sys.exit(3)

@server.tool
async def interrupt() -> None:
    raise KeyboardInterrupt

@server.tool
async def interrupt_the_end(context: Context) -> None:
    while not context.session.closed:
        await anyio.sleep(0.01)
    raise KeyboardInterrupt

@server.tool
def timer() -> None:
    threading.Timer(60, print).start()

server.run()
print("after", file=sys.stderr)
"""

HANDSHAKE: list[dict[str, Any]] = [
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    },
    {"method": "notifications/initialized"},
]


@pytest.fixture
def program(tmp_path: Path) -> str:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    return str(file)


def call(tool: str) -> dict[str, Any]:
    return {"id": tool, "method": "tools/call", "params": {"name": tool}}


def answered(program: str, *messages: dict[str, Any]) -> tuple[dict[Any, Any], str, int]:
    """Write all messages, end the input; return results by id, stderr and the exit code."""
    lines = [json.dumps({"jsonrpc": "2.0", **message}) for message in [*HANDSHAKE, *messages]]
    done = subprocess.run(
        [sys.executable, program],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    replies = map(json.loads, done.stdout.splitlines())
    results = {reply["id"]: reply.get("result") for reply in replies}
    return results, done.stderr, done.returncode


def test_what_came_before_the_end_of_input_is_answered(program: str) -> None:
    results, stderr, code = answered(program, {"id": 2, "method": "tools/list"}, call("noisy"))
    assert len(results[2]["tools"]) == 6
    assert results["noisy"] == {"content": [{"type": "text", "text": "quiet"}]}
    assert sorted(stderr.split("\n")) == ["", "after", "this is a stray line"]
    assert code == 0


@pytest.mark.slow
def test_a_tool_that_exits_takes_nobody_with_it(program: str) -> None:
    results, _, code = answered(program, call("leave"), {"id": 3, "method": "ping"})
    assert results["leave"] is None  # an error
    assert results[3] == {}
    assert code == 0


@pytest.mark.parametrize("tool", ["block", "timer"])
@pytest.mark.slow
def test_a_thread_that_goes_on_does_not_keep_the_process(program: str, tool: str) -> None:
    results, stderr, code = answered(program, call(tool))
    assert 1 in results
    assert (stderr, code) == ("", 0)


def test_interrupting_a_server_ends_it_without_a_traceback(program: str) -> None:
    with subprocess.Popen(
        [sys.executable, program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **HANDSHAKE[0]}).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()  # it serves now
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_a_tool_that_blocks_does_not_keep_a_server_that_is_interrupted(program: str) -> None:
    messages = [*HANDSHAKE, call("block"), {"id": 2, "method": "ping"}]
    with subprocess.Popen(
        [sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.readline()  # the answer to the ping: the tool runs
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130


@pytest.mark.parametrize(
    "tool", ["interrupt", pytest.param("interrupt_the_end", marks=pytest.mark.slow)]
)
def test_an_interrupt_inside_a_tool_ends_the_server_without_a_traceback(
    program: str, tool: str
) -> None:
    _, stderr, code = answered(program, call(tool))
    assert (stderr, code) == ("", 130)


@pytest.mark.parametrize(
    "anyio_backend", ["asyncio", pytest.param("trio", marks=pytest.mark.slow)], indirect=True
)
@pytest.mark.anyio
async def test_a_host_starts_calls_and_ends_a_server(program: str) -> None:
    async with connect(stdio(sys.executable, program)) as client:
        assert client.server_info.name == "program"
        result = await client.mcp.tools_call(name="noisy")
        assert result.content == [mcp.TextContent(text="quiet")]


@pytest.mark.anyio
async def test_a_program_that_is_not_a_server_is_reported_with_its_exit_code() -> None:
    program = "import sys; print('no config', file=sys.stderr); sys.exit(7)"
    async with Host("h", "1") as host:
        with pytest.raises(ConnectionClosedError, match="no config") as caught:
            await host.connect(stdio(sys.executable, "-c", program))
        assert caught.value.exit_code == 7
        with pytest.raises(ConnectionClosedError, match="Cannot start 'no-such-program'"):
            await host.connect(stdio("no-such-program"))
