"""Connections to one server that stay open between requests."""

from __future__ import annotations

__all__ = ("HttpClient", "Pool", "RequestHandle")

from asyncio import AbstractEventLoop
from collections.abc import Callable
from functools import partial
from typing import Protocol

import anyio

from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.connection import HttpConnection
from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.response import ResponseReceiver
from kinwire.transports.task_spawner import TaskSpawner
from kinwire.transports.tcp.streams import client_context, dial

_CONNECT = 10.0  # seconds for a connection to stand, TLS included
_IDLE = 4.0  # servers close idle connections after 5 s and more: not while a request is on its way
_LOOK = 1.0


class RequestHandle(Protocol):
    """A request under way."""

    def cancel(self, reply: ResponseReceiver, /) -> None:
        """Give up the request of `reply`, if it is still the current one: it gets nothing more."""

    def expire_in(self, reply: ResponseReceiver, seconds: float, /) -> None:
        """Give the request of `reply` up, if it is still the one, unless it ends in time."""


class HttpClient(Protocol):
    """What sends requests."""

    def send(
        self,
        head: RequestHead,
        body: bytes,
        reply: ResponseReceiver,
        *,
        patience: float | None = None,
    ) -> RequestHandle:
        """Send a request; `reply` is broken if it is not complete within `patience` seconds."""
        ...

    async def run(self) -> None:
        """Work until cancelled, and close everything then."""

    def pause(self) -> None:
        """Read nothing until `resume`."""

    def resume(self) -> None:
        """Read again."""


class Pool:
    """Connections of our own."""

    def __init__(
        self, address: ServerAddress, loop: AbstractEventLoop | None, tasks: TaskSpawner
    ) -> None:
        self._address = address
        self._loop = loop
        self._tasks = tasks
        self._idle: list[HttpConnection] = []  # the one used last is at the end
        self._open: set[HttpConnection] = set()
        self._news = anyio.Event()
        self._now: Callable[[], float] = anyio.current_time if loop is None else loop.time

    def send(
        self,
        head: RequestHead,
        body: bytes,
        reply: ResponseReceiver,
        *,
        patience: float | None = None,
    ) -> HttpConnection:
        """See `HttpClient.send`."""
        connection = self._usable()
        if connection is None:
            connection = HttpConnection(self._freed, self._closed, self._now)
            self._open.add(connection)
            self._tasks.spawn(partial(self._connect, connection))
            self._news.set()
        connection.deadline = None if patience is None else self._now() + patience
        connection.send(head.followed_by(body), reply)
        return connection

    async def run(self) -> None:
        """See `HttpClient.run`."""
        try:
            while True:
                self._news = anyio.Event()
                if not self._open:
                    await self._news.wait()
                await anyio.sleep(_LOOK)
                self._sweep()
        finally:
            for connection in list(self._open):
                connection.close()

    def pause(self) -> None:
        """See `HttpClient.pause`."""
        for connection in self._open:
            connection.pause()

    def resume(self) -> None:
        """See `HttpClient.resume`."""
        for connection in list(self._open):
            connection.resume()

    async def _connect(self, connection: HttpConnection) -> None:
        address = self._address
        try:
            with anyio.fail_after(_CONNECT):
                stream = await dial(
                    address.host,
                    address.port,
                    connection,
                    tls=client_context() if address.secure else None,
                    loop=self._loop,
                    tasks=self._tasks,
                )
        except OSError as error:
            connection.failed(error)
        else:
            connection.connected(stream)

    def _usable(self) -> HttpConnection | None:
        """Return an open connection that the server is not about to close."""
        now = self._now()
        while self._idle:
            connection = self._idle.pop()
            if connection.deadline is None or connection.deadline > now:
                return connection
            connection.give_up(TimeoutError())
        return None

    def _sweep(self) -> None:
        now = self._now()
        for connection in list(self._open):
            if connection.deadline is None or connection.deadline > now:
                continue
            connection.give_up(TimeoutError("no answer came in time"))

    def _freed(self, connection: HttpConnection) -> None:
        connection.deadline = self._now() + _IDLE
        self._idle.append(connection)

    def _closed(self, connection: HttpConnection) -> None:
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
