"""Servers behind a URL: served by the command, used by the command, and no secret is shown."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError
from kinwire.transports.http_client.address import address_of, hint_for
from kinwire_cli.failure import failure_of
from tests.cli.fixtures_scripts import Captured, ran
from tests.each import each
from tests.runtime.programs import held
from tests.runtime.transports.fixtures_processes import Program, listening, serving

FILE = Path(held.__file__)
SECRET = "s3cret"
NOBODY = "http://127.0.0.1:1/mcp"


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    with serving(FILE, "sse") as one:  # it has the other transports, too
        yield one


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_verbs_use_a_server_behind_a_url(
    capsys: Captured, program: Program, transport: str
) -> None:
    url = program.url(transport)
    code, out, err = ran(capsys, "call", url, "echo", "text=hi", "--header", "X-One: 1")
    assert (code, json.loads(out)["content"][0]["text"], err) == (0, "hi", "")
    code, out, _ = ran(capsys, "list", url)
    assert (code, out.split()[0]) == (0, "hold()")
    code, out, _ = ran(capsys, "doctor", url)
    assert (code, "ok       handshake    held 1.0 answered" in out) == (0, True)
    code, out, _ = ran(capsys, "inspect", url)
    assert (code, "tools/call" in out) == (0, True)


@each(
    ("words", "code", "message"),
    [
        (("call", "http://example.com/mcp", "ping"), 2, "hint: Use https or wss."),
        (("call", "http:///mcp", "ping"), 2, "expected a URL with a host"),
        (("call", NOBODY, "ping", "--", "x"), 2, "Two servers are named."),
        (("list", str(FILE), "--header", f"A: {SECRET}"), 2, "are for a URL"),
        (("call", NOBODY, "ping", "--header", f"A {SECRET}"), 2, "expected a name, a colon"),
        (("call", NOBODY, "ping", "--header", f"Host: {SECRET}"), 2, "Host is written by"),
        (("call", NOBODY, "ping", "--header", f"Authorization: {SECRET}"), 4, "127.0.0.1:1"),
        (("serve", str(FILE), "--port", "1"), 2, "stdio has no address to listen on"),
        (("serve", str(FILE), "--transport", "http", "--host", "0.0.0.0"), 2, "without TLS"),
        (
            ("serve", str(FILE), "--transport", "http", "--host", "0.0.0.0"),
            2,
            "hint: Put a proxy that has TLS before it",
        ),
        (
            ("serve", str(FILE), "--transport", "http", "--port", "65536"),
            2,
            "port 65536: expected a number from 0 to 65535.\n",
        ),
        (("serve", str(FILE), "--path", "/x"), 2, "stdio has no address to listen on"),
        (("serve", str(FILE), "--transport", "http", "--path", "x"), 2, "--path: expected a path"),
        (
            ("serve", str(FILE), "--transport", "http", "--allow-host", "a b"),
            2,
            "--allow-host: ",
        ),
    ],
)
def test_errors_are_reported_without_a_secret(
    capsys: Captured, words: tuple[str, ...], code: int, message: str
) -> None:
    ended, out, err = ran(capsys, *words)
    assert (ended, out) == (code, "")
    assert message in err
    assert SECRET not in err


OWN_APP = """
from kinwire import Server

server = Server("guarded", "1.0")


def app():
    return server.asgi(authenticate=print, **{"stateless": True})


if __name__ == "__main__":
    server.asgi().run()
"""


@pytest.mark.parametrize("transport", ["http", "sse", "ws"])
def test_ignored_options_of_an_application_are_reported(
    capsys: Captured, tmp_path: Path, transport: str
) -> None:
    file = tmp_path / "own_app.py"
    file.write_text(OWN_APP, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that the command ends
        port = str(taken.getsockname()[1])
        _, _, err = ran(capsys, "serve", str(file), "--transport", transport, "--port", port)
    options = "asgi(authenticate=..., **...) does not hold here, where the command makes its own"
    assert err.splitlines()[0] == f"note: {file}:8: {options}. python {file} runs that one."
    assert err.count("note: ") == 1
    _, _, err = ran(capsys, "serve", str(file), "--port", port)
    assert "note: " not in err


def test_a_line_to_type_repeats_no_secret_of_a_url(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "prompts.py").write_text(PROMPTS, encoding="utf-8")
    with listening((sys.executable, str(tmp_path / "prompts.py"))) as served:
        url = f"{served.url('http')}?key={SECRET}"
        code, _, err = ran(capsys, "call", url, "greet", "who=Ann")
    assert (code, SECRET in err) == (2, False)
    assert err.endswith("hint: Write kinwire call URL prompts/get name=greet arguments.who=Ann\n")


def test_a_port_in_use_is_reported(capsys: Captured) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, _, err = ran(capsys, "serve", str(FILE), "--transport", "http", "--port", port)
    assert (code, f"Cannot listen on 127.0.0.1, port {port}" in err) == (2, True)


def test_the_doctor_says_what_to_look_at_where_nobody_is(capsys: Captured) -> None:
    code, out, _ = ran(capsys, "doctor", NOBODY, "--header", f"Authorization: {SECRET}")
    assert (code, "Is it running there?" in out, SECRET in out) == (4, True, False)


PROMPTS = """
from kinwire import Server

server = Server("greeter", "1.0")


@server.prompt
def greet(who: str) -> str:
    return f"Hello {who}"


server.asgi().run(port=0)
"""

GUARDED = """
from kinwire import Server


async def nobody(token: str) -> None:
    return None


Server("guarded", "1.0").asgi(authenticate=nobody).run(port=0)
"""


def test_a_server_that_has_to_know_who_calls_ends_with_3(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "guarded.py").write_text(GUARDED, encoding="utf-8")
    with listening((sys.executable, str(tmp_path / "guarded.py"))) as guarded:
        for subcommand, *words in (("list",), ("inspect",), ("doctor",), ("call", "ping")):
            code, out, err = ran(capsys, subcommand, guarded.url("http"), *words)
            assert (subcommand, code) == (subcommand, 3)
            assert "answered HTTP 401" in out + err
            assert "--header 'Authorization: Bearer ${TOKEN}'" in out + err
            assert "headers=" not in out + err


@pytest.mark.parametrize("kind", [InvalidResponseError, ConnectionClosedError])
def test_missing_authentication_is_reported_with_the_option(
    kind: type[InvalidResponseError | ConnectionClosedError],
) -> None:
    refused = f"It answered HTTP 401.{hint_for(address_of(NOBODY, insecure=False), 401, None)}"
    error = kind(refused)
    error.status = 401
    failure = failure_of(error)
    assert failure.exit_code == 3
    assert "hint: --header 'Authorization: Bearer ${TOKEN}'" in failure.text
    assert "headers=" not in failure.text


@pytest.mark.parametrize(
    ("words", "path"),
    [
        pytest.param(("--transport", "http"), "/mcp", marks=pytest.mark.slow),
        pytest.param(("--transport", "sse"), "/sse", marks=pytest.mark.slow),
        (("--transport", "http", "--path", "/a b/é"), "/a%20b/%C3%A9"),
    ],
)
def test_the_printed_address_is_the_only_one_served(words: tuple[str, ...], path: str) -> None:
    command = (sys.executable, "-m", "kinwire", "serve", str(FILE), "--port", "0", *words)
    with listening(command) as program:
        assert program.line.rstrip().endswith(f":{program.port}{path}")
        statuses = [get(program.port, one) for one in (path, "/", "/healthz", f"{path}/x")]
    assert statuses == [200, 404, 404, 404]


def get(port: int, path: str) -> int:
    """Return the status of the response to a GET that wants an event stream."""
    fields = f"Host: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), 10) as sock:
        sock.sendall(f"GET {path} HTTP/1.1\r\n{fields}".encode())
        return int(sock.recv(4096).split()[1])
