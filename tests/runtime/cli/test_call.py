"""`kinwire call`: slips are told before anything is sent, failures with what helps to find them."""

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

from kinwire.cli import main

TRIPS = """
from pydantic import BaseModel

from kinwire import Context, Server

server = Server("trips", "1.0")


class Passenger(BaseModel):
    name: str


@server.tool
def book(passenger: Passenger, steps: int = 1, quick: bool = False) -> str:
    return passenger.name


@server.tool
async def report(context: Context) -> None:
    await context.log("warning", {"left": 3}, "packing")


@server.tool
def crash() -> None:
    raise ValueError("secret")


@server.tool
async def interrupt() -> None:
    raise KeyboardInterrupt


@server.tool
def wait() -> None:
    import os, sys, time
    print("ready", os.getpid(), file=sys.stderr, flush=True)
    time.sleep(60)
"""

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def trips(tmp_path: Path) -> str:
    file = tmp_path / "trips.py"
    file.write_text(TRIPS, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["book", "pasenger.name=Ann"],
            "pasenger.name=Ann: there is no member 'pasenger'.\nhint: Did you mean 'passenger'?",
        ),
        (
            ["book", "passenger.nme=Ann"],
            "there is no member 'nme'.\nhint: Did you mean 'name'?",
        ),
        (
            ["book", "passenger=Ann"],
            "passenger=Ann: expected object.\n"
            "hint: Write passenger.name=... for its members, or passenger:=JSON.",
        ),
        (["book", "quick=yes"], "quick=yes: expected true or false."),
        (["book", "Ann"], "hint: It has: passenger, steps, quick."),
        (["book", "--steps", "3"], "no option --steps.\nhint: A member is written steps=3"),
        (["book", "--steps=3"], "no option --steps.\nhint: A member is written steps=3"),
        (["book", "--day-trip", "-x"], "hint: A member is written day_trip=..."),
        (["tools/call", "nme=book"], "there is no member 'nme'.\nhint: Did you mean 'name'?"),
        (["tools/list", "cursr=2"], "there is no member 'cursr'.\nhint: Did you mean 'cursor'?"),
        (["tools/call", "name=book", "arguments.nme=1"], "there is no member 'nme'."),
    ],
)
def test_a_slip_in_a_member_is_told_with_the_mend(
    capsys: Captured, trips: str, words: list[str], message: str
) -> None:
    code = main(["call", trips, *words])
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert message in said.err


@pytest.mark.parametrize(
    "words",
    [["book", "passenger.name=Ann"], ["book", 'passenger:={"name": "Ann"}', "quick=true"]],
)
def test_an_object_is_given_by_member_or_raw(
    capsys: Captured, trips: str, words: list[str]
) -> None:
    assert main(["call", trips, *words]) == 0
    assert json.loads(capsys.readouterr().out)["content"][0]["text"] == "Ann"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('{"passenger": {"name": "Ann"}, "steps": 2}', ["book"]),
        ('{"passenger": {"name": "Ann"}}', ["book", "steps=2"]),
        ('{"steps": 2}', ["book", "passenger.name=Ann"]),
        ('{"name": "book", "arguments": {"passenger": {"name": "Ann"}}}', ["tools/call"]),
        ('{"arguments": {"passenger": {"name": "Ann"}}}', ["tools/call", "name=book"]),
    ],
)
def test_words_add_to_the_members_of_a_file(
    capsys: Captured, trips: str, tmp_path: Path, given: str, words: list[str]
) -> None:
    file = tmp_path / "given.json"
    file.write_text(given, encoding="utf-8")
    assert main(["call", "--json", str(file), trips, *words]) == 0
    assert json.loads(capsys.readouterr().out)["content"][0]["text"] == "Ann"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"[1", "--json stdin: expected JSON, "),
        (b"[1]", "--json stdin: expected a JSON object, got an array."),
        (b'{"steps": 1e999}', "--json stdin: expected a number of at most 1.8e308 at /steps."),
        (b'{"steps": 2}', "steps=3: 'steps' was given before."),
        (b'{"name": "\xff"}', "--json stdin: expected JSON, "),
    ],
)
def test_members_on_stdin_that_cannot_be_used_are_told(
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


def test_a_file_of_members_that_is_not_there_is_told(capsys: Captured, trips: str) -> None:
    assert main(["call", "--json", "nowhere.json", trips, "book"]) == 2
    assert "--json nowhere.json: No such file or directory." in capsys.readouterr().err


def test_log_messages_of_the_server_are_shown_on_stderr(capsys: Captured, trips: str) -> None:
    assert main(["call", trips, "report"]) == 0
    said = capsys.readouterr()
    assert 'warning packing: {"left": 3}' in said.err
    assert json.loads(said.out) == {"content": []}


def test_members_are_typed_by_their_names_on_the_wire(capsys: Captured, trips: str) -> None:
    words = ["protocolVersion=2024-11-05", "capabilities.roots.listChanged=true"]
    client = ["clientInfo.name=a", "clientInfo.version=1"]
    assert main(["call", trips, "initialize", *words, *client]) == 5
    assert "the session is open already" in capsys.readouterr().err


def test_an_internal_error_is_found_in_the_servers_log_by_its_number(
    capsys: Captured, trips: str
) -> None:
    assert main(["call", trips, "crash"]) == 5
    said = capsys.readouterr()
    log, told = re.findall(r"correlation id (\w+)", said.err)
    assert log == told
    assert said.out == ""


def test_an_interrupted_tool_leaves_no_traceback(capsys: Captured, trips: str) -> None:
    assert main(["call", trips, "interrupt"]) == 5
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_call_says_nothing_and_leaves_no_server(trips: str, number: int) -> None:
    command = [sys.executable, "-m", "kinwire", "call", trips, "wait"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        assert process.stderr is not None
        ready, server = process.stderr.readline().split()
        assert ready == "ready"
        process.send_signal(number)
        assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 128 + number
    with pytest.raises(ProcessLookupError):
        os.kill(int(server), 0)
