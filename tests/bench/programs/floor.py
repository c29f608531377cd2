"""What a typed call must cost: one task a request, the same codec, and no rules at all.

usage: floor.py serve|memory|http|client [COMMAND...]

Nothing is checked but the types of params and results: no deadlines, limits, cancellation or
errors. The same models are built and dumped on both sides as kinwire does.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

from pydantic_core import from_json, to_json

from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcp.models import CallToolRequestParams, CallToolResult, TextContent
from tests.bench.programs.driving import drive
from tests.bench.programs.listening import listen

MODE, *COMMAND = sys.argv[1:]

GREETING = {
    "protocolVersion": "2024-11-05",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "floor", "version": "1"},
}

tasks: set[asyncio.Task[None]] = set()


def decode(frame: bytes) -> Any:
    return from_json(frame, allow_inf_nan=False, cache_strings="keys")


def encode(message: object) -> bytes:
    return to_json(message, inf_nan_mode="null")


async def tools_call(params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=(params.arguments or {})["text"])])


async def answer(message: Any) -> bytes:
    if message["method"] == "initialize":
        result: Any = GREETING
    else:
        result = to_wire(await tools_call(from_wire(CallToolRequestParams, message["params"])))
    return encode({"jsonrpc": "2.0", "id": message["id"], "result": result})


def start(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


class Lines:
    """Cuts what arrives into lines; gathers what leaves until the end of the turn."""

    def __init__(self, line: Callable[[bytes], None]) -> None:
        self.line = line
        self.write: Callable[[bytes], object] = lambda _: None
        self.parts: list[bytes] = []
        self.out: list[bytes] = []

    def receive(self, chunk: bytes) -> None:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            if self.parts:
                self.parts.append(line)
                line = b"".join(self.parts)
                self.parts = []
            self.line(line)
        if rest:
            self.parts.append(rest)

    def send(self, frame: bytes) -> None:
        if not self.out:
            asyncio.get_running_loop().call_soon(self.flush)
        self.out.append(frame)

    def flush(self) -> None:
        frames, self.out = self.out, []
        self.write(b"\n".join([*frames, b""]))


class Calls:
    """The calls of a client: a future each."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self.send = send
        self.ids = count(1)
        self.pending: dict[int, asyncio.Future[Any]] = {}

    async def call(self, text: str) -> CallToolResult:
        params = to_wire(CallToolRequestParams(name="echo", arguments={"text": text}))
        number = next(self.ids)
        future = self.pending[number] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        self.send(encode(message))
        return from_wire(CallToolResult, await future)

    def answered(self, frame: bytes) -> None:
        message = decode(frame)
        self.pending.pop(message["id"]).set_result(message["result"])


class Pipes(asyncio.SubprocessProtocol, asyncio.Protocol):
    """The two ends of pipes, as asyncio reports them."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.lines.receive(data)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.lines.receive(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()


async def serve() -> None:
    async def serve_one(message: Any) -> None:
        lines.send(await answer(message))

    def line(frame: bytes) -> None:
        message = decode(frame)
        if "id" in message:
            start(serve_one(message))

    lines = Lines(line)
    loop = asyncio.get_running_loop()
    protocol = Pipes(lines)
    writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout)
    lines.write = writer.write
    await loop.connect_read_pipe(lambda: protocol, sys.stdin)
    await protocol.ended.wait()


async def memory() -> None:
    async def serve_one(frame: bytes) -> None:
        calls.answered(await answer(decode(frame)))

    calls = Calls(lambda frame: start(serve_one(frame)))
    await drive(calls.call)


async def client() -> None:
    lines = Lines(lambda frame: calls.answered(frame))
    calls = Calls(lines.send)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.subprocess_exec(lambda: Pipes(lines), *COMMAND, stderr=None)
    pipe: Any = transport.get_pipe_transport(0)
    lines.write = pipe.write
    await drive(calls.call)
    transport.close()


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Answer one request under ASGI."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    body = b""
    more = True
    while more:
        part = await receive()
        body += part.get("body", b"")
        more = part.get("more_body", False)
    message = decode(body) if body else {}  # DELETE has no body
    found = await answer(message) if "id" in message else b""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(found))]
    status = 200 if found else 202
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": found})


if MODE == "http":
    listen(application)
else:
    asyncio.run({"serve": serve, "memory": memory, "client": client}[MODE]())
