"""Cases from public reports about others, each as the whole thing that failed there.

A server is a process and spoken to in bytes. Cases that a test of one part covers as well as a
whole could are not repeated here.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.runtime.fixtures_wire import PROGRAMS, Wire

INFO = {"name": "test", "version": "0"}


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def process(request: pytest.FixtureRequest) -> Iterator[Wire]:
    """A server after the handshake. It has to outlive all cases, and then to end well."""
    program = str(PROGRAMS / "cases.py")
    with Wire(sys.executable, "-W", "error", program, str(request.param)) as wire:
        opened = wire.ask(
            "open", "initialize", protocolVersion="2024-11-05", capabilities={}, clientInfo=INFO
        )
        assert "result" in opened
        wire.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield wire
        wire.close_input()
        assert wire.exit_code() == 0
        assert wire.words() == b""


@pytest.fixture
def wire(process: Wire) -> Iterator[Wire]:
    yield process
    assert process.ask("last") == {"jsonrpc": "2.0", "id": "last", "result": {}}


def called(tool: str, id: object, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def cancelled(id: object) -> bytes:
    message = {"method": "notifications/cancelled", "params": {"requestId": id}}
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def text_of(message: dict[str, Any]) -> Any:
    return message["result"]["content"][0]["text"]


def test_b011_what_is_absent_is_not_written_as_null(wire: Wire) -> None:
    wire.send(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    line = wire.line()
    assert b"null" not in line
    assert b"nextCursor" not in line
    described = [tool.get("description") for tool in json.loads(line)["result"]["tools"]]
    assert described.count(None) == 5


def test_b016_large_integers_keep_their_digits(wire: Wire) -> None:
    arguments = '{"n":9007199254740993,"m":-9223372036854775808,"f":0.1}'
    wire.send(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
        b'"params":{"name":"echo","arguments":%s}}' % arguments.encode()
    )
    assert text_of(wire.message()).replace(" ", "") == arguments


@pytest.mark.parametrize("text", ["12345", "007", "true", "null", "[1]", '{"a":1}', " 5 "])
def test_b017_a_text_that_looks_like_json_stays_a_text(wire: Wire, text: str) -> None:
    assert json.loads(wire.call("typed", p=text)) == ["str", text]
    refused = wire.ask(1, "tools/call", name="number", arguments={"p": text})
    assert refused["error"]["code"] == -32602


@pytest.mark.parametrize("token", ["NaN", "-Infinity", "Infinity"])
def test_b020_tokens_that_are_not_json_are_refused(wire: Wire, token: str) -> None:
    """The case wants -32700 with null. The issue wins: the id is sent where it can be found."""
    wire.send(
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"x":%s}}}' % token.encode()
    )
    refused = wire.message()
    assert (refused["error"]["code"], refused["id"]) == (-32600, 1)
    assert b"unreadable frame" in said_on_stderr(wire)


@pytest.mark.parametrize(
    "id",
    ['"1"', "1", '"0"', "0", "-5", '"abc"', "9007199254740993", '"1.0"', '""', f'"{"x" * 10**6}"'],
)
def test_b021_an_id_comes_back_byte_for_byte(wire: Wire, id: str) -> None:
    """Also case B022, ids that are false in Python, and an id of a megabyte."""
    wire.send(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % id.encode())
    assert wire.line() == b'{"jsonrpc":"2.0","id":%s,"result":{}}' % id.encode()


def test_b024_no_notification_is_ever_answered(wire: Wire) -> None:
    wire.send(
        b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
        b'{"jsonrpc":"2.0","method":"x/y","params":{"a":1}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"x"}}',
    )
    assert wire.ask(3)["id"] == 3


def test_b029_a_second_request_with_an_id_in_flight_is_refused(
    wire: Wire,
) -> None:
    wire.send(called("slow", 1, name="A"), called("release", 1, name="A"))
    refused = wire.message()
    assert (refused["id"], refused["error"]["code"]) == (1, -32600)
    assert wire.call("release", name="A") == "released A"
    assert text_of(wire.message()) == "slow A"
    wire.send(called("slow", 1, name="B"), cancelled(1))
    assert wire.ask(2)["id"] == 2
    assert text_of(wire.ask(1, "tools/call", name="echo", arguments={})) == "{}"


def test_b030_a_cancellation_at_the_end_of_its_handler_is_harmless(wire: Wire) -> None:
    for round_ in range(300):
        wire.send(called("soon", round_, turns=round_ % 9), cancelled(round_))
        wire.send(b'{"jsonrpc":"2.0","id":"ping %d","method":"ping"}' % round_)
        seen = [wire.message()["id"]]
        while seen[-1] != f"ping {round_}":
            seen.append(wire.message()["id"])
        assert seen.count(round_) <= 1


def test_b031_nothing_is_sent_for_a_call_that_was_taken_back(wire: Wire) -> None:
    """The seed lets a partial result or an error follow; at most one, and we send none."""
    wire.send(called("slow", 1, name="C"))
    assert wire.ask(2)["id"] == 2
    wire.send(cancelled(1))
    assert wire.call("release", name="C") == "released C"
    assert wire.ask(3)["id"] == 3


@pytest.mark.parametrize(
    "batch",
    [
        "[]",
        "[1]",
        '[{"jsonrpc":"2.0","method":"notifications/x"}]',
        '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},'
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}]',
    ],
)
def test_b039_an_array_is_refused_as_a_whole(wire: Wire, batch: str) -> None:
    wire.send(batch.encode())
    refused = wire.message()
    assert (refused["error"]["code"], refused["id"]) == (-32600, None)
    assert b"unreadable frame" in said_on_stderr(wire)


def test_b045_a_too_long_message_is_answered_and_the_next_one_is_read(wire: Wire) -> None:
    """The case wants 10 MB carried, or an error where there is a limit: 4 MiB, says the issue."""
    wire.send(called("typed", 1, p="x" * 10_000_000))
    refused = wire.message()
    assert refused["error"]["code"] == -32600
    assert b"unreadable frame" in said_on_stderr(wire)


def said_on_stderr(wire: Wire) -> bytes:
    """Return what the program has said so far, and forget it."""
    wire.hear(b"\n")
    said, wire.stderr = wire.stderr, b""
    return said


# The end of a client.

CLIENT = """
import anyio, sys
from kinwire.mcp.profile import PROFILE
from kinwire.rpc.session import Session
from kinwire.transports.child import stdio

async def main(program):
    transport = stdio(sys.executable, program, "asyncio", stderr=lambda line: None)
    session = Session(transport, routes={}, profile=PROFILE)
    async with session, anyio.create_task_group() as tasks:
        await session.raw("ping")
        for _ in range(50):
            call = {"name": "wait", "arguments": {"seconds": 300}}
            tasks.start_soon(session.raw, "tools/call", call)
        await anyio.wait_all_tasks_blocked()
        await session.raw("ping")
        print(transport.pid, flush=True)

anyio.run(main, sys.argv[1])
"""


@pytest.mark.faults
def test_a_server_ends_when_its_client_is_killed_in_the_midst_of_calls() -> None:
    command = [sys.executable, "-c", CLIENT, str(PROGRAMS / "server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        ended = os.pidfd_open(int(client.stdout.readline()))
        try:
            os.kill(client.pid, signal.SIGKILL)
            assert select.select([ended], [], [], 5)[0], "the server lives on"
        finally:
            os.close(ended)
