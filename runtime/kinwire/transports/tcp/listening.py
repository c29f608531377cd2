"""A port that is listened on, on asyncio and on trio."""

from __future__ import annotations

__all__ = ("listening",)

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from ssl import SSLContext

import anyio
from anyio.abc import ByteStream as AnyioStream, Listener, SocketAttribute
from anyio.streams.tls import TLSListener

from kinwire.transports.task_spawner import TaskSpawner
from kinwire.transports.tcp.streams import ByteStream, CallbackStream, Receiver, TaskStream

Accept = Callable[[ByteStream], Receiver]
"""Takes a connection that came in; returns the receiver of its events."""

_BACKLOG = 1024


@asynccontextmanager
async def listening(
    host: str,
    port: int,
    accept: Accept,
    *,
    tls: SSLContext | None,
    loop: AbstractEventLoop | None,
    tasks: TaskSpawner,
) -> AsyncGenerator[int]:
    """Yield the port that is listened on, until the block is left; connections stay open then.

    Without a `loop`, what connections need runs in `tasks`.

    Raises:
        OSError: the port cannot be had.
    """
    if loop is None:
        place = _listening_by_tasks(host, port, accept, tls=tls, tasks=tasks)
        async with place as number:
            yield number
        return
    server = await loop.create_server(
        partial(_AcceptedStream, accept), host, port, ssl=tls, backlog=_BACKLOG
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@asynccontextmanager
async def _listening_by_tasks(
    host: str, port: int, accept: Accept, *, tls: SSLContext | None, tasks: TaskSpawner
) -> AsyncGenerator[int]:
    plain = await anyio.create_tcp_listener(local_host=host, local_port=port, backlog=_BACKLOG)
    number: int = plain.extra(SocketAttribute.local_port)
    listener: Listener[AnyioStream] = plain if tls is None else TLSListener(plain, tls)
    accepting, stopped = anyio.CancelScope(), anyio.Event()

    async def accept_all() -> None:
        async with anyio.create_task_group() as connections:
            with accepting:
                await listener.serve(partial(_carry, accept), connections)
            stopped.set()

    async with listener:
        tasks.spawn(accept_all)
        try:
            yield number
        finally:
            accepting.cancel()
            with anyio.CancelScope(shield=True):
                await stopped.wait()


class _AcceptedStream(CallbackStream):
    def __init__(self, accept: Accept) -> None:
        super().__init__(_Nobody())
        self._accept = accept

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        super().connection_made(transport)
        self.receiver = self._accept(self)


class _Nobody:
    """Stands where a receiver is about to."""

    def received(self, chunk: bytes, /) -> None: ...
    def room(self) -> None: ...
    def lost(self, error: Exception | None, /) -> None: ...


async def _carry(accept: Accept, accepted: AnyioStream) -> None:
    stream = TaskStream(accepted, _Nobody())
    stream.receiver = accept(stream)
    await stream.run()
