"""Responses for those who wait: read as they come, or whole."""

from __future__ import annotations

__all__ = ("ResponseTooLongError", "StreamedResponse", "WholeResponse")

from collections import deque
from typing import NamedTuple

import anyio

from kinwire.transports.http_client.connection import HttpRequest
from kinwire.transports.http_client.response import Headers

_WAITING = 256 * 1024  # bytes of a stream that may wait for its reader


class WholeResponse(NamedTuple):
    """A response that is complete."""

    status: int
    headers: Headers
    body: bytes


class ResponseTooLongError(Exception):
    """The body of a response has more bytes than its reader wants."""


class StreamedResponse:
    """A response as it comes: `async for` yields the chunks of its body."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = {}
        self.handle: HttpRequest | None = None
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._paused = False
        self._ended = False
        self._error: Exception | None = None
        self._news = anyio.Event()

    async def begun(self) -> None:
        """Return when the head has come."""
        while not self.status:
            self._raise_error()
            await self._next_news()

    def __aiter__(self) -> StreamedResponse:
        return self

    async def __anext__(self) -> bytes:
        while not self._chunks:
            self._raise_error()
            if self._ended:
                raise StopAsyncIteration
            if self._paused and self.handle is not None:
                self._paused = False
                self.handle.resume()
            await self._next_news()
        chunk = self._chunks.popleft()
        self._size -= len(chunk)
        return chunk

    def head(self, status: int, headers: Headers, /) -> None:
        """See `ResponseReceiver.head`."""
        self.status, self.headers = status, headers
        self._news.set()

    def body(self, chunk: bytes, /) -> None:
        """See `ResponseReceiver.body`."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size > _WAITING and not self._paused and self.handle is not None:
            self._paused = True
            self.handle.pause()
        self._news.set()

    def end(self) -> None:
        """See `ResponseReceiver.end`."""
        self._ended = True
        self._news.set()

    def broken(self, error: Exception, /) -> None:
        """See `ResponseReceiver.broken`."""
        self._error = error
        self._news.set()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    async def _next_news(self) -> None:
        self._news = anyio.Event()
        await self._news.wait()
