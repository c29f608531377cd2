"""`kinwire replay` as a user runs it, against a server and a client."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kinwire_cli import main
from tests.cli.fixtures_scripts import Captured, greeting, scripted
from tests.runtime.transports.fixtures_processes import listening

KINWIRE = [sys.executable, "-m", "kinwire"]
CLIENT_INFO = {"name": "kinwire-cli", "version": "0.1.0"}
GREETING = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": CLIENT_INFO}
OFFER = greeting({"logging": {}, "tools": {}})
NOBODY = "http://127.0.0.1:1/mcp"
SERVED = """
from kinwire import Server


async def nobody(token: str) -> None:
    return None


Server("scripted", "1").asgi(authenticate=%s).run(port=0)
"""


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


HANDSHAKE: list[tuple[str, dict[str, Any]]] = [
    ("client", {"id": 1, "method": "initialize", "params": GREETING}),
    ("server", {"id": 1, "result": OFFER}),
    ("client", {"method": "notifications/initialized"}),
]


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """A handshake and a ping."""
    ping = {"id": 2, "method": "ping"}
    return written(tmp_path, [*HANDSHAKE, ("client", ping), ("server", {"id": 2, "result": {}})])


def written(folder: Path, messages: list[tuple[str, dict[str, Any]]]) -> str:
    path = folder / "a.jsonl"
    lines = [
        json.dumps({"from": sender, "message": {"jsonrpc": "2.0", **message}})
        for sender, message in messages
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_a_server_that_answers_as_recorded_ends_with_0(capsys: Captured, recording: str) -> None:
    code = main(["replay", recording, *scripted(answers={"initialize": OFFER})])
    said = capsys.readouterr()
    assert code == 0
    assert said.out.splitlines() == [
        f"{recording}:2: initialize: equal",
        f"{recording}:5: ping: equal",
    ]
    assert said.err == "2 equal\n"


@pytest.mark.parametrize(
    ("ignore", "code", "verdict"),
    [([], 1, "differs"), (["--ignore", "tools/call#/result/content/*/text"], 0, "equal")],
)
def test_a_difference_is_reported_unless_it_is_ignored(
    capsys: Captured, tmp_path: Path, ignore: list[str], code: int, verdict: str
) -> None:
    params = {"name": "add", "arguments": {"a": 1, "b": 2}}
    path = written(
        tmp_path,
        [
            ("client", {"id": "i", "method": "initialize", "params": GREETING}),
            ("server", {"id": "i", "result": OFFER}),
            ("client", {"method": "notifications/initialized"}),
            ("client", {"id": 1, "method": "tools/call", "params": params}),
            ("server", {"id": 1, "result": text("4")}),
        ],
    )
    server = scripted(answers={"initialize": OFFER, "tools/call": text("3")})
    assert main(["replay", path, "--format", "json", *ignore, *server]) == code
    call = json.loads(capsys.readouterr().out.splitlines()[-1])
    difference = {"pointer": "/result/content/0/text", "expected": '"4"', "got": '"3"'}
    assert call == {
        "line": 5,
        "verdict": verdict,
        "kind": "response",
        "method": "tools/call",
        "errors": [] if ignore else [difference],
    }


def test_a_silent_server_is_not_waited_for_for_ever(capsys: Captured, recording: str) -> None:
    silent = ["--", sys.executable, "-c", "import sys; sys.stdin.read()"]
    assert main(["replay", recording, "--timeout", "0.05", *silent]) == 1
    said = capsys.readouterr()
    assert said.out.count("expected an answer, got nothing within 0.05 s") == 2
    assert said.err == "2 missing\n"


def test_a_server_that_does_not_start_ends_with_4(capsys: Captured, recording: str) -> None:
    assert main(["replay", recording, "--", "no-such-program"]) == 4
    assert "Cannot start 'no-such-program'" in capsys.readouterr().err


def test_an_unreachable_server_ends_with_4_immediately(capsys: Captured, recording: str) -> None:
    assert main(["replay", recording, NOBODY]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: No answer from http://127.0.0.1:1: ")


def test_missing_authentication_ends_with_3_immediately(
    capsys: Captured, tmp_path: Path, recording: str
) -> None:
    program = tmp_path / "served.py"
    program.write_text(SERVED % "nobody", encoding="utf-8")
    with listening((sys.executable, str(program))) as served:
        assert main(["replay", recording, served.url("http"), "--timeout", "60"]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert "answered HTTP 401" in said.err
    assert "hint: --header 'Authorization: Bearer ${TOKEN}'" in said.err
    assert "headers=" not in said.err


def test_a_server_behind_a_url_is_judged(capsys: Captured, tmp_path: Path, recording: str) -> None:
    program = tmp_path / "served.py"
    program.write_text(SERVED % "None", encoding="utf-8")
    with listening((sys.executable, str(program))) as served:
        words = ["--ignore", "initialize#/result/capabilities", "--timeout", "60"]
        assert main(["replay", recording, served.url("http"), *words]) == 0
    assert capsys.readouterr().err == "2 equal\n"


def test_a_client_is_served_from_a_recording(capsys: Captured, recording: str) -> None:
    assert main(["call", "ping", "--", *KINWIRE, "replay", recording, "--as", "server"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == {}
    assert said.err.splitlines() == [
        f"{recording}:1: initialize (request): equal",
        f"{recording}:4: ping (request): equal",
        "2 equal",
    ]


def test_requests_that_a_client_never_made_are_one_line(capsys: Captured, tmp_path: Path) -> None:
    more: list[tuple[str, dict[str, Any]]] = [
        message
        for number in range(10, 85)
        for message in (
            ("client", {"id": number, "method": "ping" if number % 3 else "tools/list"}),
            ("server", {"id": number, "result": {} if number % 3 else {"tools": []}}),
        )
    ]
    path = written(tmp_path, [*HANDSHAKE, *more])
    command = [*KINWIRE, "replay", path, "--as", "server"]
    assert main(["call", "ping", "--", *command]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"{path}:1: initialize (request): equal",
        f"{path}:4: ping (request): equal",
        f"{path}:6: from here on 74 missing (ping 49, tools/list 25), "
        "got nothing: The client closed this server's standard input.",
        "2 equal, 74 missing",
    ]


@pytest.mark.slow
def test_a_client_with_other_requests_is_answered_and_reported(
    capsys: Captured, recording: str
) -> None:
    command = [*KINWIRE, "replay", recording, "--as", "server"]
    assert main(["call", "tools/list", "--", *command]) == 5
    said = capsys.readouterr().err
    assert "the peer answered: Not in the recording: tools/list" in said
    assert f"{recording}: tools/list (request): unexpected\n" in said
    assert f"{recording}:4: ping (request): missing\n" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "No server is named."),
        (["notes.py", "--", "x"], "Two servers are named."),
        (["--as", "server", "--", "x"], "A server is named, and one is played."),
        (["--ignore", "text", "--", "x"], "--ignore text: expected a pointer."),
    ],
)
def test_a_slip_ends_with_2(
    capsys: Captured, recording: str, words: list[str], message: str
) -> None:
    assert main(["replay", recording, *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err


def test_a_file_that_cannot_be_played_ends_with_2(capsys: Captured, tmp_path: Path) -> None:
    assert main(["replay", str(tmp_path / "none"), "--", "x"]) == 2
    assert "No such file or directory." in capsys.readouterr().err
    path = written(tmp_path, [("server", {"method": "notifications/tools/list_changed"})])
    assert main(["replay", path, "--", "x"]) == 2
    assert "nothing in it is from the client" in capsys.readouterr().err
