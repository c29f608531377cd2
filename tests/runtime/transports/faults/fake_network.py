"""A network between two ends that can be cut: it carries bytes, holds them, or breaks off."""

from __future__ import annotations

__all__ = ("Relay", "relayed")

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import SocketAttribute, SocketStream

from kinwire.support.background import background


class Relay:
    """Leads from `port` to another port."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._carries = anyio.Event()
        self._connections: set[anyio.CancelScope] = set()
        self.port = 0
        self.resume()

    def hold(self) -> None:
        """Carry nothing, and tell nobody."""
        self._carries = anyio.Event()

    def resume(self) -> None:
        """Carry what was held, and all that comes."""
        self._carries.set()

    def break_off(self) -> None:
        """Lose what was held, and every connection with it."""
        for connection in self._connections:
            connection.cancel()
        self.resume()

    async def carry(self, near: SocketStream) -> None:
        """Carry one connection."""
        with anyio.CancelScope() as scope:
            self._connections.add(scope)
            async with (
                near,
                await anyio.connect_tcp("127.0.0.1", self._to) as far,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self._copy, near, far)
                tasks.start_soon(self._copy, far, near)
        self._connections.discard(scope)

    async def _copy(self, source: SocketStream, to: SocketStream) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while True:
                chunk = await source.receive()
                await self._carries.wait()
                await to.send(chunk)
        await to.aclose()


@asynccontextmanager
async def relayed(port: int) -> AsyncGenerator[Relay]:
    """Yield a way to that port."""
    relay = Relay(port)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        relay.port = listener.extra(SocketAttribute.local_port)
        async with background() as tasks:
            tasks.start_soon(listener.serve, relay.carry)
            yield relay
            tasks.cancel_scope.cancel()
