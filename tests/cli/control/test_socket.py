"""Requests to a kernel over its socket; the other side of each test is raw JSON."""

from __future__ import annotations

import json
import socket
from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("fcntl", reason="needs sockets with a path")

from kinwire.rpc.routes import Route
from kinwire.support.background import background
from kinwire_cli.control.client import running_kernel
from kinwire_cli.control.listening import serve_owner
from kinwire_cli.control.messages import SERVERS, STOP, KernelFacts, ServerRow, ServersAnswer
from kinwire_cli.control.place import bound_socket, connected_socket, place_of
from kinwire_cli.failure import UnreachableError, UsageError
from kinwire_protocols.base import from_wire

FACTS = KernelFacts(pid=1, config="/x/mgp.toml", since=0.0, version="1")
ROW = {"id": "files", "state": "connected", "restarts": 2, "pid": 7, "since": 1.5}

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(short: Path) -> Path:
    return short / "a.sock"


def at(path: Path) -> Namespace:
    return Namespace(config=None, socket=str(path))


@asynccontextmanager
async def listening_at(path: Path) -> AsyncGenerator[None]:
    """Serve `ROUTES` at `path`."""
    with bound_socket(path) as listener:
        async with background() as tasks:
            tasks.start_soon(serve_owner, listener, ROUTES)
            yield
            tasks.cancel_scope.cancel()


class RawEnd:
    """A side of a connection that reads and writes lines of JSON."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        self._read = b""

    async def get(self) -> Any:
        """Return the next message, None at the end."""
        while b"\n" not in self._read:
            await anyio.wait_readable(self._socket)
            chunk = self._socket.recv(65536)
            if not chunk:
                return None
            self._read += chunk
        line, _, self._read = self._read.partition(b"\n")
        return json.loads(line)

    def put(self, message: object) -> None:
        """Send a message."""
        self._socket.sendall(json.dumps(message).encode() + b"\n")


async def listed(params: Any, request: Any) -> ServersAnswer:
    return ServersAnswer(kernel=FACTS, servers=[from_wire(ServerRow, ROW)])


async def stuck(params: Any, request: Any) -> ServerRow:
    await anyio.sleep_forever()
    raise AssertionError


ROUTES = {SERVERS.name: Route(SERVERS, listed), STOP.name: Route(STOP, stuck)}


async def test_a_kernel_answers_its_owner_and_goes_on_after_garbage_and_hangups(path: Path) -> None:
    async with listening_at(path):
        with connected_socket(path) as first, connected_socket(path) as second:
            end = RawEnd(second)
            first.sendall(b"garbage\n\xff\x00\n")
            end.put(
                {"jsonrpc": "2.0", "id": 1, "method": "control/stop", "params": {"server": "a"}}
            )
            end.put({"jsonrpc": "2.0", "id": 2, "method": "control/servers"})
            answer = await end.get()
            assert (answer["id"], answer["result"]["servers"]) == (2, [ROW])
            assert answer["result"]["kernel"]["config"] == "/x/mgp.toml"
            end.put({"jsonrpc": "2.0", "id": 3, "method": "control/shutdown", "params": {}})
            assert (await end.get())["error"]["code"] == -32601
        async with running_kernel(at(path)) as kernel:
            assert [row.id for row in (await kernel.servers()).servers] == ["files"]


async def test_a_peer_of_another_user_gets_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinwire_cli.control.listening.is_mine", lambda _: False)
    async with listening_at(path):
        with connected_socket(path) as connection:
            assert await RawEnd(connection).get() is None


async def test_a_command_sends_what_is_documented_and_takes_the_answer(path: Path) -> None:
    asked: list[Any] = []

    async def play(listener: socket.socket) -> None:
        await anyio.wait_readable(listener)
        with listener.accept()[0] as connection:
            end = RawEnd(connection)
            while message := await end.get():
                asked.append([message["method"], message["params"]])
                lines = [{"number": 5, "text": "x"}]
                result = {"lines": lines} if message["method"] == "control/logs" else ROW
                end.put({"jsonrpc": "2.0", "id": message["id"], "result": result})

    with bound_socket(path) as listener:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(play, listener)
            async with running_kernel(at(path)) as kernel:
                for action in ("start", "stop", "restart"):
                    assert (await kernel.act(action, "files")).pid == 7
                (line,) = await kernel.logs("files", 4, 10, 0.5)
    assert (line.number, line.text) == (5, "x")
    assert asked == [
        ["control/start", {"server": "files"}],
        ["control/stop", {"server": "files"}],
        ["control/restart", {"server": "files"}],
        ["control/logs", {"server": "files", "after": 4, "most": 10, "wait": 0.5}],
    ]


async def test_an_unknown_server_is_named_with_the_one_that_is_like_it(path: Path) -> None:
    async with listening_at(path), running_kernel(at(path)) as kernel:
        assert (await kernel.checked("files")).restarts == 2
        with pytest.raises(UsageError, match="no server 'fles'") as raised:
            await kernel.checked("fles")
        assert raised.value.hint == "Did you mean 'files'?"


async def test_without_a_kernel_the_command_says_so(path: Path) -> None:
    with pytest.raises(UnreachableError, match="No kernel at"):
        async with running_kernel(at(path)):
            pass


async def test_a_kernel_of_a_service_without_the_folder_of_a_login_is_found(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(short))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    place = place_of(short / "mgp.toml")
    (short / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short / "run"))
    assert place_of(short / "mgp.toml") != place
    named = Namespace(config=str(short / "mgp.toml"), socket=None)
    async with listening_at(place), running_kernel(named) as kernel:
        assert (await kernel.servers()).kernel.pid == 1
