"""Requests through a proxy, by the library `httpx2` (extra `proxy`), which knows how to ask one.

A task stands behind each request, and each costs many times one of `Pool`.
"""

from __future__ import annotations

__all__ = ("ProxiedClient", "check_proxy")

import logging
from contextvars import ContextVar
from functools import partial
from math import inf
from typing import TYPE_CHECKING

import anyio

from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.response import Headers, ResponseReceiver
from kinwire.transports.task_spawner import TaskSpawner
from kinwire.transports.tcp.streams import client_context

if TYPE_CHECKING:
    from httpx2 import AsyncHTTPTransport

_WAITS = {"connect": 10.0, "read": None, "write": None, "pool": None}  # seconds
_LAST = 1.0  # seconds to close a connection

# At its level DEBUG the library below writes headers, and so ids of sessions, to the log.
_LOGGERS = ("connection", "http11", "http2", "proxy", "socks")
_OURS: ContextVar[bool] = ContextVar("kinwire proxied", default=False)


def check_proxy(proxy: str) -> None:
    """Return if `proxy` is the URL of one that can be asked.

    Raises:
        ValueError: it is not. It is not shown: there may be a password in it.
        ImportError: the extra `proxy` is not installed.
    """
    try:
        import httpx2
    except ImportError:
        raise ImportError("A proxy needs the library `httpx2`. Install kinwire[proxy].") from None
    try:
        httpx2.Proxy(proxy)
    except (ValueError, httpx2.InvalidURL):
        raise ValueError("proxy: expected a URL such as http://proxy.example:3128") from None


class ProxiedClient:
    """An `HttpClient` whose connections begin at the proxy."""

    def __init__(self, proxy: str, tasks: TaskSpawner) -> None:
        self._proxy = proxy
        self._tasks = tasks
        self._transport: AsyncHTTPTransport | None = None
        self._ready = anyio.Event()
        self._reading = anyio.Event()
        self._reading.set()

    def send(
        self,
        head: RequestHead,
        body: bytes,
        reply: ResponseReceiver,
        *,
        patience: float | None = None,
    ) -> _ProxiedRequest:
        """See `HttpClient.send`."""
        handle = _ProxiedRequest(reply, patience)
        self._tasks.spawn(partial(self._perform, handle, head, body))
        return handle

    async def run(self) -> None:
        """See `HttpClient.run`."""
        import httpx2

        for name in _LOGGERS:
            logging.getLogger(f"httpcore2.{name}").addFilter(_is_not_ours)  # the same: once
        # Not a client of that library: it would log addresses, with what stands in their queries.
        limits = httpx2.Limits(max_connections=None, keepalive_expiry=4.0)
        tls = client_context()
        async with httpx2.AsyncHTTPTransport(
            verify=tls, trust_env=False, limits=limits, proxy=self._proxy
        ) as self._transport:
            self._ready.set()
            await anyio.sleep_forever()

    def pause(self) -> None:
        """See `HttpClient.pause`."""
        if self._reading.is_set():
            self._reading = anyio.Event()

    def resume(self) -> None:
        """See `HttpClient.resume`."""
        self._reading.set()

    async def _perform(self, handle: _ProxiedRequest, head: RequestHead, body: bytes) -> None:
        import httpx2

        _OURS.set(True)  # in this task
        try:
            with handle.scoped():
                await self._ready.wait()
                await self._exchange(handle, head, body)
        except (httpx2.TransportError, OSError) as error:
            # Its own text may have the address in it.
            handle.broken(ConnectionError(f"{type(error).__name__} on the way through the proxy"))
        else:
            handle.end()

    async def _exchange(self, handle: _ProxiedRequest, head: RequestHead, body: bytes) -> None:
        import httpx2

        assert self._transport is not None
        request = httpx2.Request(
            head.method,
            head.address.url,
            headers=list(head.fields),
            content=body or None,
            extensions={"timeout": _WAITS},
        )
        response = await self._transport.handle_async_request(request)
        try:
            handle.head(response.status_code, dict(response.headers))
            async for chunk in response.aiter_raw():
                await self._reading.wait()
                handle.body(chunk)
        finally:
            with anyio.move_on_after(_LAST, shield=True):
                await response.aclose()


def _is_not_ours(record: logging.LogRecord) -> bool:
    return not _OURS.get()


class _ProxiedRequest:
    """A request under way."""

    def __init__(self, reply: ResponseReceiver, patience: float | None) -> None:
        self._reply: ResponseReceiver | None = reply
        self._patience = patience
        self._scope: anyio.CancelScope | None = None

    def cancel(self, reply: ResponseReceiver, /) -> None:
        """See `RequestHandle.cancel`."""
        if self._reply is reply:
            self._reply = None
            if self._scope is not None:
                self._scope.cancel()

    def expire_in(self, reply: ResponseReceiver, seconds: float, /) -> None:
        """See `RequestHandle.expire_in`."""
        if self._reply is reply and self._scope is not None:
            self._scope.deadline = anyio.current_time() + seconds

    def scoped(self) -> anyio.CancelScope:
        """Return what ends the exchange when its time is over, or nobody wants it."""
        until = inf if self._patience is None else anyio.current_time() + self._patience
        self._scope = anyio.CancelScope(deadline=until)
        if self._reply is None:
            self._scope.cancel()
        return self._scope

    def head(self, status: int, headers: Headers) -> None:
        """Tell the beginning."""
        if self._reply is not None:
            self._reply.head(status, headers)

    def body(self, chunk: bytes) -> None:
        """Tell the next bytes."""
        if self._reply is not None:
            self._reply.body(chunk)

    def end(self) -> None:
        """Tell that it is complete, or that its time is over."""
        if self._scope is not None and self._scope.cancelled_caught:
            self.broken(TimeoutError("no answer came in time"))
        elif self._reply is not None:
            reply, self._reply = self._reply, None
            reply.end()

    def broken(self, error: Exception) -> None:
        """Tell that it will not become complete."""
        if self._reply is not None:
            reply, self._reply = self._reply, None
            reply.broken(error)
