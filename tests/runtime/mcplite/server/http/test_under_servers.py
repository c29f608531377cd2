"""The application under real servers: HTTP/1.1 of uvicorn, HTTP/2 of hypercorn, raw clients."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream
from anyio.from_thread import start_blocking_portal
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
)
from hypercorn.asyncio import serve
from hypercorn.config import Config

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.server.http.app import LiteHttpApp
from kinwire.mcplite.server.source import LiteCaller
from kinwire.transports.http.running import bound, serve_on
from tests.absent import shared
from tests.each import each
from tests.runtime.mcplite.server.http.fixtures_lite import DONE, Service, app_of, call_of
from tests.runtime.transports.fixtures_serving import served

pytestmark = pytest.mark.anyio

_BLOCK = re.compile(r"^```http\n(.*?)^```\n+```log\n(.*?)^```", re.DOTALL | re.MULTILINE)
_ESCAPED = {"\\r": "\r", "\\n": "\n", "\\t": "\t", "\\f": "\f", "\\\\": "\\"}

HEAD = (
    b"POST /mcp-lite/v1/rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Accept: %b\r\n%b\r\n"
)
BODY = json.dumps(call_of("echo", parts=2)).encode()
LENGTH = b"Content-Length: %d\r\n" % len(BODY)


class Served:
    """What has the `asgi` that a fixture wants."""

    def __init__(self, app: LiteHttpApp) -> None:
        self.app = app

    def asgi(self) -> LiteHttpApp:
        return self.app


@contextmanager
def under_uvicorn(service: Service) -> Iterator[int]:
    with served(Served(app_of(service)), around=lambda app: app) as there:  # type: ignore[arg-type]
        yield there.port


def said(port: int, data: bytes, *, ends: bool = True) -> bytes:
    """Return all that comes back on a connection of its own, which ends with `data` or later."""
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(data)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        parts = iter(partial(connection.recv, 65536), b"")
        try:
            return b"".join(parts)
        except ConnectionResetError:
            return b""


def requests_of(file: str) -> Iterator[tuple[bytes, bool]]:
    """Yield the requests of one file of llhttp, and whether a parser must refuse them."""
    text = shared(f"corpora/http-requests/{file}.md").read_text("utf-8")
    for request, log in _BLOCK.findall(text):
        plain = re.sub(r"\\\n", "", request)  # the next line goes on
        plain = re.sub(r"\\[rntf\\]", lambda found: _ESCAPED[found[0]], plain)
        lines = re.sub(r"(?<!\r)\n", "\r\n", plain)
        yield lines.encode("latin-1", "replace"), "error code=" in log


def test_no_request_of_llhttp_reaches_a_tool_or_ends_the_server() -> None:
    service = Service()
    files = ("content-length", "invalid", "method", "pipelining", "transfer-encoding", "uri")
    with under_uvicorn(service) as port:
        found = [one for file in files for one in requests_of(file)]
        answers = [(said(port, request), refused) for request, refused in found]
        assert len(found) > 90
        assert all(not one or one.startswith(b"HTTP/1.1 4") for one, _ in answers)
        assert any(b" 400 " in one for one, refused in answers if refused)
        assert service.seen == []
        assert b'"result"' in said(port, HEAD % (b"*/*", LENGTH) + BODY)


CHUNKED = b"Transfer-Encoding: chunked\r\n"
UNCLEAR = (
    (LENGTH + CHUNKED, b"0\r\n\r\n"),
    (LENGTH + b"Content-Length: 3\r\n", BODY),
    (b"Content-Length: +%d\r\n" % len(BODY), BODY),
    (b"Content-Length: -1\r\n", BODY),
    (b"Content-Length: 1_0\r\n", BODY),
    (b"Transfer-Encoding: chunked, identity\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)),
    (b"Transfer-Encoding : chunked\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)),
    (CHUNKED, b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY) + 4, BODY)),
    (CHUNKED, b"zz\r\n%b\r\n0\r\n\r\n" % BODY),
    (LENGTH + b"X: a\x00b\r\n", BODY),
    (LENGTH + b"X: a\nY: b\r\n", BODY[:-1]),
    (LENGTH, BODY[:-1]),
)


def test_a_body_of_unclear_length_runs_nothing() -> None:
    service = Service()
    with under_uvicorn(service) as port:
        answers = [said(port, HEAD % (b"*/*", fields) + body) for fields, body in UNCLEAR]
        assert [one for one in answers if one and not one.startswith(b"HTTP/1.1 400")] == []
    assert service.seen == []


def test_http_1_1_of_uvicorn_carries_calls_streams_and_ends() -> None:
    service = Service()
    with under_uvicorn(service) as port:
        last = HEAD % (b"*/*", LENGTH + b"Connection: close\r\n") + BODY
        twice = said(port, HEAD % (b"*/*", LENGTH) + BODY + last, ends=False)
        assert twice.count(b"HTTP/1.1 200 OK") == twice.count(b'"response_type":"answer"') == 2
        body = b"5\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (BODY[:5], len(BODY) - 5, BODY[5:])
        assert b'"result"' in said(port, HEAD % (b"*/*", CHUNKED) + body)
        once = HEAD % (b"text/event-stream", LENGTH + b"Connection: close\r\n") + BODY
        events = said(port, once, ends=False)  # a client that ends its half may be taken for gone
        assert re.findall(rb"event: (\w+)", events) == [b"message", b"message", b"done"]
        for accept in (b"*/*", b"text/event-stream"):
            _leave(service, port, accept)


@contextmanager
def under_own_server(service: Service) -> Iterator[int]:
    """Serve as the command does."""
    with bound("127.0.0.1", 0) as listener, start_blocking_portal() as portal:
        stop, started = portal.call(anyio.Event), portal.call(anyio.Event)
        serve_it = partial(serve_on, app_of(service), listener, stop, started=started.set)
        ended = portal.start_task_soon(serve_it)
        portal.call(started.wait)
        try:
            yield listener.getsockname()[1]
        finally:
            portal.call(stop.set)
            ended.result(10)


CALL = HEAD % (b"*/*", LENGTH) + BODY


@each("behind", [CALL, CALL[:-1], CALL[:9], b"\0\n"])
def test_a_client_that_leaves_is_noticed_whatever_it_sent_behind(behind: bytes) -> None:
    service = Service()
    with under_own_server(service) as port:
        for accept in (b"*/*", b"text/event-stream"):
            _leave(service, port, accept, behind)


def _leave(service: Service, port: int, accept: bytes, behind: bytes = b"") -> None:
    """Send a call that waits, and close the connection; the call has to end."""
    body = json.dumps(call_of("wait")).encode()
    service.waits, service.cancelled = anyio.Event(), anyio.Event()
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        connection.sendall(HEAD % (accept, b"Content-Length: %d\r\n" % len(body)) + body)
        _until(service.waits.is_set)
        connection.sendall(behind)
        connection.sendall(behind)
    _until(service.cancelled.is_set)


def test_what_is_no_request_is_refused_behind_the_answers_before_it() -> None:
    with under_own_server(Service()) as port:
        for bad in (b"\0\r\n\r\n", HEAD % (b"*/*", b"Content-Length: abc\r\n") + BODY):
            answers = said(port, CALL + CALL + bad + CALL, ends=False)
            assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"200", b"200", b"400"]


def test_a_body_that_is_not_complete_does_not_hold_the_end_of_the_server_up() -> None:
    last = HEAD % (b"*/*", LENGTH + b"Connection: close\r\n") + BODY
    with socket.socket() as half:
        with under_own_server(Service()) as port:
            half.settimeout(5)
            half.connect(("127.0.0.1", port))
            half.sendall(CALL[:-4])
            assert b'"result"' in said(port, last, ends=False)
            begun = time.monotonic()
        assert time.monotonic() - begun < 4  # it may take seven seconds to end
        assert b" 503 " in half.recv(65536)


class Contexts(Service):
    """Notes what an earlier call left in its context."""

    def __init__(self) -> None:
        super().__init__()
        self.left = set[object]()

    async def call(self, call: ToolCall, caller: LiteCaller) -> Any:
        self.left.add(LEFT.get())
        LEFT.set(call.name)
        return await super().call(call, caller)


LEFT = ContextVar[object]("LEFT", default=None)


def test_requests_of_one_connection_are_answered_in_order_and_share_nothing() -> None:
    chance, service = random.Random(5), Contexts()
    with under_own_server(service) as port:
        for size in (1, 50, 5_000, 300_000):
            whole = b""
            for number in range(20):
                parts = "x" * size if number == 3 else ""
                body = json.dumps(call_of("echo", filler=parts) | {"id": number}).encode()
                whole += HEAD % (b"*/*", b"Content-Length: %d\r\n" % len(body)) + body
            found = _in_pieces(port, whole, chance)
            assert re.findall(rb'"id":(\d+)', found) == [b"%d" % number for number in range(20)]
    assert service.left == {None}


def _in_pieces(port: int, data: bytes, chance: random.Random) -> bytes:
    """Send requests in pieces, and return what comes back until 20 answers are there."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), 5) as connection:
        while data:
            cut = chance.randrange(1, max(2, len(data) // 5 + 300))
            connection.sendall(data[:cut])
            data = data[cut:]
        while found.count(b"HTTP/1.1 200") < 20 or not found.endswith(b"}"):
            part = connection.recv(65536)
            assert part, found
            found += part
    return found


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_client_that_leaves_the_server_of_the_command_cancels_its_call() -> None:
    body = json.dumps(call_of("wait")).encode()
    stop, started, service = anyio.Event(), anyio.Event(), Service()
    with bound("127.0.0.1", 0) as listener, anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                partial(serve_on, app_of(service), listener, stop, started=started.set)
            )
            await started.wait()
            for accept, ends in (
                (b"*/*", "aclose"),
                (b"*/*", "send_eof"),
                (b"text/event-stream", "aclose"),
            ):
                service.waits, service.cancelled = anyio.Event(), anyio.Event()
                async with await anyio.connect_tcp(*listener.getsockname()[:2]) as stream:
                    await stream.send(HEAD % (accept, b"Content-Length: %d\r\n" % len(body)) + body)
                    await service.waits.wait()
                    await getattr(stream, ends)()
                    await service.cancelled.wait()
            stop.set()


def _until(holds: Any) -> None:
    until = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.002)


class Http2:
    """A raw client of HTTP/2, that knows before it connects that it is spoken."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._h2 = H2Connection(H2Configuration(client_side=True))
        self._h2.initiate_connection()
        self._waiting: list[Event] = []

    async def send(self, path: str, body: object, accept: str = "application/json") -> int:
        """Send a request; return the id of its stream."""
        id = self._h2.get_next_available_stream_id()
        data = json.dumps(body).encode()
        fields = [
            (":method", "POST"),
            (":scheme", "http"),
            (":authority", "localhost"),
            (":path", path),
            ("content-type", "application/json"),
            ("accept", accept),
        ]
        self._h2.send_headers(id, fields)
        self._h2.send_data(id, data, end_stream=True)
        await self._flush()
        return id

    async def _flush(self) -> None:
        await self._stream.send(self._h2.data_to_send())

    async def events(self, id: int) -> AsyncIterator[Event]:
        """Yield what comes on one stream, until it ends."""
        while True:
            for event in self._h2.receive_data(await self._stream.receive()):
                if isinstance(event, DataReceived):
                    self._h2.acknowledge_received_data(event.flow_controlled_length, id)
                if getattr(event, "stream_id", None) == id:
                    yield event
                    if isinstance(event, StreamEnded):
                        return
            await self._flush()

    async def answer(self, id: int) -> tuple[str, bytes]:
        """Return status and body of one response."""
        status, body = "", b""
        async for event in self.events(id):
            if isinstance(event, ResponseReceived):
                status = dict(event.headers)[b":status"].decode()
            elif isinstance(event, DataReceived):
                body += event.data or b""
        return status, body

    async def cancel(self, id: int) -> None:
        """Reset a stream."""
        self._h2.reset_stream(id, 8)
        await self._flush()


@asynccontextmanager
async def under_hypercorn(service: Service) -> AsyncIterator[Http2]:
    config, stop = Config(), anyio.Event()
    app: Any = app_of(service)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config.bind = [f"fd://{os.dup(listener.fileno())}"]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(serve, app, config, shutdown_trigger=stop.wait))
            async with await anyio.connect_tcp(*listener.getsockname()) as stream:
                yield Http2(stream)
            stop.set()


@pytest.mark.spec("mcp-lite-4.1-1")
@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_http_2_of_hypercorn_carries_calls_streams_and_ends() -> None:
    service = Service()
    with anyio.fail_after(10):
        async with under_hypercorn(service) as http:
            status, body = await http.answer(await http.send("/mcp-lite/v1/rpc", call_of("echo")))
            assert (status, json.loads(body)["result"]) == ("200", DONE)
            call = call_of("echo", parts=2)
            status, body = await http.answer(await http.send("/rpc", call, "text/event-stream"))
            assert re.findall(rb"event: (\w+)", body) == [b"message", b"message", b"done"]
            waiting = await http.send("/rpc", call_of("wait"), "text/event-stream")
            await service.waits.wait()
            await http.cancel(waiting)
            await service.cancelled.wait()
