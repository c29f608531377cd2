"""The HTTP client of this library: connections to servers that stay open between requests.

MCP sends by callbacks (`send`), without a task for each request; others wait for a whole response
(`request`) or read it as it comes (`stream`). Each client has its own cookies.
"""

from __future__ import annotations

__all__ = ("HttpClient", "HttpOptions", "RequestHandle", "RequestSender")

import os
import ssl
from asyncio import AbstractEventLoop
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple, Protocol

import anyio

from kinwire.support.background import background, running_loop
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.connection import HttpConnection, HttpRequest
from kinwire.transports.http_client.cookies import CookieJar
from kinwire.transports.http_client.dialing import Dial, Dialer, HttpRoute, proxy_fields, proxy_for
from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.response import Headers, ResponseReceiver, need_parser
from kinwire.transports.http_client.streamed import (
    ResponseTooLongError,
    StreamedResponse,
    WholeResponse,
)
from kinwire.transports.task_spawner import TaskSpawner

_CONNECT = 10.0  # seconds for a connection to stand, TLS included
_IDLE = 4.0  # servers close idle connections after 5 s and more: not while a request is on its way
_LOOK = 1.0
_MOST_MOVES = 16  # redirects that later requests follow by themselves


class RequestHandle(Protocol):
    """A request under way."""

    def cancel(self) -> None:
        """Give the request up, unless it is over: its reply gets nothing more."""

    def expire_in(self, seconds: float) -> None:
        """Give the request up unless it ends in time: then its reply is broken."""


class RequestSender(Protocol):
    """What sends requests by callbacks: `HttpClient`, or what stands for a client of a user."""

    def send(
        self,
        head: RequestHead,
        body: bytes,
        reply: ResponseReceiver,
        *,
        patience: float | None = None,
        repeatable: bool = False,
    ) -> RequestHandle:
        """Send a request; `reply` is broken if it is not complete within `patience` seconds."""
        ...

    async def run(self) -> None:
        """Work until cancelled, and close everything then."""

    def pause(self) -> None:
        """Read nothing until `resume`."""

    def resume(self) -> None:
        """Read again."""


class HttpOptions(NamedTuple):
    """How a client reaches servers."""

    tls: ssl.SSLContext | None = None
    """The certificates to trust and to show; None: those of the system."""
    proxy: ServerAddress | None = None
    """The proxy of all connections; it precedes the environment."""
    trust_env: bool = True
    """Whether `HTTP_PROXY` and the like count."""
    dial: Dial | None = None
    """Connects in its own way; the other options above mean nothing then."""
    redirects: int = 3
    """How often a request follows 307 and 308 to the same origin."""


_USUAL = HttpOptions()


class HttpClient:
    """Sends requests while `run` runs, or in the block of `opened`.

    Args:
        tasks: what connections need runs there.
        loop: asyncio's loop, for connections that cost little; None where trio runs.
        options: how servers are reached.

    Raises:
        ImportError: the extra `http` is not installed.
    """

    def __init__(
        self, tasks: TaskSpawner, loop: AbstractEventLoop | None, options: HttpOptions
    ) -> None:
        need_parser()
        self._tasks = tasks
        self._options = options
        self._dial: Dial = options.dial or Dialer(tasks, loop, options.tls).dial
        self._cookies = CookieJar()
        self._moves: dict[str, ServerAddress] = {}  # by the URL that was redirected
        self._idle: dict[str, list[HttpConnection]] = {}  # by origin; the last was used last
        self._open: set[HttpConnection] = set()
        self._news = anyio.Event()
        self.now: Callable[[], float] = anyio.current_time if loop is None else loop.time

    @classmethod
    @asynccontextmanager
    async def opened(cls, options: HttpOptions = _USUAL) -> AsyncGenerator[HttpClient]:
        """Yield a client, and close its connections at the end of the block.

        Raises:
            ImportError: the extra `http` is not installed.
        """
        async with background() as group:
            tasks = TaskSpawner()
            client = cls(tasks, running_loop(), options)
            group.start_soon(tasks.run)
            try:
                yield client
            finally:
                client.close()
                tasks.scope.cancel()

    def send(
        self,
        head: RequestHead,
        body: bytes,
        reply: ResponseReceiver,
        *,
        patience: float | None = None,
        repeatable: bool = False,
    ) -> HttpRequest:
        """Send a request; `reply` is broken if it is not complete within `patience` seconds.

        If the server has closed a connection that was open from before, and has answered nothing,
        a request that is `repeatable` or has an idempotent method is sent once more.
        """
        if self._moves:
            head = self._followed(head)
        request = HttpRequest(head, body, reply, safe=repeatable or head.idempotent)
        if patience is not None:
            request.deadline = self.now() + patience
        self._start(request, self._usable(head.origin))
        return request

    async def request(
        self,
        method: str,
        address: ServerAddress,
        fields: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        *,
        size: int,
        timeout: float,
        repeatable: bool = False,
    ) -> WholeResponse:
        """Return the response to a request.

        Args:
            method: such as "GET".
            address: where the request goes.
            fields: headers, in addition to `Host` and `Content-Length`.
            body: the content.
            size: bytes of a body that may come.
            timeout: seconds for all of it.
            repeatable: see `send`; methods such as GET are anyway.

        Raises:
            ResponseTooLongError: the body is longer.
            TimeoutError: the response was not complete in time.
            OSError: no connection could be made, or it was lost; see `errors.no_connection`.
            MalformedResponseError: the answer is not HTTP.
            ContentCodingError: the body is coded, and cannot be decoded.
        """
        head = RequestHead(method, address, fields)
        with anyio.fail_after(timeout):
            async with self.stream(head, body, repeatable=repeatable) as response:
                found = bytearray()
                async for chunk in response:
                    found += chunk
                    if len(found) > size:
                        raise ResponseTooLongError(f"it has more than {size} bytes")
                return WholeResponse(response.status, response.headers, bytes(found))

    @asynccontextmanager
    async def stream(
        self, head: RequestHead, body: bytes = b"", *, repeatable: bool = False
    ) -> AsyncGenerator[StreamedResponse]:
        """Yield a response whose head has come; what is not read of it in the block is given up.

        Raises:
            OSError: see `request`, as for the other errors.
        """
        response = StreamedResponse()
        handle = self.send(head, body, response, repeatable=repeatable)
        response.handle = handle
        try:
            await response.begun()
            yield response
        finally:
            handle.cancel()

    async def run(self) -> None:
        """Work until cancelled, and close everything then."""
        try:
            while True:
                self._news = anyio.Event()
                if not self._open:
                    await self._news.wait()
                await anyio.sleep(_LOOK)
                self._sweep()
        finally:
            self.close()

    def close(self) -> None:
        """Close all connections; what is under way is not answered any more."""
        for connection in list(self._open):
            connection.close()
        self._open.clear()
        self._idle.clear()

    def pause(self) -> None:
        """Read nothing until `resume`."""
        for connection in self._open:
            connection.pause()

    def resume(self) -> None:
        """Read again."""
        for connection in list(self._open):
            connection.resume()

    # What connections report.

    def bytes_of(self, request: HttpRequest, route: HttpRoute, /) -> bytes:
        """See `ConnectionOwner.bytes_of`."""
        if not self._cookies.kept and not route.absolute:
            return request.what.followed_by(request.content)
        more = proxy_fields(route.proxy) if route.absolute and route.proxy is not None else ()
        cookies = self._cookies.header_for(request.what.address)
        return request.what.written(request.content, more, absolute=route.absolute, cookies=cookies)

    def freed(self, connection: HttpConnection, /) -> None:
        """See `ConnectionOwner.freed`."""
        connection.deadline = self.now() + _IDLE
        self._idle.setdefault(connection.origin, []).append(connection)

    def gone(self, connection: HttpConnection, /) -> None:
        """See `ConnectionOwner.gone`."""
        self._open.discard(connection)
        idle = self._idle.get(connection.origin)
        if idle and connection in idle:
            idle.remove(connection)

    def restart(self, request: HttpRequest, /) -> None:
        """See `ConnectionOwner.restart`."""
        self._start(request, None)

    def moved(self, request: HttpRequest, status: int, headers: Headers, /) -> bool:
        """See `ConnectionOwner.moved`."""
        address = request.what.address
        if "set-cookie" in headers:
            self._cookies.store(address, headers["set-cookie"].split("\n"))
        if status not in (307, 308) or request.hops >= self._options.redirects:
            return False
        target = address.with_target(headers.get("location", ""))
        if target is None:
            return False
        request.hops += 1
        if len(self._moves) < _MOST_MOVES:
            self._moves[address.url] = target
        request.what = request.what.at(target)
        return True

    # Connections.

    def _start(self, request: HttpRequest, connection: HttpConnection | None) -> None:
        """Send a request, on a new connection if it has no free one."""
        if connection is None:
            connection = HttpConnection(self, self._route_to(request.what))
            self._open.add(connection)
            self._tasks.spawn(partial(self._connect, connection))
            self._news.set()
        connection.send(request)

    def _followed(self, head: RequestHead) -> RequestHead:
        """Return the head for where the server has redirected such requests to."""
        for _ in range(self._options.redirects):
            target = self._moves.get(head.url)
            if target is None:
                break
            if head.moved is None or head.moved.address != target:
                head.moved = head.at(target)
            head = head.moved
        return head

    def _route_to(self, head: RequestHead) -> HttpRoute:
        address = head.address
        options = self._options
        if options.proxy is not None or options.dial is not None or not options.trust_env:
            return HttpRoute(address, options.proxy)
        return HttpRoute(address, proxy_for(address, os.environ))

    async def _connect(self, connection: HttpConnection) -> None:
        try:
            with anyio.fail_after(_CONNECT):
                stream = await self._dial(connection.route, connection)
        except Exception as error:  # that of another `dial` is for the caller, too
            connection.end(error)
        else:
            connection.connected(stream)

    def _usable(self, origin: str) -> HttpConnection | None:
        """Return an open connection that the server has not closed, and is not about to."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.usable(self.now()):
                return connection
            connection.end(None)
        return None

    def _sweep(self) -> None:
        now = self.now()
        for connection in list(self._open):
            if connection.deadline is not None and connection.deadline <= now:
                connection.expire()
