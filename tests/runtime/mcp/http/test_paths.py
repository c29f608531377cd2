"""A server answers at its path: requests for other paths begin no session."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import pytest

from kinwire import Server
from tests.each import each
from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import BOTH, Client, initialize, message
from tests.runtime.transports.fixtures_serving import Served, served

pytestmark = pytest.mark.anyio

ELSEWHERE = (
    "/healthz",
    "/favicon.ico",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/robots.txt",
    "/",
    "/mcp/more",
    "/MCP",
)


def client_at(app: Any, path: str, root_path: str = "") -> Client:
    client = Client(app)
    client.path, client.root_path = path, root_path
    return client


@pytest.mark.parametrize("path", ELSEWHERE)
@pytest.mark.parametrize("accept", ["*/*", None, BOTH])
async def test_another_path_is_not_found(tools: Tools, path: str, accept: str | None) -> None:
    client = client_at(tools.server.asgi(), path)
    for method, body in (("GET", None), ("POST", initialize()), ("DELETE", None)):
        answer = await client.request(method, body, accept=accept)
        assert (answer.status, answer.json["error"]["code"]) == (404, -32600)
        assert answer.headers["content-type"] == "application/json"
    assert len(client.app.sessions._open) == 0


async def test_another_path_is_not_found_whoever_asks(tools: Tools) -> None:
    app = tools.server.asgi(authenticate=lambda token: None)
    answer = await client_at(app, "/robots.txt").request("GET", host="evil.example")
    assert (answer.status, "www-authenticate" in answer.headers) == (404, False)


@pytest.mark.parametrize("accept", ["*/*", None, "text/*", "text/event-stream;q=0", "text/html"])
async def test_a_get_that_names_no_event_stream_begins_nothing(
    tools: Tools, accept: str | None
) -> None:
    client = Client(tools.server.asgi())
    answer = await client.request("GET", accept=accept)
    assert answer.status == 406
    assert len(client.app.sessions._open) == 0
    await client.begin()
    assert (await client.request("GET", accept=accept)).status == 406


@pytest.mark.parametrize(
    ("given", "path", "root_path", "found"),
    [
        (None, "/mcp", "", True),
        (None, "/mcp/", "", True),
        (None, "/", "", False),
        (None, "/tools/", "/tools", True),
        (None, "/tools", "/tools", True),
        (None, "/tools/mcp", "/tools", True),
        (None, "/tools/else", "/tools", False),
        (None, "/toolsmcp", "/tools", False),
        (None, "/", "/tools", True),  # a server that strips the prefix
        ("/x/y", "/x/y", "", True),
        ("/x/y", "/mcp", "", False),
        ("/x", "/tools/x", "/tools", True),
        ("/x", "/tools/", "/tools", False),
        ("/", "/", "", True),
        ("/", "/tools/", "/tools", True),
        ("/", "/mcp", "", False),
    ],
)
async def test_the_endpoint_has_one_path(
    tools: Tools, given: str | None, path: str, root_path: str, *, found: bool
) -> None:
    client = client_at(tools.server.asgi(path=given), path, root_path)
    assert (await client.post(initialize())).status == (200 if found else 404)


@pytest.mark.parametrize("path", ["/mcp", "/tools/", "/tools/mcp"])
async def test_the_address_of_http_sse_is_that_of_its_stream(tools: Tools, path: str) -> None:
    root_path = "/tools" if path.startswith("/tools") else ""
    client = client_at(tools.server.asgi(), path, root_path)
    async with client.open("GET") as stream:
        address = urljoin(f"http://localhost{path}", (await stream.event()).data.decode())
        place, _, query = address.removeprefix("http://localhost").partition("?")
        sender = client_at(client.app, place, root_path)
        sender.query = query.encode()
        assert (await sender.post(message("ping"))).status == 202
        assert (await stream.frame())["result"] == {}


@each("given", ["mcp", "", "/mcp?a=b", "/mcp#a", 5])
def test_a_path_begins_with_a_slash(given: Any) -> None:
    for option in ("path", "health"):
        with pytest.raises(ValueError, match=f'{option}: expected a path .*{option}="/mcp"'):
            Server("s", "1").asgi(**{option: given})


def test_a_health_check_is_not_the_endpoint() -> None:
    with pytest.raises(ValueError, match="health: expected another path"):
        Server("s", "1").asgi(health="/mcp/")


async def test_a_health_check_is_answered_without_a_session(tools: Tools) -> None:
    app = tools.server.asgi(health="/healthz", authenticate=lambda token: None)
    client = client_at(app, "/healthz")
    for method in ("GET", "HEAD"):
        answer = await client.request(method, host="10.1.2.3:8000", accept="*/*")
        assert (answer.status, answer.json) == (200, {"status": "ok"})
    refused = await client.post(initialize())
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")
    assert len(app.sessions._open) == 0
    mounted = client_at(app, "/tools/healthz", "/tools")
    assert (await mounted.request("GET")).status == 200


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "identity, br", "", "gzip, identity"])
async def test_a_coded_body_is_refused_with_what_is_read(tools: Tools, coding: str) -> None:
    client = await Client(tools.server.asgi()).begin()
    answer = await client.post(b"\x1f\x8b\x08", content_encoding=coding)
    assert (answer.status, answer.headers["accept-encoding"]) == (415, "identity")
    assert "Content-Encoding" in answer.json["error"]["message"]
    assert (await client.post(message("ping"), content_encoding="Identity")).status == 200


# -- over sockets, under uvicorn --


@pytest.fixture(scope="module")
def listening() -> Iterator[Served]:
    with served(Server("s", "1", offers=["tools"]), health="/healthz") as one:
        yield one


def exchange(sock: socket.socket, request: bytes) -> tuple[int, bytes]:
    """Send a request; return the status and the body of the response."""
    sock.sendall(request)
    read = b""
    while b"\r\n\r\n" not in read:
        read += sock.recv(65536)
    head, _, body = read.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += sock.recv(65536)
    assert b"connection: close" not in head.lower()
    return int(head.split()[1]), body


def test_a_connection_is_reusable_after_each_refusal(listening: Served) -> None:
    host = b"Host: 127.0.0.1:%d\r\n" % listening.port
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    length = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    coded = b"Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
    with socket.create_connection(("127.0.0.1", listening.port), 10) as sock:
        for path in ELSEWHERE[1:]:
            get = b"GET %b HTTP/1.1\r\n%bAccept: */*\r\n\r\n" % (path.encode(), host)
            status, answer = exchange(sock, get)
            assert (status, json.loads(answer)["error"]["code"]) == (404, -32600)
        post = b"POST /elsewhere HTTP/1.1\r\n%b%b" % (host, length)
        assert exchange(sock, post)[0] == 404
        assert exchange(sock, b"POST /mcp HTTP/1.1\r\n%b%b%b" % (host, coded, length))[0] == 415
        assert exchange(sock, b"GET /mcp HTTP/1.1\r\n%bAccept: */*\r\n\r\n" % host)[0] == 406
        assert exchange(sock, b"GET /healthz HTTP/1.1\r\nHost: 10.1.2.3\r\n\r\n")[0] == 200
    assert len(listening.app.sessions._open) == 0


@pytest.mark.parametrize(("path", "status"), [("/mcp", 101), ("/mcp/", 101), ("/elsewhere", 404)])
def test_websockets_are_served_at_the_same_path(listening: Served, path: str, status: int) -> None:
    request = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{listening.port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mcp\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", listening.port), 10) as sock:
        sock.sendall(request.encode())
        assert int(sock.recv(65536).split()[1]) == status
