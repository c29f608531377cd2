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
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

import anyio
import pytest

pytest.importorskip("fcntl", reason="needs sockets with a path")

from kinwire.mgp import MgpKernel
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire_cli.control.place import bound_socket, place_of
from kinwire_cli.upkeep import gateway, running as upkeep
from kinwire_cli.upkeep.orders import Orders
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
        data = "2026-01-01T00:00:00Z box: removed\\nerror: x"
        say(method="notifications/message", params={"level": "error", "data": data})
        say(method="notifications/message", params={"level": "info", "data": "quiet"})
        content = [{"type": "hologram", "beam": 7}, {"type": "text", "text": "a wren"}]
        say(id=message["id"], result={"content": content})
"""
MGP = """
[servers.mgp]
backoff_base_ms = 1
when_restarting = "wait"
pinned_tools = ["read_note"]
"""
TOKEN = "a-token-of-this-test"


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with a configuration, one of whose servers cannot be started."""
    with tempfile.TemporaryDirectory(prefix="kw-") as name:
        path = Path(name)
        (path / "box.py").write_text(BOX, encoding="utf-8")
        write(path, entry("box", "box.py"), MGP, entry("broken", "absent.py"))
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


def begin_reading(served: Running, id: int, folder: Path, calls: int) -> None:
    """Call a tool that does not answer, and wait until its server has the call."""
    served.put("tools/call", id, name="box__read_note", arguments={})
    until(lambda: read(folder / "reading"), lambda text: len(text) == calls)


def read(path: Path) -> str:
    """Return the text of a file; empty if it does not exist."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def discovered(served: Running, id: int, query: str) -> Any:
    """Return what a search for tools finds."""
    found = served.ask("tools/call", id, name="mgp_tools_discover", arguments={"query": query})
    return json.loads(found["content"][0]["text"])


def test_a_client_on_stdin_finds_tools_that_are_not_in_its_list(
    folder: Path, running: list[Running]
) -> None:
    with bound_socket(place_of(folder / "mgp.toml")):  # as another kernel has it
        running.append(Running(folder))
        (served,) = running
        assert served.greet()["serverInfo"]["name"] == "kinwire-gateway"
    said = served.said("kinwire ps will not show this kernel: A kernel runs already")
    assert "broken: it did not start" in said
    assert "kinwire logs" not in said
    listed = [tool["name"] for tool in served.ask("tools/list", 1)["tools"]]
    assert {"mgp_tools_discover", "box__read_note"} < {*listed}  # the latter is pinned
    assert "box__list_birds" not in listed
    found = discovered(served, 2, "birds of the garden")
    assert found["tools"][0]["name"] == "box__list_birds"
    assert found["search_strategy"] == "keyword"
    result = served.ask("tools/call", 3, name="mgp_tools_call", arguments=BIRDS)
    assert result["content"] == WREN
    said = served.said("box says: 2026-01-01T00:00:00Z box: removed\\nerror: x\n")
    assert "quiet" not in said
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(20) == 0


@pytest.mark.slow
def test_a_server_that_is_killed_and_a_client_that_leaves_end_only_their_calls(
    folder: Path, running: list[Running], capsys: Captured
) -> None:
    store = "sqlite:///kernel.db"
    running.append(Running(folder, "--level", "L0", "--agent", "birder", "--store", store))
    (served,) = running
    served.greet()
    begin_reading(served, 1, folder, calls=1)
    first = last_pid(served.said("box: connected"))
    os.kill(first, signal.SIGKILL)
    assert served.answer(1)["code"] == 2000
    answer = served.ask("tools/call", 2, **BIRDS)
    assert answer.get("content") == WREN, (answer, served.said(""))
    begin_reading(served, 3, folder, calls=2)
    second = last_pid(served.said(""))
    assert served.leave() == 0
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
    text = body.rpartition("data: ")[2]  # the last message is the answer
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
    (served,) = running
    said = served.said("serving")
    assert "broken did not start; kinwire logs broken -c mgp.toml shows what it wrote" in said
    port = int(re.findall(r"serving .* at http://127\.0\.0\.1:(\d+)/mcp", said)[0])
    assert refusals(port) == [401, 401, 421, 403]
    status, session = posted(port, HELLO, **BEARER)
    mine = {**BEARER, "Mcp_Session_Id": session}
    _, answer = posted(port, message("tools/call", 1, **BIRDS), **mine)
    assert (status, answer["result"]["content"]) == (200, WREN)
    code, out, _ = ran(capsys, "ps", "--format", "json")
    states = {row["id"]: row["state"] for row in json.loads(out)["servers"]}
    assert (code, states["box"]) == (0, "connected")
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(20) == 0
    served.said("note: draining")
    code, out, _ = ran(capsys, "audit", "search", "--store", store, "--format", "json")
    assert (code, '"birder"' in out, TOKEN in out) == (0, True, False)


class Starting:
    """Stands for a supervisor whose servers start while somebody waits."""

    def __init__(self, *moments: str) -> None:
        """Take the states of its servers at each moment: "registered idle" is down with a note."""
        self._moments = [*moments]
        self.looks = 0

    @property
    def statuses(self) -> list[Any]:
        """Return how the servers are now."""
        states = self._moments[0].split(",")
        pairs = [state.partition(" ") for state in states]
        return [SimpleNamespace(id=f"s{n}", state=a, note=b) for n, (a, _, b) in enumerate(pairs)]

    def changes(self) -> AbstractContextManager[Self]:
        """Return an iterator over changes; after the last moment nothing changes any more."""
        return nullcontext(self)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        if len(self._moments) == 1:
            await anyio.sleep_forever()
        self.looks += 1
        del self._moments[0]
        return "s0"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("moments", "seconds", "said"),
    [
        (["connected"], 60.0, ""),
        (["registered idle,restarting,error,disconnected,draining"], 60.0, ""),
        (["registered", "connecting", "connected"], 60.0, ""),
        (["registered,connecting", "connecting,restarting", "connected,connecting"], 60.0, ""),
        (
            ["registered,connected,connecting"],
            0.01,
            "note: serves before all servers have started: s0, s2\n",
        ),
    ],
)
async def test_it_waits_until_each_server_has_started_or_failed_but_not_for_ever(
    capsys: Captured, moments: list[str], seconds: float, said: str
) -> None:
    starting, orders = Starting(*moments), Orders()
    if moments[-1] == "connected,connecting":
        orders.drain.set()  # a signal came, so nothing will be served
    with anyio.fail_after(20):
        await gateway.wait_for_servers(cast("Supervisor", starting), orders, seconds)
    assert capsys.readouterr().err == said
    assert moments[-1] == "connected,connecting" or starting.looks == len(moments) - 1


@pytest.mark.anyio
async def test_it_does_not_wait_for_ever_for_the_lists_of_servers(capsys: Captured) -> None:
    checked, orders = list[float](), Orders()

    async def check() -> None:
        checked.append(anyio.current_time())
        await anyio.sleep(0 if len(checked) == 1 else 3600)

    kernel = cast("MgpKernel", SimpleNamespace(tool_sessions=SimpleNamespace(check=check)))
    said: list[str] = []
    with anyio.fail_after(20):
        for seconds in (60.0, 0.01, 60.0):
            await gateway.check_pinned(kernel, orders, seconds)
            said.append(capsys.readouterr().err)
            if len(said) == 2:
                orders.drain.set()  # a signal came
    assert said[0] == said[2] == ""
    assert said[1].startswith("note: serves before all servers have listed their tools; ")


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


def test_pinned_tools_without_room_end_it_before_it_serves(folder: Path, capsys: Captured) -> None:
    budget = "[tool_context_budget]\nmax_tokens = 9\npinned_reserve = 5\n"
    budget += "discovery_reserve = 2\ncache_limit = 2\n"
    write(folder, budget, entry("box", "box.py"), MGP)
    code, out, err = ran(capsys, "gateway")
    assert (code, out) == (2, "")
    assert "tools that are pinned for all agents need more than the 5 tokens" in err
    assert not is_alive(last_pid(err))


@pytest.mark.slow
def test_tools_are_found_by_meaning_if_that_is_asked_for(
    folder: Path, running: list[Running]
) -> None:
    pytest.importorskip("onnxruntime", reason="needs kinwire[semantic]")
    running.append(Running(folder, "--semantic"))
    (served,) = running
    served.greet()
    found = discovered(served, 1, "feathered animals outside the house")
    assert found["tools"][0]["name"] == "box__list_birds"
    assert found["search_strategy"] == "semantic"
    assert served.leave() == 0


@pytest.mark.parametrize("command", ["gateway", "up"])
def test_a_search_by_meaning_without_the_extra_starts_nothing(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(upkeep, "is_installed", lambda extra: extra != "semantic")
    code, out, err = ran(capsys, command, "--semantic")
    assert (code, out) == (2, "")
    assert err.startswith("error: --semantic needs the extra [semantic].\nhint: pip install ")


NOTE = "note: a client starts this, and talks to it over stdin and stdout; Ctrl-C ends it"


def test_on_a_terminal_it_says_who_talks_to_it(folder: Path) -> None:
    pytest.importorskip("pty", reason="needs pseudo-terminals")
    from tests.cli.fixtures_terminal import CTRL_C, KINWIRE, Terminal

    write(folder, entry("box", "box.py"))
    terminal = Terminal([*KINWIRE, "gateway"], folder, piped=True, env={"NO_COLOR": "1"})
    before, said, _ = terminal.read(lambda text: NOTE in text).partition(NOTE)
    assert (said, "box: connected" in before) == (NOTE, True)
    terminal.type(CTRL_C)
    assert terminal.end()[::2] == (0, "")
