"""The command on a terminal: a status while a server is silent, colour, and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kinwire_cli import running
from tests.cli.fixtures_scripts import Captured, greeting, ran

pytest.importorskip("pty", reason="needs pseudo-terminals")

from tests.cli.fixtures_terminal import CTRL_C, FAST, KINWIRE, Terminal, on_terminal

ROOT = Path(__file__).parents[2]
ERASE = "\r\x1b[K"
SLOW = """
import anyio
from kinwire import Server

server = Server("slow", "1.0")

@server.tool
async def wait(seconds: float) -> str:
    await anyio.sleep(seconds)
    return "done"

if __name__ == "__main__":
    server.run()
"""
SILENT = [sys.executable, "-c", "import time; time.sleep(60)"]


def screen(text: str) -> list[str]:
    """Return the lines that are left once what was erased is gone."""
    return [line.rpartition(ERASE)[2] for line in text.replace("\r\n", "\n").split("\n")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    return tmp_path


def waiting(text: str) -> bool:
    return "s for the server to answer tools/call" in text


def test_a_silent_call_shows_how_long_it_takes_and_leaves_nothing(folder: Path) -> None:
    call = [sys.executable, "-c", FAST, "call", "slow.py", "wait", "seconds=1"]
    terminal = Terminal(call, folder)
    code, text, _ = terminal.end()
    assert code == 0
    assert re.search(r"\r\x1b\[Kwaiting 1 s for the server to answer tools/call", text)
    assert [line for line in screen(text) if "waiting" in line] == []
    assert screen(text)[0] == "{"


TOOL = {"name": "wait", "inputSchema": {"type": "object"}}


def slow_call(
    monkeypatch: pytest.MonkeyPatch, after: float = 0.05, seconds: float = 0.4
) -> list[str]:
    """Return the words of a call that lasts so long; a status is shown after `after` seconds."""
    monkeypatch.setattr(running, "STATUS_AFTER", after)
    monkeypatch.setattr(running, "_TICK", 0.05)
    results: tuple[object, ...] = (greeting({"tools": {}}), {"tools": [TOOL]}, {"content": []})
    greets, lists, answers = (
        f"echo {shlex.quote(json.dumps({'jsonrpc': '2.0', 'id': number, 'result': result}))}"
        for number, result in enumerate(results, 1)
    )
    server = f"read a; {greets}; read a; read a; {lists}; read a; sleep {seconds}; {answers}; cat"
    return ["call", "wait", "--", "sh", "-c", f"{server} > /dev/null"]


def test_a_status_goes_to_the_terminal_and_not_into_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    code, text, out = on_terminal(monkeypatch, *slow_call(monkeypatch), piped=True)
    assert (code, out[:1], "\x1b" in out) == (0, "{", False)
    assert waiting(text)
    assert screen(text) == [""]


def test_a_status_fits_the_terminal_with_room_for_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    _, text, _ = on_terminal(monkeypatch, *slow_call(monkeypatch), columns=30)
    shown = re.findall(r"\r\x1b\[K(waiting[^\r]*)", text)
    assert {len(status) for status in shown} == {27}


def test_a_quick_call_shows_no_status(monkeypatch: pytest.MonkeyPatch) -> None:
    call = slow_call(monkeypatch, after=20, seconds=0)
    code, text, _ = on_terminal(monkeypatch, *call)
    assert (code, "waiting" in text) == (0, False)


def test_a_terminal_that_cannot_erase_gets_no_status(monkeypatch: pytest.MonkeyPatch) -> None:
    call = slow_call(monkeypatch)
    code, text, _ = on_terminal(monkeypatch, *call, env={"TERM": "dumb"})
    assert (code, "waiting" in text, "\x1b" in text) == (0, False, False)


@pytest.mark.parametrize(("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_an_error_is_red_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, env: dict[str, str], coloured: bool
) -> None:
    code, text, _ = on_terminal(monkeypatch, "call", "nowhere.py", "x", env=env)
    assert code == 2
    assert ("\x1b[31merror:\x1b[0m There is no" in text) is coloured
    assert ("\x1b" in text) is coloured


@pytest.mark.parametrize("columns", [50, 80])
def test_tables_fit_the_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    for words in (["list", "mcp"], ["describe", "Tool"], ["rule"]):
        code, text, _ = on_terminal(monkeypatch, *words, columns=columns)
        lines = [line for line in text.split("\n") if "example: " not in line]
        assert (code, [line for line in lines if len(line) > columns]) == (0, [])
        assert max(map(len, lines)) > columns - 15


@pytest.mark.slow
@pytest.mark.parametrize("words", [["list"], ["inspect"]])
def test_what_a_server_offers_fits_the_terminal(folder: Path, words: list[str]) -> None:
    described = SLOW.replace("    await", f'    """{"Wait for so long. " * 6}"""\n    await')
    (folder / "slow.py").write_text(described, encoding="utf-8")
    code, text, _ = Terminal([*KINWIRE, *words, "slow.py"], folder, columns=50).end()
    assert (code, [line for line in text.split("\n") if len(line) > 60]) == (0, [])
    assert "wait(seconds: number)  Wait for so long." in text


PROTOCOLS = ["--schema", str(ROOT / "schema")]
PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
RECORDING = """
{"from": "client", "message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
{"from": "server", "message": {"jsonrpc": "2.0", "id": 1, "result": {}}}
"""
INTERRUPTED = {  # words, what is typed, what shows that it is under way (else it waits), code
    "call": (["call", "slow.py", "wait", "seconds=60"], "", "waiting ", 130),
    "list": (["list", "--", *SILENT], "", "waiting ", 130),
    "doctor": (["doctor", "--", *SILENT], "", "waiting ", 130),
    "inspect": (["inspect", "--", *SILENT], "", "waiting ", 130),
    "replay": (["replay", "session.jsonl", "--", *SILENT], "", "", 130),
    "validate": (["validate", "-"], "", "", 130),
    "store": (["store", "import", "sqlite:///new.db"], "", "", 130),
    "serve": (["serve", "slow.py"], PING, '"result"', 130),
    "serve over http": (["serve", "slow.py", "--transport", "http", "--port", "0"], "", "http:", 0),
    "generate": (["generate", *PROTOCOLS, "--out", "out"], "", "…", 130),
    "generate --watch": (["generate", *PROTOCOLS, "--out", "out", "--watch"], "", "written", 0),
    "docs serve": (["docs", "serve", *PROTOCOLS, "--port", "0"], "", "http:", 0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", INTERRUPTED)
def test_ctrl_c_ends_with_the_documented_code(folder: Path, name: str) -> None:
    words, typed, ready, expected = INTERRUPTED[name]
    (folder / "session.jsonl").write_text(RECORDING, encoding="utf-8")
    terminal = Terminal([sys.executable, "-c", FAST, *words], folder)
    terminal.type(typed)
    shown = terminal.read(lambda text: ready in text, 60) if ready else terminal.settle()
    assert ready in shown
    terminal.type(CTRL_C)
    code, text, _ = terminal.end()
    assert (code, "Traceback" in text) == (expected, False), text


def test_ctrl_c_ends_an_import_that_waits_for_lines(folder: Path) -> None:
    terminal = Terminal([*KINWIRE, "store", "import", "sqlite:///new.db"], folder)
    terminal.read(lambda _: (folder / "new.db").exists(), timeout=20)
    terminal.read(timeout=0.3)
    terminal.type(CTRL_C)
    assert terminal.end()[0] == 130
    assert not (folder / "new.db").exists()


GUARDED = """
from kinwire import Server
from kinwire.mgp import MgpServer, refusal
from kinwire_protocols.mgp import ToolSecurity, UpstreamError

guarded = MgpServer(permissions_required=["memory.read"], server_id="notes")
server = Server("notes", "1.0", extensions=[guarded])
security = ToolSecurity(risk_level="dangerous", permissions_required=["memory.read"])

@server.tool
@guarded.tool(security=security)
def erase(path: str) -> str:
    return f"erased {path}"

@server.tool
@guarded.tool(security=ToolSecurity(risk_level="safe"))
def lookup() -> str:
    raise refusal(UpstreamError, "away", retryable=False)

if __name__ == "__main__":
    server.run()
"""


@pytest.mark.parametrize(
    ("permission", "call", "expected"),
    [
        ("y", "yes", "erased /a"),
        ("l", None, "which nobody has decided about"),
    ],
)
def test_a_kernel_asks_the_person_at_the_terminal(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    permission: str,
    call: str | None,
    expected: str,
) -> None:
    (folder / "guarded.py").write_text(GUARDED, encoding="utf-8")
    monkeypatch.chdir(folder)
    typed = [("Approve it?", permission)]
    typed += [("Approve it?", "later")] if permission == "l" else []  # a call asks again
    typed += [("Make this call?", call)] if call is not None else []
    words = ["call", "--mgp", "--text", "guarded.py", "erase", "path=/a\u202e\x1b[2J"]
    code, text, _ = on_terminal(monkeypatch, *words, typed=typed)
    assert text.count("Approve it?") == (2 if permission == "l" else 1)
    assert (code == 0) == (call == "yes")
    assert expected in text
    assert "wants the permission memory.read (safe): Read memory" in text
    assert ("\\u202e\\u001b[2J" in text, "\x1b[2J" in text) == (call is not None, False)


def test_without_a_terminal_what_is_undecided_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (folder / "guarded.py").write_text(GUARDED, encoding="utf-8")
    monkeypatch.chdir(folder)
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        code, _, err = ran(capsys, "call", "--mgp", "guarded.py", "erase", "path=/a")
        assert code not in (0, 2)
        assert "To approve it: kinwire permissions approve unnamed-" in err
        assert "note: no terminal, so nobody can be asked" in err
        assert "error: the kernel refused: " in err
        _, _, err = ran(capsys, "call", "--mgp", "guarded.py", "lookup")
        assert "error: the peer answered: away" in err


def showing(prompt: str) -> Callable[[str], bool]:
    return lambda text: prompt in text


CURIOUS = """
from kinwire import Server
from kinwire.mgp import MgpContext, MgpServer

server = Server("curious", "1.0", extensions=[MgpServer()])

@server.tool
async def greet(context: MgpContext) -> str:
    await context.notify("Hello\\x1b[2J.")
    may = [await context.confirm("May I ask?"), await context.confirm("May I shout?")]
    name = await context.ask("Who are you?")
    return f"{may} {name} likes {await context.select('Which colour?', ['red', 'blue'])}"

if __name__ == "__main__":
    server.run()
"""


def test_a_tool_asks_the_person_at_the_terminal(folder: Path) -> None:
    (folder / "curious.py").write_text(CURIOUS, encoding="utf-8")
    words = [*KINWIRE, "call", "--mgp", "--text", "curious.py", "greet"]
    terminal = Terminal(words, folder)
    for prompt, typed in (
        ("ask?\r\nYour answer? (y)es, (n)o:", "Y"),
        ("shout?\r\nYour answer? (y)es, (n)o:", "n"),
        ("or nothing:", "Ann Lee"),
        ("1 red, 2 blue\r\nThe number, or nothing:", "2"),
    ):
        terminal.read(showing(prompt))
        terminal.type(f"{typed}\n")
    code, text, _ = terminal.end()
    assert (code, text.splitlines()[-1]) == (0, "[True, False] Ann Lee likes blue"), text
    assert "greet of unnamed-" in text
    assert "asks: Who are you?" in text
    assert ("Hello\\u001b[2J." in text, "\x1b[2J" in text) == (True, False)
