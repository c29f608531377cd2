"""A process of a server that is asked to end while it works: SIGTERM and shutdowns (MGP 11.4)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Connection, Host, result_text
from kinwire.mcp.urls import transport_to
from kinwire.mgp import MgpKernel
from kinwire_protocols import mgp
from kinwire_protocols.base import RpcError
from kinwire_protocols.mgp.methods import NOTIFICATIONS_MGP_AUDIT
from tests.runtime.mgp.programs import patient
from tests.runtime.mgp.raw_peers import Json
from tests.runtime.transports.fixtures_processes import serving

CALLS = 100  # and as many streams
FILE = Path(patient.__file__)
OFFER: Json = {"version": "0.2.0", "extensions": ["audit", "streaming", "lifecycle"]}
RELEASE: Json = {
    "timestamp": "2026-02-27T12:00:00.000Z",
    "event_type": "com.example.go_on",
    "actor": {"type": "kernel", "id": "kernel"},
    "target": {"server_id": "patient"},
    "result": "SUCCESS",
}
slow = partial(pytest.param, marks=pytest.mark.slow)


class Program:
    """The server, and a kernel of raw lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.states: list[str] = []
        self.replies: dict[Any, Json] = {}
        self.chunks: list[Json] = []
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout

    def say(self, method: str, params: Json, **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
        self._input.write(json.dumps(message).encode() + b"\n")
        self._input.flush()

    def read(self) -> bool:
        """Read a message; return whether there was one."""
        line = self._output.readline()
        if not line:
            return False
        message = json.loads(line)
        if "method" not in message:
            self.replies[message["id"]] = message
        elif message["method"] == "notifications/mgp.lifecycle":
            self.states.append(message["params"]["new_state"])
        elif message["method"] == "notifications/mgp.stream.chunk":
            self.chunks.append(message["params"])
        return True

    def read_reply(self, id: object) -> Json:
        while id not in self.replies:
            assert self.read()
        return self.replies[id]

    def greet(self) -> None:
        about = {"name": "elsewhere", "version": "0"}
        params = {
            "protocolVersion": "2024-11-05",
            "capabilities": {"mgp": OFFER},
            "clientInfo": about,
        }
        self.say("initialize", params, id="hello")
        self.read_reply("hello")
        self.say("notifications/initialized", {})

    def work(self) -> None:
        """Begin calls and streams, and see them run."""
        for number in range(CALLS):
            self.say("tools/call", {"name": "wait"}, id=f"call {number}")
            extras = {"stream": True}
            self.say("tools/call", {"name": "think", "_mgp": extras}, id=f"stream {number}")
        while len(self.chunks) < CALLS:
            assert self.read()

    def stop(self) -> None:
        """Send SIGTERM, and see the server drain."""
        before = len(self.states)
        self.process.send_signal(signal.SIGTERM)
        while len(self.states) == before:
            assert self.read()


@contextmanager
def started() -> Iterator[Program]:
    command = (sys.executable, str(FILE))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            program = Program(process)
            program.greet()
            yield program
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.fault(38, "server", "stdio")
def test_a_hundred_calls_and_streams_are_finished_after_a_signal_and_new_ones_refused() -> None:
    with started() as program:
        program.work()
        program.stop()
        program.say("tools/call", {"name": "wait"}, id="late")
        program.say("mgp/health/ping", {}, id="ping")
        assert program.read_reply("late")["error"]["code"] == 2001
        assert program.read_reply("ping")["result"]["status"] == "degraded"
        assert not [one for one in program.replies if str(one).startswith(("call", "stream"))]
        program.say("notifications/mgp.audit", RELEASE)
        while program.read():
            pass
        assert program.process.wait(5) == 0
    assert program.states == ["draining", "disconnected"]
    for number in range(CALLS):
        called, streamed = (program.replies[f"{one} {number}"] for one in ("call", "stream"))
        assert called["result"]["content"][0]["text"] == "done"
        assert streamed["result"]["content"][0]["text"] == "done too"
    assert len(program.chunks) == 2 * CALLS


@pytest.mark.fault(38, "server", "stdio")
def test_a_second_signal_ends_a_server_that_drains_immediately() -> None:
    with started() as program:
        program.work()
        program.stop()
        program.process.send_signal(signal.SIGTERM)
        assert program.process.wait(5) == -signal.SIGTERM
    assert program.states == ["draining"]


async def held(url: str, tool: str, end: Callable[[Connection], Any]) -> list[str]:
    """Return the states of a server that is asked to end, and the outcome of a call under way."""
    kernel = MgpKernel()
    found: list[str] = []
    began, drains = anyio.Event(), anyio.Event()

    @kernel.on.notifications_mgp_lifecycle
    async def changed(params: mgp.LifecycleNotificationParams) -> None:
        found.append(params.new_state)
        drains.set()

    async with Host("h", "1", extensions=[kernel]) as host:
        connection = await host.connect(transport_to(url, {}), server_id="patient")
        asking = connection.with_options(on_progress=lambda report: began.set())

        async def call() -> None:
            found.append(result_text(await asking.mcp.tools_call(name=tool)))

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await began.wait()
                await end(connection)
            await drains.wait()
            if tool == "wait":  # over HTTP nobody says that a process has ended
                await connection.session.wait_closed()
    return found


async def shut_down(connection: Connection) -> None:
    stub = mgp.ServerStub(connection)
    result = await stub.mgp_lifecycle_shutdown(reason="operator_request", timeout_ms=20000)
    assert (result.accepted, result.pending_requests) == (True, 1)
    with pytest.raises(RpcError) as raised:
        await connection.mcp.tools_list()
    assert raised.value.code == 2001
    event = mgp.AuditNotificationParams.model_validate(RELEASE)
    await connection.notify(NOTIFICATIONS_MGP_AUDIT, event)


@pytest.mark.parametrize("transport", [slow("http"), slow("sse"), slow("ws")])
def test_over_a_network_one_session_ends_and_then_a_signal_the_process(transport: str) -> None:
    with serving(FILE, transport) as program:
        found = anyio.run(held, program.url(transport), "wait", shut_down)
        assert sorted(found) == ["disconnected", "done", "draining"]  # on several streams
        assert program.process.poll() is None

        async def stop(connection: Connection) -> None:
            program.process.send_signal(signal.SIGTERM)

        found = anyio.run(held, program.url(transport), "finish", stop)
        assert {"done", "draining"} <= set(found)
        assert program.process.wait(10) == 0
