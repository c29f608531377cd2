"""Subcommands that reach a URL go through the proxy of `--proxy` or of the environment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.cli.fixtures_scripts import Captured, ran

FAR = "http://127.0.0.1:1/mcp"  # nobody is there: only the proxy answers


class FakeProxy(ThreadingHTTPServer):
    """Answers in place of every server, and records the targets that were requested."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.targets: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeProxy

    def do_POST(self) -> None:
        self.server.targets.append(self.path)
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            self._answer(202, b"")
            return
        result = {"protocolVersion": "2024-11-05", "serverInfo": {"name": "far", "version": "1"}}
        result |= {"capabilities": {"tools": {}}, "tools": []}
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        self._answer(200, json.dumps(answer).encode())

    def do_GET(self) -> None:
        self._answer(405, b"")

    def do_DELETE(self) -> None:
        self._answer(200, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing to stderr."""


@pytest.fixture
def proxy() -> Iterator[FakeProxy]:
    with FakeProxy() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


COMMANDS = [
    ["list", FAR],
    ["call", FAR, "ping"],
    ["inspect", FAR],
    ["doctor", FAR],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("variable", [None, "HTTP_PROXY", "all_proxy"])
def test_a_url_is_reached_through_the_proxy(
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    proxy: FakeProxy,
    words: list[str],
    variable: str | None,
) -> None:
    if variable is None:
        words = [*words, "--proxy", proxy.url]
    else:
        monkeypatch.setenv(variable, proxy.url)
    ran(capsys, *words)
    assert len(proxy.targets) > 1  # an answer was read, and more was sent
    assert set(proxy.targets) == {FAR}


def test_a_proxy_needs_a_url(capsys: Captured) -> None:
    code, _, err = ran(capsys, "list", "notes.py", "--proxy", "http://127.0.0.1:1")
    assert (code, err) == (
        2,
        "error: --header, --proxy and --insecure are for a URL.\nhint: Leave them out.\n",
    )


def test_an_invalid_proxy_is_not_shown(capsys: Captured) -> None:
    code, _, err = ran(capsys, "list", FAR, "--proxy", "ftp://ann:s3cret@proxy.example")
    assert code == 2
    assert err.startswith("error: proxy: expected a URL such as http://proxy.example:3128")
    assert "s3cret" not in err
