"""One POST: a frame that leaves, and what comes back for it.

A request is answered by one JSON body or by an event stream; anything else gets 202.
"""

from __future__ import annotations

__all__ = ("Exchange",)

from typing import TYPE_CHECKING

import anyio

from kinwire.mcp.http_client.refusals import RefusedResponse
from kinwire.rpc.codec import HEAD, OutgoingFrame, longer_than
from kinwire.rpc.errors import InvalidResponseError
from kinwire.transports.http.sse import MEDIA_TYPE, Event, SseDecoder
from kinwire.transports.http_client.client import RequestHandle
from kinwire.transports.http_client.content_coding import ContentCodingError
from kinwire.transports.http_client.response import Headers, media_type

if TYPE_CHECKING:
    from kinwire.mcp.http_client.transport import HttpTransport

_REFUSAL_SHOWN = 8 * 1024  # bytes of the body of a refusal that are read


class Exchange:
    """A frame and the `ResponseReceiver` to it."""

    def __init__(self, transport: HttpTransport, message: OutgoingFrame) -> None:
        self._transport = transport
        self.message = message
        self.session = 0
        """The number of the session that it was sent in."""
        self.key = 0
        """The number of the credentials that it was sent with."""
        self.retried: set[int] = set()
        """The statuses that it was repeated for."""
        self.handle: RequestHandle | None = None
        self.events: SseDecoder | None = None
        """Reads the reply if it is an event stream."""
        self.resuming: anyio.CancelScope | None = None
        """Around what reads the rest of it."""
        self._refusal: tuple[int, Headers] | None = None
        self._json = False
        self._parts: list[bytes] = []
        self._size = 0

    def cancel(self) -> None:
        """Want nothing of it any more."""
        if self.resuming is not None:
            self.resuming.cancel()
        if self.handle is not None:
            self.handle.cancel()

    def expire_in(self, seconds: float) -> None:
        """Want nothing of it any more after that time."""
        if self.handle is not None:
            self.handle.expire_in(seconds)

    def head(self, status: int, headers: Headers, /) -> None:
        """See `ResponseReceiver.head`."""
        self._refusal = None
        self._parts.clear()
        self._size = 0
        if not 200 <= status < 300:
            self._refusal = status, headers
            return
        self._transport.begun(self, headers)
        if self.message.kind != "request" or self._transport.legacy_sse:
            return
        kind = media_type(headers)
        if kind == MEDIA_TYPE:
            self.events = SseDecoder(self._transport.callbacks.frame_size)
        elif kind == "application/json":
            self._json = True
        elif status != 202:
            self._give_up(f"expected JSON or an event stream, got {kind or 'no type'!r:.60}")

    def body(self, chunk: bytes, /) -> None:
        """See `ResponseReceiver.body`."""
        if self._refusal is not None:
            if not self._keep(chunk, _REFUSAL_SHOWN):
                self.cancel()
                self.end()
        elif self.events is not None:
            for event in self.events.feed(chunk):
                self._take(event)
        elif self._json and not self._keep(chunk, limit := self._transport.callbacks.frame_size):
            self._transport.callbacks.overlong(b"".join(self._parts)[:HEAD])
            self._give_up(f"the answer is {longer_than(limit)}")

    def end(self) -> None:
        """See `ResponseReceiver.end`."""
        body = b"".join(self._parts)
        if self._refusal is not None:
            self._transport.refused(self, RefusedResponse(*self._refusal, body))
            return
        if self._json:
            if body.strip():
                self._transport.arrived(self, body)
            else:
                self._fail("the answer is empty")
        self._transport.completed(self)

    def broken(self, error: Exception, /) -> None:
        """See `ResponseReceiver.broken`."""
        if isinstance(error, ContentCodingError):
            self._give_up(str(error))
        else:
            self._transport.lost(self, error)

    def _take(self, event: Event) -> None:
        if event.overlong:
            self._transport.callbacks.overlong(event.data)
        elif event.name == "message" and event.data.strip():
            self._transport.arrived(self, event.data)

    def _keep(self, chunk: bytes, limit: int) -> bool:
        """Keep the beginning of the body; say whether that is all of it."""
        self._size += len(chunk)
        if self._size - len(chunk) <= limit:
            self._parts.append(chunk)
        return self._size <= limit

    def _give_up(self, why: str) -> None:
        self._fail(why)
        self.cancel()
        self._transport.completed(self)

    def _fail(self, why: str) -> None:
        if self.message.id is not None:
            error = InvalidResponseError(f"{self.message.method}: {why}")
            self._transport.callbacks.fail(self.message.id, error)
