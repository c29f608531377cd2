"""How a raw host reaches a server of ours: one way for each wire."""

from __future__ import annotations

__all__ = ("WAYS",)

import asyncio
import json
import os
import socket
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any

import anyio
import httpx2
import uvicorn
from uvicorn.server import ServerState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from kinwire import Server
from kinwire.support.background import background
from kinwire.transports.stdio import OwnStdio
from tests.runtime.mcpl.raw.peer import Message, RawHost
from tests.runtime.mcpl.raw.wires import LINE, LineWire, MemoryWire, read_lines

LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def in_memory(server: Server, host: RawHost) -> AsyncGenerator[None]:
    async with background() as tasks:
        tasks.start_soon(server.serve, MemoryWire(host))
        try:
            yield
        finally:
            await host.hang_up()


@asynccontextmanager
async def over_stdio(server: Server, host: RawHost) -> AsyncGenerator[None]:
    """The server has this process's standard input and output: pipes to the raw host."""
    to_server, from_server = os.pipe(), os.pipe()

    async def serve() -> None:
        with standing_in(to_server[0], from_server[1]):
            await server.serve(OwnStdio())

    async with background() as tasks:
        tasks.start_soon(serve)
        reader, writer = await streams(from_server[0], to_server[1])
        host.connect_to(LineWire(writer))
        tasks.start_soon(read_lines, reader, host)
        try:
            yield
        finally:
            await host.hang_up()


@contextmanager
def standing_in(source: int, sink: int) -> Iterator[None]:
    """Let two descriptors be standard input and output; closes them at the end."""
    kept = [(number, os.dup(number)) for number in (0, 1)]
    for descriptor, number in ((source, 0), (sink, 1)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    try:
        yield
    finally:
        for number, original in kept:
            os.dup2(original, number)
            os.close(original)


async def streams(read_from: int, write_to: int) -> tuple[asyncio.StreamReader, Any]:
    """Return the streams of two descriptors, which close them."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE)
    for_reading, for_writing = os.fdopen(read_from, "rb", 0), os.fdopen(write_to, "wb", 0)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), for_reading)
    writing, flow = await loop.connect_write_pipe(
        lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), for_writing
    )
    return reader, asyncio.StreamWriter(writing, flow, None, loop)


@asynccontextmanager
async def listening(server: Server) -> AsyncGenerator[int]:
    """Yield a port on which the server's ASGI application is served, on this event loop."""
    app = server.asgi()
    config = uvicorn.Config(app, log_config=None, access_log=False, ws="websockets-sansio")
    config.load()
    state = ServerState()
    make: Any = partial(config.http_protocol_class, config=config, server_state=state, app_state={})  # type: ignore[call-arg]
    listener = socket.create_server((LOOPBACK, 0))
    accepting = await asyncio.get_running_loop().create_server(make, sock=listener)
    try:
        yield listener.getsockname()[1]
    finally:
        accepting.close()
        await app.aclose()
        for connection in list(state.connections):
            connection.shutdown()
        await asyncio.gather(*state.tasks, return_exceptions=True)


class HttpWire:
    """Streamable HTTP: a POST for each message, and a GET for what the server says by itself."""

    def __init__(self, host: RawHost, client: httpx2.AsyncClient, url: str) -> None:
        self._host, self._client, self._url = host, client, url
        self._fields = {"Accept": "application/json, text/event-stream"}
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, message: Message) -> None:
        """See `Wire.send`; returns when the server has the message."""
        if message.get("method") == "initialize":
            await self._post(message)
            self._start(self._listen())
        elif "method" in message and "id" in message:
            sent = anyio.Event()
            self._start(self._post(message, sent))
            await sent.wait()
        else:
            await self._post(message)

    async def close(self) -> None:
        """See `Wire.close`."""
        with suppress(httpx2.HTTPError):
            await self._client.delete(self._url, headers=self._fields)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._host.end()

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _post(self, message: Message, sent: anyio.Event | None = None) -> None:
        async def trace(event: str, info: Any) -> None:
            if sent is not None and event.endswith("send_request_body.complete"):
                sent.set()

        post = self._client.stream(
            "POST", self._url, json=message, headers=self._fields, extensions={"trace": trace}
        )
        async with post as response:
            if session := response.headers.get("Mcp-Session-Id"):
                self._fields["Mcp-Session-Id"] = session
            await self._take(response)

    async def _listen(self) -> None:
        async with self._client.stream("GET", self._url, headers=self._fields) as response:
            await self._take(response)
        self._host.end()

    async def _take(self, response: httpx2.Response) -> None:
        if response.headers.get("Content-Type", "").startswith("text/event-stream"):
            async for line in response.aiter_lines():
                if line.startswith("data:") and line[5:].strip():
                    await self._host.take(json.loads(line[5:]))
        elif body := await response.aread():
            await self._host.take(json.loads(body))


@asynccontextmanager
async def over_http(server: Server, host: RawHost) -> AsyncGenerator[None]:
    async with listening(server) as port, httpx2.AsyncClient(timeout=None) as client:
        wire = HttpWire(host, client, f"http://{LOOPBACK}:{port}/mcp")
        host.connect_to(wire)
        try:
            yield
        finally:
            await wire.close()


class WebSocketWire:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, message: Message) -> None:
        """See `Wire.send`."""
        await self._socket.send(json.dumps(message))

    async def close(self) -> None:
        """See `Wire.close`."""
        await self._socket.close()


@asynccontextmanager
async def over_websocket(server: Server, host: RawHost) -> AsyncGenerator[None]:
    async with (
        listening(server) as port,
        connect(
            f"ws://{LOOPBACK}:{port}/mcp",
            subprotocols=["mcp"],  # type: ignore[list-item]
            max_size=LINE,
            close_timeout=1,
        ) as socket,
        background() as tasks,
    ):
        host.connect_to(WebSocketWire(socket))
        tasks.start_soon(read, socket, host)
        try:
            yield
        finally:
            await host.hang_up()


async def read(socket: ClientConnection, host: RawHost) -> None:
    with suppress(ConnectionClosed):
        async for text in socket:
            await host.take(json.loads(text))
    host.end()


WAYS: dict[str, Callable[[Server, RawHost], Any]] = {
    "memory": in_memory,
    "stdio": over_stdio,
    "http": over_http,
    "ws": over_websocket,
}
