"""What a kernel answers on its socket, to raw JSON."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

pytest.importorskip("fcntl", reason="needs sockets with a path")

from kinwire.mgp import MgpKernel
from kinwire.mgp.kernel.callers import operator_now
from kinwire.mgp.kernel.supervisor.log_lines import LogLines
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.rpc.session import Session
from kinwire_cli.control.messages import PROFILE, KernelFacts, ServerRow
from kinwire_cli.control.transport import SocketTransport
from kinwire_cli.upkeep import routes
from kinwire_cli.upkeep.routes import ControlHandlers, control_routes
from tests.cli.control.test_socket import RawEnd

pytestmark = pytest.mark.anyio

FACTS = KernelFacts(pid=1, config="/x", since=0.0, version="1")


class Fake:
    """Stands for the supervisor of one server, `files`; `bare` cannot be started."""

    def __init__(self) -> None:
        self.log = LogLines(lambda: 0.0)
        self.servers = [SimpleNamespace(id="files", log=self.log)]
        self.state = "connected"
        self.done: list[tuple[str, str, str]] = []

    def __getitem__(self, id: str) -> Any:
        return self.servers[0]

    def rows(self) -> list[ServerRow]:
        """Return how both are."""
        bare = ServerRow(id="bare", state="registered", since=0.0, note="X is not set")
        return [ServerRow(id="files", state=self.state, since=1.0), bare]

    async def start(self, id: str) -> None:
        """Start it."""
        self._act("start", id, "connected")

    async def stop(self, id: str) -> None:
        """Stop it."""
        self._act("stop", id, "disconnected")

    async def restart(self, id: str) -> None:
        """Restart it."""
        self._act("restart", id, "connected")

    def _act(self, action: str, id: str, state: str) -> None:
        self.done.append((action, id, operator_now()))
        self.state = state


@asynccontextmanager
async def asked(fake: Fake) -> AsyncGenerator[RawEnd]:
    """Yield the other end of a connection to the kernel."""
    kernel, supervisor = MgpKernel(), cast("Supervisor", fake)
    served = control_routes(ControlHandlers(kernel, supervisor, FACTS, fake.rows))
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    async with Session(SocketTransport(ours), routes=served, profile=PROFILE):
        with theirs:
            yield RawEnd(theirs)


async def ask(end: RawEnd, method: str, **params: Any) -> Any:
    """Return the result of a request, or its error."""
    end.put({"jsonrpc": "2.0", "id": method, "method": f"control/{method}", "params": params})
    answer = await end.get()
    assert answer["id"] == method
    return answer.get("result", answer.get("error"))


async def test_actions_are_an_operators_and_answer_how_the_server_is_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "alice")
    fake = Fake()
    async with asked(fake) as end:
        states = [
            (await ask(end, action, server="files"))["state"]
            for action in ("stop", "start", "restart")
        ]
        assert states == ["disconnected", "connected", "connected"]
        bare = await ask(end, "start", server="bare")
        assert (bare["state"], bare["note"]) == ("registered", "X is not set")
        for action in ("start", "stop", "restart", "logs"):
            more = {"most": 1} if action == "logs" else {}
            refused = await ask(end, action, server="gone", **more)
            assert (refused["code"], "'gone'" in refused["message"]) == (-32602, True)
        found = await ask(end, "servers")
    assert [row["id"] for row in found["servers"]] == ["files", "bare"]
    assert found["kernel"]["config"] == "/x"
    actions = ["stop", "start", "restart"]
    assert fake.done == [(action, "files", "alice") for action in actions]


async def test_a_user_without_a_name_acts_as_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> str:
        raise KeyError

    monkeypatch.setattr("getpass.getuser", unknown)
    fake = Fake()
    async with asked(fake) as end:
        await ask(end, "stop", server="files")
    assert fake.done == [("stop", "files", "operator")]


async def test_logs_are_the_newest_lines_and_wait_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake()
    for number in range(1, 6):
        fake.log.add(f"line {number}")

    async def numbers(**params: Any) -> list[int]:
        result = await ask(end, "logs", server="files", **params)
        return [line["number"] for line in result["lines"]]

    async with asked(fake) as end:
        assert await numbers(most=2) == [4, 5]
        assert await numbers(most=1000, after=3) == [4, 5]
        assert await numbers(most=1000, after=5) == []
        assert await numbers(most=1000, after=5, wait=0.001) == []
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later, fake.log)
            assert await numbers(most=1000, after=5, wait=30) == [6]
        monkeypatch.setattr(routes, "_MOST", 15)  # characters
        assert await numbers(most=1000) == [5, 6]
        result = await ask(end, "logs", server="bare", most=1, wait=30)
        assert result == {"lines": []}


async def later(log: LogLines) -> None:
    """Write a line once it is waited for."""
    await anyio.wait_all_tasks_blocked()
    log.add("line 6")
