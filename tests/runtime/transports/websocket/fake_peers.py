"""Both ends of a WebSocket, spoken byte by byte, so that they can break every rule."""

from __future__ import annotations

__all__ = ("Frame", "RawEnd", "asking", "raw_client", "raw_server")

import base64
import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
from anyio.abc import SocketAttribute, SocketStream

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
KEY = base64.b64encode(bytes(16)).decode()


class Frame(NamedTuple):
    """What came: a close frame's data begins with its code."""

    opcode: int
    data: bytes

    @property
    def code(self) -> int | None:
        assert self.opcode == 8
        return int.from_bytes(self.data[:2]) if self.data else None


class RawEnd:
    """One end, after or before the handshake."""

    def __init__(self, stream: SocketStream, *, masks: bool) -> None:
        self.stream = stream
        self._masks = masks
        self._buffer = b""

    async def head(self) -> str:
        """Read a request or a response up to the empty line."""
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += await self.stream.receive()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        return head.decode()

    async def send(self, data: bytes, *, opcode: int = 1, final: bool = True) -> None:
        """Send a frame."""
        length = len(data)
        size = bytes([length]) if length < 126 else b"\x7f" + length.to_bytes(8)
        if 125 < length < 1 << 16:
            size = b"\x7e" + length.to_bytes(2)
        mask = bytes(4) if self._masks else b""  # of zeros: it changes nothing
        size = bytes([size[0] | (0x80 if self._masks else 0)]) + size[1:]
        await self.stream.send(bytes([opcode | (0x80 if final else 0)]) + size + mask + data)

    async def say(self, message: Any) -> None:
        """Send a message."""
        await self.send(json.dumps(message).encode())

    async def ask(self, id: int, method: str = "ping", **params: Any) -> Any:
        """Send a request and return the next message."""
        await self.say({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return await self.message()

    async def frame(self) -> Frame:
        """Read a frame."""
        first, second = await self._take(2)
        length = second & 0x7F
        if length > 125:
            length = int.from_bytes(await self._take(2 if length == 126 else 8))
        mask = await self._take(4) if second & 0x80 else bytes(4)
        data = await self._take(length)
        return Frame(first & 0x0F, bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))

    async def message(self) -> Any:
        """Read a message."""
        frame = await self.frame()
        assert frame.opcode == 1, frame
        return json.loads(frame.data)

    async def close_code(self) -> int | None:
        """Read up to the close frame."""
        while True:
            frame = await self.frame()
            if frame.opcode == 8:
                return frame.code

    async def rest(self) -> bytes:
        """Read to the end of the connection."""
        try:
            while True:
                self._buffer += await self.stream.receive()
        except anyio.EndOfStream:
            return self._buffer

    async def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._buffer += await self.stream.receive()
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken


@asynccontextmanager
async def raw_client(
    port: int, *, path: str | None = "/mcp", **headers: str | None
) -> AsyncGenerator[tuple[RawEnd, str]]:
    """Yield a client and what its handshake was answered; None leaves a header out."""
    async with asking(port, path=path, **headers) as end:
        yield end, await end.head()


@asynccontextmanager
async def asking(
    port: int, *, path: str | None = "/mcp", **headers: str | None
) -> AsyncGenerator[RawEnd]:
    """Yield a client that has sent its handshake; None leaves a header out."""
    fields = {
        "Host": f"127.0.0.1:{port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": KEY,
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": "mcp",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        end = RawEnd(stream, masks=True)
        await stream.send("\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode())
        yield end


@asynccontextmanager
async def raw_server(
    handle: Callable[[RawEnd], Awaitable[None]], requests: list[str] | None = None
) -> AsyncGenerator[str]:
    """Yield the URL of a server that answers each handshake and hands the connection over.

    To a request for a tunnel it answers as a proxy with itself at the other end.
    """

    async def serve(stream: SocketStream) -> None:
        async with stream:
            end = RawEnd(stream, masks=False)
            head = await end.head()
            if requests is not None:
                requests.append(head)
            if head.startswith("CONNECT "):
                await stream.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
                head = await end.head()
            lines = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
            key = lines["Sec-WebSocket-Key"].encode()
            accept = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()
            answer = [
                "HTTP/1.1 101 Switching Protocols",
                "Upgrade: websocket",
                "Connection: Upgrade",
                f"Sec-WebSocket-Accept: {accept}",
                "Sec-WebSocket-Protocol: mcp",
            ]
            await stream.send("\r\n".join([*answer, "", ""]).encode())
            await handle(end)

    with anyio.fail_after(20):
        async with (
            await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(listener.serve, serve)
            yield f"ws://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/mcp"
            tasks.cancel_scope.cancel()
