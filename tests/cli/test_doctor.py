"""`kinwire doctor`: which step of a server fails, and what to do about it."""

from __future__ import annotations

import json
import sys
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest

from kinwire.transports import process
from kinwire_cli.diagnosis import checks as diagnosis_checks, examination
from tests.cli.fixtures_scripts import DEMO, Captured, greeting, ran, scripted, spoken

PYTHON = ["--", sys.executable, "-c"]
TRACEBACK = (
    'Traceback (most recent call last):\n  File "server.py", line 1, in <module>\nValueError: no'
)
NAMES = ["spawn", "handshake", "version", "latency", "end", "stdout", "stderr"]


@pytest.fixture(autouse=True)
def _a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be late but what is late on purpose."""
    set_grace(monkeypatch, 60.0)
    monkeypatch.setattr(examination, "SLOW_START", 1000.0)
    monkeypatch.setattr(examination, "SLOW_PING", 1000.0)


def set_grace(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    for module in (process, examination):
        monkeypatch.setattr(module, "BY_ITSELF", seconds)


def examined(capsys: Captured, *words: str) -> tuple[int, dict[str, dict[str, Any]]]:
    code, out, _ = ran(capsys, "doctor", "--format", "json", "--timeout", "60", *words)
    return code, {check["name"]: check for check in json.loads(out)["checks"]}


def test_a_server_without_fault_passes_every_check(capsys: Captured) -> None:
    code, checks = examined(capsys, *DEMO)
    assert code == 0
    assert list(checks) == ["interpreter", "kinwire", "extras", *NAMES]
    assert {check["status"] for check in checks.values()} == {"ok"}
    assert checks["handshake"]["seen"] == "kinwire-demo 1.0 answered"
    assert checks["version"]["seen"] == "MCP 2024-11-05"
    assert checks["end"]["seen"] == "ended when its stdin was closed"


def test_without_a_server_only_the_installation_is_checked(capsys: Captured) -> None:
    code, out, err = ran(capsys, "doctor")
    first, *rest = out.splitlines()
    assert first.startswith(f"ok       interpreter  Python {sys.version_info.major}.")
    assert [line.split()[:2] for line in rest[:2]] == [["ok", "kinwire"], ["ok", "extras"]]
    assert rest[-1].startswith("skipped  server       because none is named: ")
    assert (code, err) == (0, "3 ok, 1 skipped\n")


def test_a_missing_extra_is_reported_but_not_an_error(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis_checks, "is_installed", lambda extra: extra != "fast")
    _, checks = examined(capsys)
    there = "codegen, cli, docs, events, grpc, http, nats, semantic, supervisor, ws"
    assert checks["extras"]["seen"] == f"{there}; not there: fast"
    assert "[fast]" in checks["extras"]["remedy"]
    assert checks["extras"]["status"] == "ok"
    provided = {*(metadata("kinwire").get_all("Provides-Extra") or ())}
    assert {*there.split(", "), "fast"} == provided - {"all", "browser", "dev", "test"}


BROKEN_GREETING = greeting({}, serverInfo={"name": "x"})
BUSY = {"error": {"code": -32000, "message": "Busy"}}

BOTH = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {}, "error": {}}
        print(json.dumps(answer), flush=True)
"""

FAILURES = [
    pytest.param(
        ["--", "no-such-program"],
        (4, "spawn", "Cannot start 'no-such-program'", "Install 'no-such-program'"),
        id="no program",
    ),
    pytest.param(
        [*PYTHON, "import no_such_module"],
        (4, "handshake", "initialize: The server exited with code 1.", "Install 'no_such_module'"),
        id="a module is not installed",
    ),
    pytest.param(
        [*PYTHON, "pass"],
        (4, "handshake", "initialize: The server exited with code 0.", "Its stderr is empty."),
        id="it exits immediately",
    ),
    pytest.param(
        [*PYTHON, "import sys; sys.stdin.read()"],
        (4, "handshake", "initialize: no answer within 1 s", "Does it speak MCP over stdin"),
        id="it hangs at initialize",
    ),
    pytest.param(
        spoken({"jsonrpc": "2.0", "id": "1", "result": greeting({})}),
        (
            6,
            "handshake",
            'initialize: the answer cannot be read: its id is "1", expected 1.',
            "Copy the id of the request as it is, of the same type",
        ),
        id="it answers with ids of its own",
    ),
    pytest.param(
        spoken({"jsonrpc": "2.0", "id": 99, "result": greeting({})}),
        (
            4,
            "handshake",
            "initialize: no answer within 1 s; answered another id: 99, asked 1",
            "Copy the id of the request as it is, of the same type",
        ),
        id="it answers with another number",
    ),
    pytest.param(
        spoken(
            {"jsonrpc": "2.0", "id": 1, "result": greeting({})},
            {"jsonrpc": "2.0", "id": "2", "result": {}},
        ),
        (
            1,
            "latency",
            'ping: the answer cannot be read: its id is "2", expected 2.',
            "Copy the id of the request as it is, of the same type",
        ),
        id="it answers ping with an id of its own",
    ),
    pytest.param(
        scripted(answers={"initialize": "null"}),
        (6, "handshake", 'initialize: expected an object, got "null"', "Fix the result of"),
        id="its greeting is not an object",
    ),
    pytest.param(
        [*PYTHON, BOTH],
        (
            6,
            "handshake",
            "initialize: a response has a result or an error, got both",
            "Fix the result of",
        ),
        id="its answer is a result and an error",
    ),
    pytest.param(
        scripted(answers={"initialize": BUSY}),
        (5, "handshake", "initialize: Busy (-32000)", "Answer initialize with a result."),
        id="it refuses the handshake",
    ),
    pytest.param(
        [*PYTHON, "import sys\nfor line in sys.stdin: print(line, flush=True)"],
        (5, "handshake", "initialize: Method not found", "It echoes its input"),
        id="it is not a server",
    ),
    pytest.param(
        scripted(answers={"initialize": BROKEN_GREETING}),
        (6, "handshake", "initialize: /serverInfo/version: expected a value", "Fix the result"),
        id="it breaks the schema",
    ),
    pytest.param(
        scripted(answers={"initialize": greeting({}, protocolVersion="2025-06-18")}),
        (6, "version", 'offered 2024-11-05, the server answered "2025-06-18"', "Have the server"),
        id="another version",
    ),
    pytest.param(
        scripted(answers={"ping": BUSY}),
        (1, "latency", "ping: Busy (-32000)", "Answer ping with an empty result, at any time."),
        id="no ping",
    ),
    pytest.param(
        scripted(exits_at="ping", stderr="no database"),
        (4, "latency", "ping: The server exited with code 3.", "Fix what it reports on stderr"),
        id="ping ends it",
    ),
    pytest.param(
        scripted(greeting=["Loading\x1b[2J", "done"]),
        (1, "stdout", "2 lines of output that is not JSON-RPC", "Print to stderr"),
        id="it prints to stdout",
    ),
]


@pytest.mark.parametrize(("server", "failure"), FAILURES)
def test_the_first_check_that_fails_says_what_to_do_and_gives_the_code(
    capsys: Captured, server: list[str], failure: tuple[int, str, str, str]
) -> None:
    expected, name, seen, remedy = failure
    never = "within 1 s" in seen or "its id is" in seen  # here no ping is answered
    waits = ["--timeout", "1"] if never else []
    code, checks = examined(capsys, *waits, *server)
    first = next(check for check in checks.values() if check["status"] == "fail")
    assert (code, first["name"]) == (expected, name)
    assert first["seen"].startswith(seen)
    assert first["remedy"].startswith(remedy)
    assert list(checks)[3:] == NAMES  # each check is reported, also one that could not be made


def test_what_cannot_be_checked_says_why(capsys: Captured) -> None:
    # Written out, since each Python shows another part of the source.
    failing = f"import sys; print('hello'); sys.exit({TRACEBACK!r})"
    _, out, err = ran(capsys, "doctor", *PYTHON, failing)
    lines = out.splitlines()
    begin = next(at for at, line in enumerate(lines) if " spawn " in line)
    spawn, handshake, remedy, version, latency, end = lines[begin : begin + 6]
    assert spawn.startswith("ok       spawn        started ")
    assert handshake.startswith("fail     handshake    initialize: The server exited with code 1.")
    assert remedy == " " * 22 + "Fix what it reports on stderr; the last lines are below."
    assert version == "skipped  version      because the handshake failed"
    assert latency == "skipped  latency      because the handshake failed"
    assert end == "skipped  end          because the server had ended before it was asked to"
    assert lines[begin + 6 :] == [
        "fail     stdout       1 line of output that is not JSON-RPC",
        "                      | hello",
        "                      Print to stderr, as in print(..., file=sys.stderr): "
        "stdout is the protocol's.",
        "warn     stderr       3 lines",
        "                      | Traceback (most recent call last):",
        '                      |   File "server.py", line 1, in <module>',
        "                      | ValueError: no",
        "                      An exception was not caught: fix its cause, or catch it.",
    ]
    assert err == "4 ok, 2 fail, 3 skipped, 1 warn\n"


@pytest.mark.parametrize(
    ("ending", "grace", "seen"),
    [
        ("sys.exit(7)", 60.0, "ended with code 7 when its stdin was closed"),
        ("time.sleep(300)", 0.3, "still ran 0.3 s after its stdin was closed, and was made to end"),
    ],
)
def test_a_server_that_does_not_end_well_is_warned_of(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, ending: str, grace: float, seen: str
) -> None:
    set_grace(monkeypatch, grace)
    program = (
        "import json, sys, time\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    if 'id' in message:\n"
        f"        result = {greeting({})} if message['method'] == 'initialize' else {{}}\n"
        "        reply = {'jsonrpc': '2.0', 'id': message['id'], 'result': result}\n"
        "        print(json.dumps(reply), flush=True)\n"
        f"{ending}\n"
    )
    code, checks = examined(capsys, *PYTHON, program)
    assert (code, checks["end"]["status"], checks["end"]["seen"]) == (0, "warn", seen)


@pytest.mark.parametrize(
    ("limit", "remedy"),
    [("SLOW_START", "Load what is heavy when it is first"), ("SLOW_PING", "Something blocks it")],
)
def test_a_slow_server_is_warned_of(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, limit: str, remedy: str
) -> None:
    monkeypatch.setattr(examination, limit, 0.0)
    code, checks = examined(capsys, *scripted())
    assert (code, checks["latency"]["status"]) == (0, "warn")
    assert checks["latency"]["remedy"].startswith(remedy)


@pytest.mark.slow
def test_a_server_that_never_stops_printing_is_left_in_time(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_grace(monkeypatch, 0.3)
    line = "x" * 1000
    flood = ["--", "sh", "-c", f"while :; do echo {line}; done"]
    code, checks = examined(capsys, "--timeout", "2", *flood)
    assert (code, checks["handshake"]["status"]) == (4, "fail")
    assert checks["stdout"]["lines"] == ["x" * 200] * 3


@pytest.mark.slow
def test_a_file_that_cannot_be_served_ends_with_2(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import no_such_module", encoding="utf-8")
    code, checks = examined(capsys, str(file))
    assert code == 2
    assert checks["spawn"]["seen"] == f"started kinwire serve {file}"
    assert checks["handshake"]["remedy"].startswith("Install 'no_such_module' where ")
    assert "broken.py:1: ModuleNotFoundError" in checks["stderr"]["lines"][0]


def test_the_last_line_says_what_was_not_looked_at(capsys: Captured) -> None:
    _, _, err = ran(capsys, "doctor", "--timeout", "60", *scripted())
    assert err.splitlines() == [
        "10 ok",
        "Not looked at: whether it has what it advertises. "
        "kinwire inspect, with the same server, does.",
    ]
    _, _, err = ran(capsys, "doctor", "--format", "json", "--timeout", "60", *scripted())
    assert err.splitlines() == ["10 ok"]
