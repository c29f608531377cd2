"""Where a raw server is reached: a transport of our host for each wire."""

from __future__ import annotations

__all__ = ("ADDRESSES", "Address")

import asyncio
import json
import sys
from asyncio import StreamReader, StreamWriter
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from websockets.asyncio.server import Server as WebSocketServer, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from kinwire import stdio
from kinwire.rpc.transport import Transport
from tests.runtime.mcpl.raw import relay
from tests.runtime.mcpl.raw.peer import Message, RawServer
from tests.runtime.mcpl.raw.wires import LINE, LineWire, MemoryWire, read_lines

LOOPBACK = "127.0.0.1"


class Address(Protocol):
    """Where one raw server after the other is reached."""

    peer: RawServer

    def target(self) -> Transport | str:
        """Return what `Host.connect` takes."""


class MemoryAddress:
    def __init__(self, peer: RawServer) -> None:
        self.peer = peer

    def target(self) -> Transport:
        wire = MemoryWire(self.peer)
        wire.address = f"memory:{id(self)}"
        return wire


@asynccontextmanager
async def in_memory(peer: RawServer) -> AsyncGenerator[MemoryAddress]:
    yield MemoryAddress(peer)


class StdioAddress:
    """A child process, which relays the bytes to a socket of the tests."""

    def __init__(self, peer: RawServer) -> None:
        self.peer = peer
        self.port = 0

    def target(self) -> Transport:
        return stdio(sys.executable, "-I", "-S", str(Path(relay.__file__)), str(self.port))

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        peer, wire = self.peer, LineWire(writer)
        peer.connect_to(wire)
        await read_lines(reader, peer)
        await wire.close()


@asynccontextmanager
async def over_stdio(peer: RawServer) -> AsyncGenerator[StdioAddress]:
    address = StdioAddress(peer)
    async with listening(address.serve) as port:
        address.port = port
        yield address


class HttpWire:
    """Streamable HTTP: replies to requests are JSON, the rest goes over the stream of a GET."""

    def __init__(self, peer: RawServer) -> None:
        self.peer = peer
        self.replies: dict[Any, asyncio.Future[Message]] = {}
        self.writers: set[StreamWriter] = set()
        self.closed = False
        self._events: deque[Message] = deque()
        self._stream: StreamWriter | None = None

    async def send(self, message: Message) -> None:
        """See `Wire.send`."""
        if "method" not in message and message.get("id") in self.replies:
            self.replies[message["id"]].set_result(message)
        else:
            self._events.append(message)
            await self.flush()

    async def close(self) -> None:
        """See `Wire.close`."""
        self.closed = True
        for writer in self.writers:
            writer.close()
        self.peer.end()

    async def open_stream(self, writer: StreamWriter) -> None:
        """Answer a GET: what our side gets of it comes here."""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        writer.write(b"Cache-Control: no-store\r\nConnection: close\r\n\r\n")
        self._stream = writer
        await self.flush()

    async def flush(self) -> None:
        while self._events and self._stream is not None:
            text = json.dumps(self._events.popleft())
            self._stream.write(f"event: message\ndata: {text}\n\n".encode())
        if self._stream is not None:
            await self._stream.drain()


class HttpAddress:
    def __init__(self, peer: RawServer) -> None:
        self.peer = peer
        self.port = 0
        self._wires: dict[str, HttpWire] = {}

    def target(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/mcp"

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, fields = parsed(head)
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                await self._respond(method, fields, body, writer)
        writer.close()

    async def _respond(
        self, method: str, fields: dict[str, str], body: bytes, writer: StreamWriter
    ) -> None:
        message = json.loads(body or b"null")
        wire = self._wires.get(fields.get("mcp-session-id", ""))
        if method == "POST" and message.get("method") == "initialize":
            wire = self._begin()
        if wire is None or wire.closed:
            return write(writer, "404 Not Found")
        wire.writers.add(writer)
        if method == "GET":
            await wire.open_stream(writer)
        elif method == "DELETE":
            write(writer, "200 OK")
            wire.peer.end()
        elif "id" in message and "method" in message:
            await self._reply(wire, message, writer)
        else:
            write(writer, "202 Accepted")
            await wire.peer.take(message)
        return None

    async def _reply(self, wire: HttpWire, message: Message, writer: StreamWriter) -> None:
        reply: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        wire.replies[message["id"]] = reply
        await wire.peer.take(message)
        body = json.dumps(await reply).encode()
        del wire.replies[message["id"]]
        write(writer, "200 OK", body, session=next(k for k, w in self._wires.items() if w is wire))

    def _begin(self) -> HttpWire:
        wire = HttpWire(self.peer)
        self._wires[f"raw-{len(self._wires)}"] = wire
        self.peer.connect_to(wire)
        return wire


@asynccontextmanager
async def over_http(peer: RawServer) -> AsyncGenerator[HttpAddress]:
    address = HttpAddress(peer)
    async with listening(address.serve) as port:
        address.port = port
        yield address


def parsed(head: bytes) -> tuple[str, dict[str, str]]:
    """Return the method and the header fields of a request."""
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    fields = (line.partition(":") for line in lines)
    return first.split(" ")[0], {name.lower(): value.strip() for name, _, value in fields}


def write(writer: StreamWriter, status: str, body: bytes = b"", session: str = "") -> None:
    """Write a response."""
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    if body:
        head.append("Content-Type: application/json")
    if session:
        head.append(f"Mcp-Session-Id: {session}")
    writer.write("\r\n".join([*head, "", ""]).encode() + body)


class WebSocketWire:
    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket

    async def send(self, message: Message) -> None:
        """See `Wire.send`."""
        await self._socket.send(json.dumps(message))

    async def close(self) -> None:
        """See `Wire.close`."""
        await self._socket.close()


class WebSocketAddress:
    def __init__(self, peer: RawServer) -> None:
        self.peer = peer
        self.server: WebSocketServer | None = None

    def target(self) -> str:
        assert self.server is not None
        port = next(iter(self.server.sockets)).getsockname()[1]
        return f"ws://{LOOPBACK}:{port}/mcp"

    async def serve(self, socket: ServerConnection) -> None:
        peer = self.peer
        peer.connect_to(WebSocketWire(socket))
        with suppress(ConnectionClosed):
            async for text in socket:
                await peer.take(json.loads(text))
        peer.end()


@asynccontextmanager
async def over_websocket(peer: RawServer) -> AsyncGenerator[WebSocketAddress]:
    address = WebSocketAddress(peer)
    options: dict[str, Any] = {"max_size": LINE, "close_timeout": 1}
    async with serve(address.serve, LOOPBACK, 0, subprotocols=["mcp"], **options) as server:  # type: ignore[list-item]
        address.server = server
        yield address


@asynccontextmanager
async def listening(serve_one: Any) -> AsyncGenerator[int]:
    """Yield a port of this machine where this function serves each connection."""
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: StreamReader, writer: StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(serve_one(reader, writer)))

    server = await asyncio.start_server(accept, LOOPBACK, 0, limit=LINE)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


ADDRESSES: dict[str, Callable[[RawServer], AbstractAsyncContextManager[Address]]] = {
    "memory": in_memory,
    "stdio": over_stdio,
    "http": over_http,
    "ws": over_websocket,
}
