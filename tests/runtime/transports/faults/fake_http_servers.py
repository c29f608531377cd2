"""Servers of bytes over HTTP, old and new: `http.server` below, a thread a connection."""

from __future__ import annotations

__all__ = ("HttpServer", "SseServer")

import json
import socket
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Event, Thread
from typing import Any, cast

from anyio.from_thread import BlockingPortal

from tests.runtime.transports.faults.fake_server import RawServer, break_off


class HttpServer(RawServer):
    """Streamable HTTP: a reply to each request, and a stream for the rest."""

    path = "/mcp"

    def __init__(self, portal: BlockingPortal) -> None:
        super().__init__(portal)
        self.requests: Queue[_Asking] = Queue()
        self.get_streams: Queue[socket.socket] = Queue()
        self.over = Event()
        self._server = _Listening(("127.0.0.1", 0), _Asking)
        self._server.raw = self
        self.target = f"http://127.0.0.1:{self._server.server_address[1]}{self.path}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        self._stream: socket.socket | None = None

    def post(self, asking: _Asking, message: Any) -> None:
        """A message came."""
        if "id" in message and "method" in message:
            self.requests.put(asking)
            self._came.put(message)
            asking.answered.wait()
        else:
            asking.respond(202, b"")
            self._came.put(message)

    def get(self, asking: _Asking) -> None:
        """A stream is asked for."""
        asking.begin("text/event-stream")
        self.get_streams.put(asking.connection)
        self.over.wait()

    def send(self, frame: bytes) -> None:
        self.stream().sendall(b"data: " + frame + b"\n\n")

    def stream(self) -> socket.socket:
        """Return the stream of what the server says by itself."""
        if self._stream is None:
            self._stream = self.get_streams.get(timeout=20)
        return self._stream

    def reply(self, frame: bytes) -> None:
        asking = self.requests.get(timeout=20)
        asking.respond(200, frame, "Content-Type: application/json", "Mcp-Session-Id: raw")
        asking.answered.set()

    def begin(self, size: int) -> Callable[[bytes], object]:
        self._begun = self.requests.get(timeout=20)
        self._begun.begin("application/json")
        connection: socket.socket = self._begun.connection
        return connection.sendall

    def finish(self) -> None:
        self._begun.answered.set()

    def leave(self) -> None:
        break_off(self._begun.connection)
        self.finish()

    def close(self) -> None:
        self.over.set()
        while not self.requests.empty():
            self.requests.get().answered.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class SseServer(HttpServer):
    """HTTP+SSE: everything on one stream."""

    path = "/sse"

    def post(self, asking: _Asking, message: Any) -> None:
        if asking.path == self.path:
            asking.respond(405, b"")
        else:
            asking.respond(202, b"")
            self._came.put(message)

    def get(self, asking: _Asking) -> None:
        asking.begin("text/event-stream")
        asking.connection.sendall(b"event: endpoint\ndata: /messages\n\n")
        self.get_streams.put(asking.connection)
        self.over.wait()

    def reply(self, frame: bytes) -> None:
        self.send(frame)

    def begin(self, size: int) -> Callable[[bytes], object]:
        self.stream().sendall(b"data: ")
        return self.stream().sendall

    def finish(self) -> None: ...

    def leave(self) -> None:
        break_off(self.stream())


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    raw: HttpServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients break off."""


class _Asking(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"

    @property
    def _raw(self) -> HttpServer:
        return cast(_Listening, self.server).raw

    def do_POST(self) -> None:
        if self._raw.deaf:
            self._raw.over.wait()
            self.close_connection = True
            return
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answered = Event()
        self._raw.post(self, message)

    def do_GET(self) -> None:
        self._raw.get(self)
        self.close_connection = True

    def do_DELETE(self) -> None:
        self.respond(200, b"")

    def respond(self, status: int, body: bytes, *fields: str) -> None:
        lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(body)}", *fields, "", ""]
        self.connection.sendall("\r\n".join(lines).encode() + body)

    def begin(self, kind: str) -> None:
        """Begin a response that ends with the connection."""
        self.close_connection = True
        lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", "Connection: close", "", ""]
        self.connection.sendall("\r\n".join(lines).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
