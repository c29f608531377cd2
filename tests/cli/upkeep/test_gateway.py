"""`kinwire gateway` as a process, for clients that write raw JSON."""

from __future__ import annotations

import http.client
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fcntl", reason="needs sockets with a path")

from tests.cli.fixtures_scripts import Captured, ran
from tests.cli.upkeep.fixtures_kernels import entry, until, write

BOX = """
import json, sys

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def tool(name, description):
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}

info = {"name": "box", "version": "1.0"}
greeting = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": info}
tools = [tool("read_note", "Read a note."), tool("list_birds", "List the birds of a garden.")]
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if params.get("name") == "read_note":  # never answered
        with open("reading", "a") as file:
            file.write(".")
    if method == "initialize":
        say(id=message["id"], result=greeting)
    elif method == "tools/list":
        say(id=message["id"], result={"tools": tools})
    elif method == "tools/call" and params["name"] == "list_birds":
        content = [{"type": "hologram", "beam": 7}, {"type": "text", "text": "a wren"}]
        say(id=message["id"], result={"content": content})
"""
FAST = '[servers.mgp]\nbackoff_base_ms = 1\nwhen_restarting = "wait"\n'
TOKEN = "a-token-of-this-test"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with a configuration, one of whose servers cannot be started."""
    with tempfile.TemporaryDirectory(prefix="kw-") as name:
        path = Path(name)
        (path / "box.py").write_text(BOX, encoding="utf-8")
        write(path, entry("box", "box.py"), FAST, entry("broken", "absent.py"))
        monkeypatch.setenv("XDG_RUNTIME_DIR", name)
        monkeypatch.setenv("BIRDER_TOKEN", TOKEN)
        monkeypatch.chdir(path)
        yield path


class Running:
    """A gateway that runs, as its client on stdin sees it."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._errors = folder / "gateway.err"
        with self._errors.open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kinwire", "gateway", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def put(self, method: str, id: int | None = None, **params: Any) -> None:
        """Send a message."""
        assert self.process.stdin is not None
        name = {} if id is None else {"id": id}
        message = {"jsonrpc": "2.0", **name, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, id: int) -> Any:
        """Return the result of a request, or its error; all that stdout has is messages."""
        while True:
            message = json.loads(self._lines.get(timeout=20))
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == id:
                return message.get("result", message.get("error"))

    def ask(self, method: str, id: int, **params: Any) -> Any:
        """Return the answer to a request."""
        self.put(method, id, **params)
        return self.answer(id)

    def greet(self) -> Any:
        """Return the result of `initialize`, and complete the handshake."""
        client = {"name": "c", "version": "1"}
        greeting = self.ask(
            "initialize", 0, protocolVersion="2024-11-05", capabilities={}, clientInfo=client
        )
        self.put("notifications/initialized")
        return greeting

    def said(self, text: str) -> str:
        """Return what stderr has, once `text` is part of it."""
        return until(lambda: self._errors.read_text(), lambda said: text in said)

    def leave(self) -> int:
        """Close the input, and return the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(20)

    def end(self) -> None:
        """End the process, if it has not ended, and close what is open."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def running(folder: Path) -> Iterator[list[Running]]:
    """Return a list of gateways, which are ended with the test."""
    made = list[Running]()
    yield made
    for one in made:
        one.end()


def last_pid(said: str) -> int:
    """Return the process of the server that was connected last."""
    return int(re.findall(r"box: connected, pid (\d+)", said)[-1])


def is_alive(pid: int) -> bool:
    """Return whether a process is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


BIRDS = {"name": "box__list_birds", "arguments": {}}
WREN = [{"type": "hologram", "beam": 7}, {"type": "text", "text": "a wren"}]


def begin_reading(gateway: Running, id: int, folder: Path, calls: int) -> None:
    """Call a tool that does not answer, and wait until its server has the call."""
    gateway.put("tools/call", id, name="box__read_note", arguments={})
    until(lambda: read(folder / "reading"), lambda text: len(text) == calls)


def read(path: Path) -> str:
    """Return the text of a file; empty if it does not exist."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_a_server_that_is_killed_and_a_client_that_leaves_end_only_their_calls(
    folder: Path, running: list[Running], capsys: Captured
) -> None:
    store = "sqlite:///kernel.db"
    running.append(Running(folder, "--level", "L0", "--agent", "birder", "--store", store))
    (gateway,) = running
    gateway.greet()
    begin_reading(gateway, 1, folder, calls=1)
    first = last_pid(gateway.said("box: connected"))
    os.kill(first, signal.SIGKILL)
    assert gateway.answer(1)["code"] == 2000
    answer = gateway.ask("tools/call", 2, **BIRDS)
    assert answer.get("content") == WREN, (answer, gateway.said(""))
    begin_reading(gateway, 3, folder, calls=2)
    second = last_pid(gateway.said(""))
    assert gateway.leave() == 0
    assert second != first
    assert not is_alive(first)
    assert not is_alive(second)
    code, out, _ = ran(capsys, "audit", "search", "--store", store, "--format", "json")
    assert (code, "TOOL_EXECUTED" in out, "birder" in out) == (0, True, True)


def posted(port: int, message: Any, **headers: str) -> tuple[int, Any]:
    """Return status and session, or the result, of a POST."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    accept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("POST", "/mcp", json.dumps(message), {**accept, **named})
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    text = body.partition("data: ")[2] or body
    session = response.getheader("Mcp-Session-Id")
    return response.status, session or (json.loads(text) if response.status == 200 else body)


def message(method: str, id: int, **params: Any) -> dict[str, Any]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


HELLO = message(
    "initialize",
    0,
    protocolVersion="2024-11-05",
    capabilities={},
    clientInfo={"name": "c", "version": "1"},
)
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def refusals(port: int) -> list[int]:
    """Return the status of each request that must not be served."""
    headers: tuple[dict[str, str], ...] = (
        {},
        {"Authorization": "Bearer another-token-of-a-test"},
        {**BEARER, "Host": "evil.example"},
        {**BEARER, "Origin": "https://evil.example"},
    )
    return [posted(port, HELLO, **one)[0] for one in headers]


def test_clients_over_http_are_the_agents_of_their_tokens(
    folder: Path, running: list[Running], capsys: Captured
) -> None:
    store = "sqlite:///kernel.db"
    words = ("--transport", "http", "--port", "0", "--level", "L0", "--store", store)
    running.append(Running(folder, *words, "--token", "birder=BIRDER_TOKEN"))
    (gateway,) = running
    port = int(
        re.findall(r"serving .* at http://127\.0\.0\.1:(\d+)/mcp", gateway.said("serving"))[0]
    )
    assert refusals(port) == [401, 401, 421, 403]
    status, session = posted(port, HELLO, **BEARER)
    mine = {**BEARER, "Mcp_Session_Id": session}
    _, answer = posted(port, message("tools/call", 1, **BIRDS), **mine)
    assert (status, answer["result"]["content"]) == (200, WREN)
    code, out, _ = ran(capsys, "ps", "--format", "json")
    states = {row["id"]: row["state"] for row in json.loads(out)["servers"]}
    assert (code, states["box"]) == (0, "connected")
    gateway.process.send_signal(signal.SIGTERM)
    assert gateway.process.wait(20) == 0
    gateway.said("note: draining")
    code, out, _ = ran(capsys, "audit", "search", "--store", store, "--format", "json")
    assert (code, '"birder"' in out, TOKEN in out) == (0, True, False)


HTTP = ("--transport", "http")
OPEN = (*HTTP, "--host", "0.0.0.0", "--port", "0")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--port", "0"), "stdio has no address to listen on."),
        (("--token", "birder=BIRDER_TOKEN"), "--token: clients on stdin have no token."),
        ((*HTTP, "--token", "birder"), "--token: expected an agent"),
        (
            (*HTTP, "--token", "a=BIRDER_TOKEN", "--agent", "b"),
            "--agent: each client has the agent",
        ),
        (("--agent", "a\nb"), "--agent: expected a name."),
        (OPEN, "Refused to listen on '0.0.0.0' without TLS."),
        ((*OPEN, "--insecure"), "Everybody who reaches 0.0.0.0 could call the tools."),
        ((*HTTP, "--allow-host", "a b"), "--allow-host: "),
        ((*HTTP, "--path", "mcp"), "--path: expected "),
        (("-c", "absent.toml"), "absent.toml"),
        (("--socket", "mgp.toml/x.sock"), "mgp.toml: expected a folder"),
    ],
)
def test_what_cannot_be_served_starts_nothing(
    folder: Path, capsys: Captured, words: tuple[str, ...], message: str
) -> None:
    code, out, err = ran(capsys, "gateway", *words)
    assert (code, out, message in err) == (2, "", True), err
    assert "connecting" not in err
    assert TOKEN not in err
