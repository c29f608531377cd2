"""`kinwire ps`, `start`, `stop`, `restart` and `logs` with a kernel of raw JSON."""

from __future__ import annotations

import json
import socket
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.each import each

pytest.importorskip("fcntl", reason="needs sockets with a path")

from kinwire_cli.control import client
from tests.cli.fixtures_scripts import Captured, ran

KERNEL = {"pid": 10, "config": "/x/mgp.toml", "since": 0.5, "version": "1"}
FILES = {"id": "files", "state": "connected", "health": "healthy", "pid": 11, "since": 60.0}
WEB = {"id": "web", "state": "error", "restarts": 5, "since": 61.0, "note": "\x1b[2Jgone"}
SERVERS = {"kernel": KERNEL, "servers": [FILES, WEB]}

Answer = Callable[[str, Any], Any]


@pytest.fixture
def path() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="kw-") as folder:
        yield f"{folder}/a.sock"


@contextmanager
def kernel_at(path: str, answer: Answer) -> Iterator[None]:
    """Answer requests at `path`; None closes the connection."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        listener.settimeout(10)

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rwb") as lines:
                for line in lines:
                    message = json.loads(line)
                    result = answer(message["method"], message.get("params"))
                    if result is None:
                        return
                    reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                    lines.write(json.dumps(reply).encode() + b"\n")
                    lines.flush()

        thread = Thread(target=serve)
        thread.start()
        yield
        thread.join(10)


def acts(row: Any) -> Answer:
    return lambda method, params: SERVERS if method == "control/servers" else row


def test_ps_shows_the_kernel_and_its_servers(path: str, capsys: Captured) -> None:
    with kernel_at(path, acts(None)):
        code, out, err = ran(capsys, "ps", "--socket", path)
    heading, *lines = out.splitlines()
    assert (code, heading.split()) == (0, ["server", *heading.split()[1:]])
    assert [line.split()[:4] for line in lines] == [
        ["files", "connected", "healthy", "0"],
        ["web", "error", "-", "5"],
    ]
    assert lines[1].endswith("\\u001b[2Jgone")
    assert err.startswith("kernel: pid 10, for ")
    assert err.endswith(" /x/mgp.toml\n")


def test_ps_prints_json_with_times_as_the_protocol_writes_them(path: str, capsys: Captured) -> None:
    with kernel_at(path, acts(None)):
        code, out, err = ran(capsys, "ps", "--socket", path, "--format", "json")
    found = json.loads(out)
    assert (code, err, [row["id"] for row in found["servers"]]) == (0, "", ["files", "web"])
    assert found["servers"][1] == WEB | {"since": "1970-01-01T00:01:01.000Z"}
    assert found["kernel"]["since"] == "1970-01-01T00:00:00.500Z"


def test_ps_of_no_servers(path: str, capsys: Captured) -> None:
    with kernel_at(path, lambda *_: {"kernel": KERNEL, "servers": []}):
        code, out, err = ran(capsys, "ps", "--socket", path)
    assert (code, out, err.splitlines()[1]) == (0, "", "it has no servers")


@pytest.mark.parametrize(
    ("action", "state", "code"),
    [
        ("start", "connected", 0),
        ("start", "error", 1),
        ("stop", "disconnected", 0),
        ("stop", "connecting", 1),
        ("restart", "connected", 0),
        ("restart", "disconnected", 1),
    ],
)
def test_an_action_prints_what_has_come_of_it(
    path: str, capsys: Captured, action: str, state: str, code: int
) -> None:
    asked: list[Any] = []

    def answer(method: str, params: Any) -> Any:
        asked.append((method, params))
        return acts(FILES | {"state": state})(method, params)

    with kernel_at(path, answer):
        found = ran(capsys, action, "files", "--socket", path)
    line = f"1970-01-01T00:01:00Z files: {state}, pid 11\n"
    assert found == (code, line, "")
    assert asked[1:] == [(f"control/{action}", {"server": "files"})]


@pytest.mark.parametrize("action", ["start", "stop", "restart", "logs"])
def test_a_server_that_the_kernel_lacks_ends_with_2(
    path: str, capsys: Captured, action: str
) -> None:
    with kernel_at(path, acts(None)):
        code, out, err = ran(capsys, action, "fils", "--socket", path)
    assert (code, out) == (2, "")
    assert "The kernel has no server 'fils'.\nhint: Did you mean 'files'?" in err


def test_logs_follow_until_the_kernel_ends(path: str, capsys: Captured) -> None:
    asked: list[Any] = []
    answers = iter([["one", "tw\x1bo"], [], ["three"], None])

    def answer(method: str, params: Any) -> Any:
        if method == "control/servers":
            return SERVERS
        asked.append((params["after"], params["most"], params["wait"] > 0))
        texts = next(answers)
        if texts is None:
            return None
        start = params["after"] + (5 if not params["after"] else 1)
        return {"lines": [{"number": start + at, "text": text} for at, text in enumerate(texts)]}

    with kernel_at(path, answer):
        code, out, err = ran(capsys, "logs", "files", "-f", "--lines", "2", "--socket", path)
    assert (code, out) == (4, "one\ntw\\u001bo\nthree\n")
    assert err == "error: The kernel has ended.\nhint: kinwire up runs it again.\n"
    assert asked == [(0, 2, False), (6, 1000, True), (6, 1000, True), (7, 1000, True)]


@each("lines", ["0", "-1", "1001", "x"])
def test_logs_of_no_such_number_are_refused(capsys: Captured, lines: str) -> None:
    code, _, err = ran(capsys, "logs", "files", f"--lines={lines}")
    assert (code, "expected a number from 1 to 1000" in err) == (2, True)


@pytest.mark.parametrize("command", [["ps"], ["stop", "files"], ["logs", "files"]])
def test_without_a_kernel_it_ends_with_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, command: list[str]
) -> None:
    file = tmp_path / "mgp.toml"
    found = ran(capsys, *command, "-c", str(file))
    text = f"error: No kernel runs {file}.\nhint: kinwire up -c {file} runs it.\n"
    assert found == (4, "", text)
    monkeypatch.chdir(tmp_path)
    assert ran(capsys, *command)[0] == 2


def test_a_kernel_that_answers_nothing_is_given_up(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(client, "_TIMEOUT", 0.05)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        code, _, err = ran(capsys, "ps", "--socket", path)
    assert (code, "control/servers: no answer within 0.05 s" in err) == (4, True)


def test_the_shell_offers_the_servers_of_the_kernel(path: str) -> None:
    parser = ArgumentParser()
    client.add_server(parser)
    (server,) = (one for one in parser._actions if one.dest == "server")
    arguments = Namespace(config=None, socket=path)
    with kernel_at(path, acts(None)):
        assert server.completer(parsed_args=arguments, prefix="") == ["files", "web"]  # type: ignore[attr-defined]
    assert server.completer(parsed_args=arguments, prefix="") == ()  # type: ignore[attr-defined]
