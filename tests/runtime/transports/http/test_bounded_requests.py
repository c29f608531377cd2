"""What comes around the body of a request under uvicorn: upgrades, trailers, and a closed side."""

from __future__ import annotations

import gc
import json
import logging
import re
import socket
import time
from collections.abc import Iterator

import anyio
import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.uri import parse_uri

from kinwire import Context, Server
from kinwire.transports.http.sockets import BoundedSocket
from tests.runtime.transports.fake_clients import INITIALIZE, RawHttp, RawWebSocket, message
from tests.runtime.transports.fixtures_bounded import bounded, post, replies

H2C = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQ")
WEBSOCKET = ("Connection: Upgrade", "Upgrade: websocket")
CHUNKED = b"%x\r\n%b\r\n0\r\n"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = Server("s", "1")

    @server.tool
    async def wait(context: Context) -> str:
        await context.progress(0)
        await anyio.sleep(0.2)
        return "done"

    with bounded(server) as number:
        yield number


def chunked(body: bytes, *headers: str, trailers: bytes = b"") -> bytes:
    coded = CHUNKED % (len(body), body) + trailers + b"\r\n"
    return post(coded, "Transfer-Encoding: chunked", *headers)


OFFERED = {
    "h2c with a body": post(INITIALIZE, *H2C),
    "h2c with chunks": chunked(INITIALIZE, *H2C),
    "another name": post(INITIALIZE, "Connection: keep-alive, upgrade", "Upgrade: TLS/1.0, x"),
    "a WebSocket in a POST without a body of its own": post(
        b"", *WEBSOCKET, "Content-Length: 0"
    ).replace(b"POST", b"DELETE", 1),
}


def test_an_upgrade_that_is_not_taken_is_ignored(port: int) -> None:
    for name, request in OFFERED.items():
        expected = 400 if b"DELETE" in request else 200  # without the id of a session
        again = post(INITIALIZE)
        statuses = [reply.status for reply in replies(port, request + again, 2)]
        assert statuses == [expected, 200], name
        # In two parts, and byte by byte, it is the same.
        parts = [request[:40], request[40:-10], request[-10:] + again]
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            for part in parts:
                connection.sendall(part)
                time.sleep(0.002)
            assert connection.recv(12) == b"HTTP/1.1 %d" % expected, name


UPGRADES = [
    post(b"12345", *WEBSOCKET),
    post(b"", *WEBSOCKET, "Content-Length: 5"),
    post(b"", *WEBSOCKET, "Content-Length: 5").replace(b"POST", b"GET", 1),
    post(b"", *WEBSOCKET, "Content-Length: 5").replace(b"localhost", b"evil.example"),
    chunked(b"12345", *WEBSOCKET).replace(b"POST", b"GET", 1),
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
]


def test_an_upgrade_with_a_body_is_refused_and_hurts_nobody(port: int) -> None:
    with RawHttp(port) as other:
        for request in UPGRADES:
            (reply,) = replies(port, request, 2)  # it is closed after the one
            assert reply.status == 400, request
        assert other.answer(message("ping", 1))["result"] == {}


def test_trailers_are_not_headers(port: int) -> None:
    with RawHttp(port) as client:
        ping = message("ping", 1)
        named = f"Mcp-Session-Id: {client.session}"
        trailers = {
            named: (400, None),
            "Origin: http://evil.example": (200, named),
            "Host: evil.example": (200, named),
            "Content-Type: text/plain": (200, named),
            "Content-Encoding: br": (200, named),
        }
        for trailer, (status, header) in trailers.items():
            headers = (header,) if header else ()
            # The body comes later, so that nothing is judged before it is there.
            request = chunked(ping, *headers, trailers=f"{trailer}\r\n".encode())
            assert [one.status for one in replies(port, request)] == [status], trailer


ENDLESS = {
    "a head": b"GET /mcp HTTP/1.1\r\nX: ",
    "trailers": chunked(INITIALIZE)[:-2] + b"X: ",
    "the name of a trailer": chunked(INITIALIZE)[:-2],
    "an extension of a chunk": post(b"5;", "Transfer-Encoding: chunked"),
}


def pour(connection: socket.socket) -> None:
    """Send 2 MB, if they are taken."""
    for _ in range(200):
        connection.sendall(b"x" * 10_000)
        time.sleep(0.001)


def test_what_is_outside_a_body_has_a_bound(port: int) -> None:
    for begun in ENDLESS.values():
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(begun)
            with pytest.raises(ConnectionError):
                pour(connection)


def test_a_client_that_closes_its_side_gets_the_answer(port: int) -> None:
    with RawHttp(port) as client:
        call = message("tools/call", 1, name="wait", arguments={})
        named = f"Mcp-Session-Id: {client.session}"
        (reply,) = replies(port, post(call, named), 2, half_close=True)
        assert json.loads(reply.body)["result"]["content"][0]["text"] == "done"
        (reply,) = replies(port, post(call, named) + b"GET /m", 2, half_close=True)
        assert reply.status == 200
        assert replies(port, post(call, named)[:-1], half_close=True) == []
        assert replies(port, b"", half_close=True) == []


def test_a_client_that_closes_its_side_gets_the_answers_to_all_its_requests(port: int) -> None:
    with RawHttp(port) as client:
        named = f"Mcp-Session-Id: {client.session}"
        calls = [post(message("ping", number), named) for number in range(6)]
        slow = post(message("tools/call", 9, name="wait", arguments={}), named)
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(slow + calls[0])
            for call in calls[1:]:
                time.sleep(0.01)  # so that it comes alone, while the first one runs
                connection.sendall(call)
            connection.shutdown(socket.SHUT_WR)
            parts = b"".join(iter(lambda: connection.recv(65536), b""))
    assert re.findall(rb'"id":(\d)', parts) == [b"9", *(b"%d" % number for number in range(6))]


def test_what_is_no_handshake_is_no_error_of_this_side(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    opening = (
        b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    )
    key = b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    garbage = (
        opening + b"\r\n",
        opening + b"X Y: z\r\n" + key + b"\r\n",
        opening + b"A: \xff\x01\r\n" + key + b"\r\n",
        opening.replace(b"Host", b"Hast") + key + b"\r\n" + b"\xff" * 30,
        opening.replace(b"localhost", b"evil.example") + key + b"\r\n" + b"\xff" * 30,
        opening + key + b"\r\n" + b"\xff" * 30,
        opening + key + b"\r\n" + Frame(Opcode.TEXT, b"\xc1").serialize(mask=True, extensions=[]),
    )
    for bytes_of_it in garbage:
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(bytes_of_it)
            while connection.recv(4096):
                pass
    with RawHttp(port) as other:
        assert other.answer(message("ping", 1))["result"] == {}
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_the_first_frames_may_come_with_the_handshake(port: int) -> None:
    protocol = ClientProtocol(parse_uri("ws://localhost/mcp"))
    protocol.send_request(protocol.connect())
    opening = b"".join(protocol.data_to_send())
    frame = Frame(Opcode.TEXT, INITIALIZE).serialize(mask=True, extensions=[])
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(opening + frame)
        received = b""
        while b'"serverInfo"' not in received:
            received += (part := connection.recv(4096))
            assert part


def test_pings_of_a_peer_that_does_not_read_are_not_answered(port: int) -> None:
    ping = Frame(Opcode.PING, b"x" * 125).serialize(mask=True, extensions=[])
    protocol = ClientProtocol(parse_uri("ws://localhost/mcp"))
    protocol.send_request(protocol.connect())
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(10)
        connection.connect(("127.0.0.1", port))
        connection.sendall(b"".join(protocol.data_to_send()))
        for _ in range(64):
            connection.sendall(ping * 1000)
        kept = [one for one in gc.get_objects() if type(one) is BoundedSocket]
        assert max(one.transport.get_write_buffer_size() for one in kept) < 1024 * 1024
    with RawWebSocket(port) as reader:
        assert reader.socket.ping().wait(10)
