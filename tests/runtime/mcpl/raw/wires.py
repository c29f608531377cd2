"""What carries the messages of a raw peer in both roles: memory, and lines of JSON."""

from __future__ import annotations

__all__ = ("LineWire", "MemoryWire", "read_lines")

import asyncio
import json
from collections import deque
from contextlib import suppress

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks
from tests.runtime.mcpl.raw.peer import Message, RawPeer

LINE = 64 * 1024 * 1024  # bytes


class MemoryWire:
    """The transport of our side, whose other end a raw peer holds."""

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self, peer: RawPeer) -> None:
        self.peer = peer
        self._outgoing: deque[Message] = deque()
        self._news = anyio.Event()
        self._callbacks: SessionCallbacks | None = None
        peer.connect_to(self)

    async def send(self, message: Message) -> None:
        """See `Wire.send`."""
        self._outgoing.append(message)
        self.wake()

    async def close(self) -> None:
        """See `Wire.close`."""
        if self._callbacks is not None:
            self._feed(self._callbacks)
            self._callbacks.end(ConnectionClosedError("The raw peer has hung up."))
        self.peer.end()

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        self._callbacks = callbacks
        while True:
            news = self._news
            await self._take(callbacks)
            self._feed(callbacks)
            if not callbacks.waiting:
                await news.wait()

    def wake(self) -> None:
        """See `Transport.wake`."""
        self._news.set()
        self._news = anyio.Event()

    def resume(self) -> None:
        """See `Transport.resume`."""
        self.wake()

    async def aclose(self) -> None:
        """See `Transport.aclose`."""
        if self._callbacks is not None:
            await self._take(self._callbacks)
        self.peer.end()

    async def _take(self, callbacks: SessionCallbacks) -> None:
        while callbacks.waiting:
            for frame in callbacks.take():
                await self.peer.take(json.loads(frame))

    def _feed(self, callbacks: SessionCallbacks) -> None:
        while self._outgoing and not callbacks.paused:
            callbacks.feed(json.dumps(self._outgoing.popleft()).encode())


class LineWire:
    """One message a line, as over stdio."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, message: Message) -> None:
        """See `Wire.send`."""
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()

    async def close(self) -> None:
        """See `Wire.close`."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


async def read_lines(reader: asyncio.StreamReader, peer: RawPeer) -> None:
    """Hand the messages of a stream to a peer, until it ends."""
    with suppress(OSError):
        async for line in reader:
            await peer.take(json.loads(line))
    peer.end()
