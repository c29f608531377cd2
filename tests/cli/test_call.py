"""`kinwire call`: its options, what it shows in addition to the result, and how it ends."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kinwire_cli import main
from tests.cli.fixtures_scripts import Captured, greeting, ran, scripted, spoken
from tests.each import each

TRIPS = """
from kinwire import Server

server = Server("trips", "1.0")


@server.tool
def crash() -> None:
    raise ValueError("secret")


@server.tool
async def interrupt() -> None:
    raise KeyboardInterrupt
"""

# Hangs at ping, and does not notice the end of its input then.
BUSY = """
import json, os, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = json.loads(sys.argv[1])
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    elif message["method"] == "ping":
        print("ready", os.getpid(), file=sys.stderr, flush=True)
        sys.stdin.read()
        print("its input has ended", file=sys.stderr, flush=True)
        time.sleep(60)
"""


@pytest.fixture
def trips(tmp_path: Path) -> str:
    file = tmp_path / "trips.py"
    file.write_text(TRIPS, encoding="utf-8")
    return str(file)


@each(
    ("words", "hint"),
    [
        (["--steps", "3"], "no option --steps.\nhint: A parameter is written steps=3"),
        (["--steps=3"], "no option --steps.\nhint: A parameter is written steps=3"),
        (["--timeot", "3"], "kinwire call --help lists the options."),
        (["-x", "a=1"], "no option -x.\nhint: A parameter is written x=..."),
        (["--day-trip", "-x"], "hint: A parameter is written day_trip=..."),
    ],
)
def test_an_option_that_there_is_not_may_be_a_member(
    capsys: Captured, words: list[str], hint: str
) -> None:
    code, out, err = ran(capsys, "call", "trips.py", "book", *words)
    assert (code, out) == (2, "")
    assert hint in err


def test_words_add_to_the_members_of_a_file(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "given.json"
    file.write_text('{"_meta": {"a": 1}}', encoding="utf-8")
    code, _, err = ran(capsys, "call", "--json", str(file), "ping", "_meta.a=2", *scripted())
    assert (code, err) == (2, "error: _meta.a=2: '_meta.a' was given before.\n")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"[1", "--json stdin: expected JSON, "),
        (b"[1]", "--json stdin: expected a JSON object, got an array."),
        (b'{"steps": 1e999}', "--json stdin: expected a number of at most 1.8e308 at /steps."),
        (b'{"name": "\xff"}', "--json stdin: expected JSON, "),
        (b"\xef\xbb\xbf{}", "--json stdin: expected JSON, got a byte order mark before it."),
        ("{}".encode("utf-16"), "hint: Write it as UTF-8 without a byte order mark (BOM)."),
        (b'{"t": "a", "t": "b"}', "--json stdin: 't' is given twice in one object."),
        (b'{"t": "\\ud800"}', "--json stdin: \\ud800 is half of a surrogate pair"),
    ],
)
def test_invalid_members_on_stdin_are_reported(
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    trips: str,
    given: bytes,
    message: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    assert main(["call", "--json", "-", trips, "book", "steps=3"]) == 2
    said = capsys.readouterr()
    assert (said.out, message in said.err) == ("", True)


def test_a_missing_file_of_members_is_reported(capsys: Captured, trips: str) -> None:
    assert main(["call", "--json", "nowhere.json", trips, "book"]) == 2
    assert "--json nowhere.json: No such file or directory." in capsys.readouterr().err


def test_log_messages_of_the_server_are_shown_on_stderr(capsys: Captured) -> None:
    params = {"level": "warning", "logger": "packing", "data": {"left": 3}}
    news = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
    server = scripted(answers={"initialize": greeting({"logging": {}})}, after=[news])
    assert ran(capsys, "call", "ping", *server) == (0, "{}\n", 'warning packing: {"left": 3}\n')


GUIDE = """
from kinwire import Server

server = Server("trips", "1.0")


@server.prompt
def suggest(city: str) -> str:
    return f"Three days in {city}."
"""


def test_the_line_that_is_said_for_a_prompt_works(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "trips.py"
    file.write_text(GUIDE, encoding="utf-8")
    code, _, err = ran(capsys, "call", str(file), "suggest", "city=Bern")
    line = f"kinwire call {file} prompts/get name=suggest arguments.city=Bern"
    assert (code, err.splitlines()[-1]) == (2, f"hint: Write {line}")
    code, out, _ = ran(capsys, *line.split()[1:])
    assert (code, "Three days in Bern." in out) == (0, True)
    command = ["--", sys.executable, "-m", "kinwire", "serve", str(file)]
    _, _, err = ran(capsys, "call", "suggest", "city=Bern", *command)
    line = f"kinwire call prompts/get name=suggest arguments.city=Bern {' '.join(command)}"
    assert err.splitlines()[-1] == f"hint: Write {line}"


@pytest.mark.parametrize("subcommand", [["call", "ping"], ["list"]])
def test_an_answer_with_another_id_is_reported(capsys: Captured, subcommand: list[str]) -> None:
    server = spoken({"jsonrpc": "2.0", "id": "x", "result": greeting({})})
    code, out, err = ran(capsys, *subcommand, "--timeout", "1", *server)
    assert (code, out) == (4, "")
    assert err.startswith('note: the server answered another id: "x", asked 1\nerror: ')
    server = spoken({"jsonrpc": "2.0", "id": "1", "result": greeting({})})
    code, out, err = ran(capsys, *subcommand, "--timeout", "60", *server)
    assert (code, out) == (6, "")  # immediately, as it is clear which request it means
    assert 'its id is "1", expected 1' in err


@pytest.mark.slow
def test_an_internal_error_is_found_in_the_servers_log_by_its_number(
    capsys: Captured, trips: str
) -> None:
    assert main(["call", trips, "crash"]) == 5
    said = capsys.readouterr()
    log, reported = re.findall(r"correlation id (\w+)", said.err)
    assert log == reported
    assert said.out == ""


@pytest.mark.slow
def test_an_interrupted_tool_leaves_no_traceback(capsys: Captured, trips: str) -> None:
    assert main(["call", trips, "interrupt"]) == 5
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_call_says_nothing_and_leaves_no_server(number: int, times: int) -> None:
    command = [sys.executable, "-m", "kinwire", "call", "ping"]
    process = subprocess.Popen(
        [*command, "--", sys.executable, "-c", BUSY, json.dumps(greeting({}))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stderr is not None
        ready, server = process.stderr.readline().split()
        assert ready == "ready"
        process.send_signal(number)
        assert process.stderr.readline() == "its input has ended\n"
        if times == 2:  # while the server is given its time
            process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert out == ""
        # The second may come while that line is being handed on, which is done again then.
        assert err in ("", "its input has ended\n" * (times - 1))
    assert process.returncode == 128 + number
    with pytest.raises(ProcessLookupError):
        os.kill(int(server), 0)
