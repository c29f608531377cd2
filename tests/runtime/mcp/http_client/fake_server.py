"""An HTTP server of the tests: it reads whole requests and writes what a test says."""

from __future__ import annotations

__all__ = ("Asked", "Handler", "Line", "RawServer", "polite", "reply_to")

import json
import socket
import ssl
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSListener

from kinwire.support.background import background

SESSION = "secret-session"


class Asked(NamedTuple):
    """A request that came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int
    earlier: int = 0
    """How many requests came before on the connection."""

    @property
    def message(self) -> dict[str, Any]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found

    @property
    def about(self) -> str:
        """The method of JSON-RPC, for a response "reply", without a body that of HTTP."""
        if not self.body:
            return self.method
        method = self.message.get("method", "reply")
        assert isinstance(method, str)
        return method


class Line:
    """The way back to the client."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    async def raw(self, data: bytes) -> None:
        """Write bytes."""
        await self._stream.send(data)

    async def status(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answer with a whole response; `_` in names of headers stands for `-`."""
        lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join([*lines, "", ""]).encode() + body)

    async def json(self, message: Any, status: int = 200, **headers: str) -> None:
        """Answer with a JSON body."""
        body = json.dumps(message).encode()
        await self.status(status, body, content_type="application/json", **headers)

    async def stream(self, **headers: str) -> None:
        """Begin an event stream that ends with the connection."""
        lines = ["HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def event(self, message: Any, **fields: str) -> None:
        """Send an event."""
        lines = [f"{name}: {value}" for name, value in fields.items()]
        await self.raw("\n".join([*lines, f"data: {json.dumps(message)}", "", ""]).encode())

    async def until_closed(self) -> None:
        """Return when the other side has closed the connection."""
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                await self._stream.receive()

    async def close(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def reset(self) -> None:
        """Break the connection off."""
        raw = self._stream.extra(SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self._stream.aclose()


Handler = Callable[[Asked, Line], Awaitable[None]]


class RawServer:
    """What was asked, and where."""

    def __init__(self, handler: Handler, path: str, tls: ssl.SSLContext | None = None) -> None:
        self.handler = handler
        self._tls = tls
        self._path = path
        self._accepting = anyio.CancelScope()
        self.early: Handler | None = None
        """Answers a request whose body is not complete yet, in place of `handler`."""
        self.asked: list[Asked] = []
        self.port = 0
        self.connections = 0

    @property
    def url(self) -> str:
        origin = "http://127.0.0.1" if self._tls is None else "https://localhost"
        return f"{origin}:{self.port}{self._path}"

    def about(self) -> list[str]:
        return [one.about for one in self.asked]

    def stop(self) -> None:
        """Accept nobody any more."""
        self._accepting.cancel()

    @classmethod
    @asynccontextmanager
    async def serving(
        cls,
        handler: Handler,
        path: str = "/mcp",
        *,
        seconds: float = 20,
        tls: ssl.SSLContext | None = None,
    ) -> AsyncGenerator[RawServer]:
        """Serve; the block may take that many seconds."""
        server = cls(handler, path, tls)
        with anyio.fail_after(seconds):
            async with background() as tasks:
                listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
                server.port = listener.extra(SocketAttribute.local_port)

                async def accept() -> None:
                    async with listener:
                        with server._accepting:
                            if tls is None:
                                await listener.serve(server._serve, tasks)
                            else:
                                await TLSListener(listener, tls, False).serve(server._serve, tasks)

                tasks.start_soon(accept)
                yield server
                tasks.cancel_scope.cancel()

    async def _serve(self, stream: ByteStream) -> None:
        self.connections += 1
        number, earlier, buffer = self.connections, 0, b""
        try:
            async with stream:
                while True:
                    asked, buffer = await _next_head(stream, buffer)
                    asked = asked._replace(connection=number, earlier=earlier)
                    buffer = await self._answer(asked, buffer, stream)
                    earlier += 1
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass

    async def _answer(self, asked: Asked, buffer: bytes, stream: ByteStream) -> bytes:
        """Answer a request whose head was read; return what follows its body."""
        handler, line = self.handler, Line(stream)
        length = int(asked.headers.get("content-length", "0"))
        if len(buffer) < length and self.early is not None:
            await self.early(asked, line)
            handler = _ignore
        while len(buffer) < length:
            buffer += await stream.receive()
        asked = asked._replace(body=buffer[:length])
        self.asked.append(asked)
        await handler(asked, line)
        return buffer[length:]


async def _next_head(stream: ByteStream, buffer: bytes) -> tuple[Asked, bytes]:
    while b"\r\n\r\n" not in buffer:
        buffer += await stream.receive()
    head, _, rest = buffer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = [line.split(": ", 1) for line in lines]
    method, target, _ = first.split(" ")
    return Asked(method, target, {name.lower(): value for name, value in pairs}, b"", 0), rest


async def _ignore(asked: Asked, line: Line) -> None: ...


def reply_to(asked: Asked, result: Any = None) -> dict[str, Any]:
    """Return the response with `result`."""
    return {"jsonrpc": "2.0", "id": asked.message["id"], "result": result or {}}


def polite(**handlers: Handler) -> Handler:
    """Return an MCP server; `handlers` has the replies to methods, with `_` for `/`, and `GET`."""

    async def handle(asked: Asked, line: Line) -> None:
        handler = handlers.get(asked.about.replace("/", "_"))
        if handler is not None:
            await handler(asked, line)
        elif asked.about == "initialize":
            await line.json(reply_to(asked, GREETING), mcp_session_id=SESSION)
        elif asked.method == "GET":
            await line.status(405)
        elif asked.method == "DELETE":
            await line.status(200)
        elif "id" in asked.message and "method" in asked.message:
            await line.json(reply_to(asked))
        else:
            await line.status(202)

    return handle


GREETING = {
    "protocolVersion": "2024-11-05",
    "capabilities": {"tools": {}, "logging": {}},
    "serverInfo": {"name": "raw", "version": "1"},
}
