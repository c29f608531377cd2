"""Requests by a client of the user's own, such as `httpx2.AsyncClient`.

Its HTTP/2, proxies, certificates, cookies and event hooks apply. A task stands behind each request,
so that each costs many times one of our own client.
"""

from __future__ import annotations

__all__ = ("UserClient", "UserHttpClient", "UserResponse")

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from math import inf
from typing import Any, Protocol

import anyio

from kinwire.transports.http_client.fields import USER_AGENT, RequestHead
from kinwire.transports.http_client.response import Headers, ResponseReceiver
from kinwire.transports.task_spawner import TaskSpawner

_CONNECT = 10.0  # seconds, where the client does not say
_CLIENTS_OWN = {("User-Agent", USER_AGENT), ("Accept-Encoding", "identity")}


class UserResponse(Protocol):
    """A response of such a client. Its body is decoded by the client."""

    @property
    def status_code(self) -> int:
        """The status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; several of one name are joined by a comma."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes."""
        ...


class UserClient(Protocol):
    """The part of `httpx2.AsyncClient` and `httpx.AsyncClient` that is used."""

    def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None,
        headers: Sequence[tuple[bytes, bytes]],
        timeout: Any,
    ) -> AbstractAsyncContextManager[UserResponse]:
        """Send a request and yield the response, when its head has come.

        Headers are bytes, because libraries disagree about letters beyond ASCII.
        """
        ...


class UserHttpClient:
    """A `RequestSender` that hands requests to the user's client, which it does not close.

    Redirects, retries and cookies are those of the user's client, and so are `User-Agent` and
    `Accept-Encoding` unless the user has passed them as `headers`. Its timeouts for connecting and
    writing count; the one for reading does not, because event streams are silent for long.
    """

    def __init__(self, client: UserClient, tasks: TaskSpawner) -> None:
        self._client = client
        self._tasks = tasks
        self._reading = anyio.Event()
        self._reading.set()

    def send(
        self,
        head: RequestHead,
        body: bytes,
        reply: ResponseReceiver,
        *,
        patience: float | None = None,
        repeatable: bool = False,
    ) -> _UserRequest:
        """See `RequestSender.send`; whether it repeats a request is the client's affair."""
        handle = _UserRequest(reply, patience)
        self._tasks.spawn(partial(self._perform, handle, head, body))
        return handle

    async def run(self) -> None:
        """See `RequestSender.run`: the requests are tasks of the spawner, which cancels them."""

    def pause(self) -> None:
        """See `RequestSender.pause`."""
        if self._reading.is_set():
            self._reading = anyio.Event()

    def resume(self) -> None:
        """See `RequestSender.resume`."""
        self._reading.set()

    async def _perform(self, handle: _UserRequest, head: RequestHead, body: bytes) -> None:
        try:
            with handle.scoped():
                await self._exchange(handle, head, body)
        except Exception as error:  # also of the user's hooks; its text may have the URL in it
            failure = ConnectionError(f"{type(error).__name__} of the client passed as `http`")
            failure.__cause__ = error
            handle.broken(failure)
        else:
            handle.end()

    async def _exchange(self, handle: _UserRequest, head: RequestHead, body: bytes) -> None:
        async with self._client.stream(
            head.method,
            head.address.url,
            content=body or None,
            headers=[
                (name.encode("ascii"), value.encode("latin-1"))
                for name, value in head.fields
                if (name, value) not in _CLIENTS_OWN
            ],
            timeout=_timeout_of(self._client),
        ) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            headers.pop("content-encoding", None)
            handle.head(response.status_code, headers)
            chunks = response.aiter_bytes()
            try:
                async for chunk in chunks:
                    await self._reading.wait()
                    handle.body(chunk)
            finally:
                await _end(chunks)


async def _end(chunks: AsyncIterator[bytes]) -> None:
    """End a body that is not read to its end.

    A cancelled read ends the nested generators of the library; closing only the outermost one
    would leave the others to the garbage collector.
    """
    with anyio.CancelScope() as scope, suppress(Exception):
        scope.cancel()
        async for _ in chunks:
            pass


def _timeout_of(client: UserClient) -> tuple[float | None, None, float | None, float | None]:
    """Return the timeouts of a request: for connecting, reading, writing and a free connection."""
    own = getattr(client, "timeout", None)
    connect = getattr(own, "connect", _CONNECT)
    return connect, None, getattr(own, "write", None), getattr(own, "pool", None)


class _UserRequest:
    """A request under way."""

    def __init__(self, reply: ResponseReceiver, patience: float | None) -> None:
        self._reply: ResponseReceiver | None = reply
        self._patience = patience
        self._scope: anyio.CancelScope | None = None

    def cancel(self) -> None:
        """See `RequestHandle.cancel`."""
        if self._reply is not None:
            self._reply = None
            if self._scope is not None:
                self._scope.cancel()

    def expire_in(self, seconds: float) -> None:
        """See `RequestHandle.expire_in`."""
        if self._reply is not None and self._scope is not None:
            self._scope.deadline = anyio.current_time() + seconds

    def scoped(self) -> anyio.CancelScope:
        """Return what ends the exchange when its time is over, or nobody wants it."""
        until = inf if self._patience is None else anyio.current_time() + self._patience
        self._scope = anyio.CancelScope(deadline=until)
        if self._reply is None:
            self._scope.cancel()
        return self._scope

    def head(self, status: int, headers: Headers) -> None:
        """Pass the head on."""
        if self._reply is not None:
            self._reply.head(status, headers)

    def body(self, chunk: bytes) -> None:
        """Pass the next bytes on."""
        if self._reply is not None:
            self._reply.body(chunk)

    def end(self) -> None:
        """Note that the response is complete, or that its time is over."""
        if self._scope is not None and self._scope.cancelled_caught:
            self.broken(TimeoutError("no answer came in time"))
        elif self._reply is not None:
            reply, self._reply = self._reply, None
            reply.end()

    def broken(self, error: Exception) -> None:
        """Note that the response will not become complete."""
        if self._reply is not None:
            reply, self._reply = self._reply, None
            reply.broken(error)
