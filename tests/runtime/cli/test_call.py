"""`kinwire call`: slips are told before anything is sent, failures with what helps to find them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kinwire.cli import main

TRIPS = """
from pydantic import BaseModel

from kinwire import Server

server = Server("trips", "1.0")


class Passenger(BaseModel):
    name: str


@server.tool
def book(passenger: Passenger, steps: int = 1, quick: bool = False) -> str:
    return passenger.name


@server.tool
def crash() -> None:
    raise ValueError("secret")


@server.tool
async def interrupt() -> None:
    raise KeyboardInterrupt


@server.tool
def wait() -> None:
    import sys, time
    print("ready", file=sys.stderr, flush=True)
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


def test_an_interrupted_call_ends_with_130_and_says_nothing(trips: str) -> None:
    command = [sys.executable, "-m", "kinwire", "call", trips, "wait"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 130
