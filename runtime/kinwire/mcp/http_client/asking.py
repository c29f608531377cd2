"""One request that is waited for: what the transport itself has to say."""

from __future__ import annotations

__all__ = ("CollectedResponse", "ask")

import json
from typing import Any

import anyio

from kinwire.rpc.codec import is_object
from kinwire.transports.http.sse import MEDIA_TYPE, SseDecoder
from kinwire.transports.http_client.client import RequestSender
from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.response import Headers, media_type


class CollectedResponse:
    """A `ResponseReceiver` as a whole. `frames` are the messages of its body."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._events: SseDecoder | None = None
        self._body = b""
        self.over = anyio.Event()
        self.status = 0
        self.headers: Headers = {}
        self.frames: list[bytes] = []
        self.error: Exception | None = None

    @property
    def accepted(self) -> bool:
        """Return whether the server accepted the request."""
        return 200 <= self.status < 300

    def result(self) -> bytes | None:
        """Return the frame that is a response with a result, or None."""
        for frame in self.frames:
            try:
                message: Any = json.loads(frame)
            except (ValueError, RecursionError):
                continue
            if is_object(message) and message.get("result") is not None:
                return frame
        return None

    def head(self, status: int, headers: Headers, /) -> None:
        """See `ResponseReceiver.head`."""
        self.status, self.headers = status, headers
        if media_type(headers) == MEDIA_TYPE:
            self._events = SseDecoder(self._limit)

    def body(self, chunk: bytes, /) -> None:
        """See `ResponseReceiver.body`."""
        if self._events is None:
            self._body += chunk if len(self._body) <= self._limit else b""
            if len(self._body) > self._limit:
                self.over.set()
            return
        self.frames += [event.data for event in self._events.feed(chunk)]
        if self.result() is not None:
            self.over.set()

    def end(self) -> None:
        """See `ResponseReceiver.end`."""
        if self._events is None:
            self.frames = [self._body]
        self.over.set()

    def broken(self, error: Exception, /) -> None:
        """See `ResponseReceiver.broken`."""
        self.error = error
        self.over.set()


async def ask(
    client: RequestSender, head: RequestHead, body: bytes, *, limit: int, patience: float
) -> CollectedResponse:
    """Return what comes back for a request within `patience` seconds."""
    answer = CollectedResponse(limit)
    handle = client.send(head, body, answer, patience=patience, repeatable=True)
    try:
        await answer.over.wait()
    finally:
        handle.cancel()
    return answer
