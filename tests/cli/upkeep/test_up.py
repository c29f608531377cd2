"""`kinwire up` as a process, and the commands that talk to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pty", reason="needs pseudo-terminals")

from tests.cli.fixtures_scripts import Captured, ran
from tests.cli.fixtures_terminal import CTRL_C, Terminal
from tests.cli.test_live_table import Screen
from tests.cli.upkeep.fixtures_kernels import entry, until, write

FAST = """
import sys
from kinwire_cli import main
from kinwire_cli.upkeep import running

running._LOOK = 0.05
sys.exit(main(["up", *sys.argv[1:]]))
"""
UP = [sys.executable, "-c", FAST]
SERVER = """
import json, sys

print("began", sys.argv[1], file=sys.stderr, flush=True)
info = {"name": "notes", "version": "1.0"}
result = {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": info}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        answer = result if asked["method"] == "initialize" else {}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""
LISTER = """
import json, sys

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

mgp = {"version": "0.2.0", "extensions": ["discovery"]}
info = {"name": "lister", "version": "1.0"}
result = {"protocolVersion": "2024-11-05", "capabilities": {"mgp": mgp}, "serverInfo": info}
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        say(id=message["id"], result=result)
    elif message.get("method") == "notifications/initialized":
        say(id="ask", method="mgp/discovery/list", params={"filter": {"status": "registered"}})
    elif message.get("id") == "ask":
        print("listed", json.dumps(message["result"]["servers"]), file=sys.stderr, flush=True)
"""
STUBBORN = f"""
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
{SERVER}
while True:
    time.sleep(60)
"""


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with a configuration, in which commands run and have their sockets."""
    with tempfile.TemporaryDirectory(prefix="kw-") as name:
        path = Path(name)
        (path / "notes.py").write_text(SERVER, encoding="utf-8")
        (path / "lister.py").write_text(LISTER, encoding="utf-8")
        (path / "stubborn.py").write_text(STUBBORN, encoding="utf-8")
        write(path, entry("notes", "notes.py", "one"))
        monkeypatch.setenv("XDG_RUNTIME_DIR", name)
        monkeypatch.chdir(path)
        yield path


class Up:
    """A kernel that runs, and what it has printed."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.out = folder / "up.out"
        self.err = folder / "up.err"
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(
                [*UP, *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err
            )

    def wait(self, text: str) -> str:
        """Return what was printed, once `text` is part of it."""
        return until(self._said, lambda said: text in said)

    def _said(self) -> str:
        return self.out.read_text() + self.err.read_text()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Return the exit code after a signal."""
        self.process.send_signal(number)
        return self.process.wait(20)


@pytest.fixture
def up(folder: Path) -> Iterator[Callable[..., Up]]:
    made: list[Up] = []

    def start(*words: str) -> Up:
        made.append(Up(folder, *words))
        return made[-1]

    yield start
    for one in made:
        one.process.kill()
        one.process.wait()


def servers(capsys: Captured) -> dict[str, Any]:
    """Return the rows of `kinwire ps`, by id."""
    code, out, err = ran(capsys, "ps", "--format", "json")
    assert (code, err) == (0, "")
    return {row["id"]: row for row in json.loads(out)["servers"]}


def test_servers_run_are_restarted_stopped_and_started_and_end_with_the_kernel(
    folder: Path, up: Callable[..., Up], capsys: Captured
) -> None:
    kernel = up("--store", "sqlite:///kernel.db")
    kernel.wait("notes: connected, pid ")
    first = servers(capsys)["notes"]
    code, out, err = ran(capsys, "up")
    assert (code, out, "A kernel runs already" in err) == (2, "", True)
    assert ran(capsys, "restart", "notes")[0] == 0
    second = servers(capsys)["notes"]
    assert (second["state"], second["pid"] != first["pid"]) == ("connected", True)
    assert ran(capsys, "logs", "notes") == (0, "began one\nbegan one\n", "")
    assert ran(capsys, "stop", "notes")[0] == 0
    assert servers(capsys)["notes"]["state"] == "disconnected"
    assert ran(capsys, "start", "notes")[0] == 0
    pid = servers(capsys)["notes"]["pid"]
    away = (folder / "mgp.toml").rename(folder / "away.toml")
    kernel.wait("note: mgp.toml is gone; a file that appears there is not loaded")
    away.rename(folder / "mgp.toml")
    assert kernel.end() == 0
    assert "notes: disconnected" in kernel.out.read_text().splitlines()[-1]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert ran(capsys, "ps")[0] == 4
    assert not [*folder.glob("kinwire/*.sock")]
    code, out, _ = ran(capsys, "audit", "search", "--store", "sqlite:///kernel.db")
    assert (code, "SERVER_CONNECTED" in out) == (0, True)


def test_a_changed_file_is_gone_over_to_and_a_wrong_one_changes_nothing(
    folder: Path, up: Callable[..., Up], capsys: Captured
) -> None:
    kernel = up()
    kernel.wait("notes: connected, pid ")
    first = servers(capsys)["notes"]["pid"]
    write(folder, entry("notes", "notes.py", "one"), '[servers.mgp]\ntrust_level = "sandboxed"\n')
    until(lambda: kernel.out.read_text(), lambda said: said.count("notes: connected") == 2)
    before = servers(capsys)["notes"]["pid"]
    assert before != first
    (folder / "mgp.toml").write_text("[[servers]\n", encoding="utf-8")
    kernel.process.send_signal(signal.SIGHUP)
    said = kernel.wait("goes on with the configuration as it was")
    assert "error: mgp.toml:1:" in said
    assert servers(capsys)["notes"]["pid"] == before
    absent = '[servers.env]\nKEY = "${NOT_SET_ANYWHERE}"\n'
    write(folder, entry("more", "notes.py", "two"), entry("bare", "notes.py"), absent)
    kernel.wait("note: read mgp.toml again: 2 servers")  # without a signal
    kernel.wait("more: connected, pid ")
    kernel.wait("notes: removed")
    rows = servers(capsys)
    assert [*rows] == ["more", "bare"]
    assert "the variable NOT_SET_ANYWHERE is not set" in rows["bare"]["note"]
    kernel.wait("error: mgp.toml:12:7: the server 'bare' cannot start: KEY: the variable")
    assert ran(capsys, "start", "bare")[0] == 1
    assert ran(capsys, "logs", "bare") == (0, "", "")
    assert kernel.end(signal.SIGINT) == 0


@pytest.mark.slow
def test_servers_that_are_not_up_are_listed_with_what_the_file_says_of_them(
    folder: Path, up: Callable[..., Up], capsys: Captured
) -> None:
    absent = (
        '[servers.env]\nKEY = "${NOT_SET_ANYWHERE}"\n[servers.mgp]\nextensions = ["streaming"]\n'
    )
    write(folder, entry("lister", "lister.py"), entry("bare", "notes.py"), absent)
    kernel = up()
    kernel.wait("lister: connected, pid ")
    said = until(lambda: ran(capsys, "logs", "lister")[1], lambda text: "listed" in text)
    (found,) = json.loads(said.removeprefix("listed "))
    assert (found["id"], found["extensions"]) == ("bare", ["streaming"])
    assert kernel.end() == 0


@pytest.mark.slow
def test_a_second_signal_ends_all_servers_at_once(
    folder: Path, up: Callable[..., Up], capsys: Captured
) -> None:
    write(folder, entry("stubborn", "stubborn.py", "x"))
    kernel = up("--socket", str(folder / "chosen.sock"))
    kernel.wait("stubborn: connected, pid ")
    code, out, _ = ran(capsys, "ps", "--socket", "chosen.sock", "--format", "json")
    (row,) = json.loads(out)["servers"]
    assert (code, row["state"]) == (0, "connected")
    kernel.process.send_signal(signal.SIGTERM)
    kernel.wait("draining; a second signal ends the servers")
    assert kernel.end(signal.SIGTERM) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(row["pid"], 0)


def test_on_a_terminal_the_last_table_stays(folder: Path) -> None:
    terminal = Terminal(UP, folder, columns=60, env={"NO_COLOR": "1"})
    terminal.read(lambda text: "notes   connected" in text)
    terminal.type(CTRL_C)
    code, text, _ = terminal.end()
    screen = Screen()
    screen.write(text)
    assert code == 0
    assert screen.lines[0].startswith("note: draining;")
    assert screen.lines[1].split()[:3] == ["server", "state", "health"]
    assert screen.lines[2].split()[:2] == ["notes", "disconnected"]
    assert screen.lines[3:] == [""]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[servers]]\ncommand = "python"\n', "mgp.toml:1:1: expected an id"),
        ("[[servers]]\nid = 3\n", "mgp.toml:2:6"),
    ],
)
def test_a_wrong_configuration_starts_nothing(
    folder: Path, capsys: Captured, text: str, message: str
) -> None:
    (folder / "mgp.toml").write_text(text, encoding="utf-8")
    code, out, err = ran(capsys, "up")
    assert (code, out, message in err) == (2, "", True), err
    assert ran(capsys, "up", "-c", "absent.toml")[0] == 2


def test_a_limit_of_memory_without_the_extra_starts_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("kinwire_cli.upkeep.configuration.find_spec", lambda _: None)
    limit = "[servers.mgp]\nmax_memory_bytes = 1000000\n"
    write(folder, entry("notes", "notes.py", "one"), limit)
    code, out, err = ran(capsys, "up")
    assert (code, out) == (2, "")
    assert err.startswith("error: notes: max_memory_bytes needs the extra [supervisor].\nhint: pip")
