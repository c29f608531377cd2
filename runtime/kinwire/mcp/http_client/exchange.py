"""One request, and what comes back for it.

An `Exchange` is the POST of a frame. A request of MCP is answered by one JSON body or by an event
stream; anything else gets 202, and a status beyond 299 is a `RefusedResponse`. By `ask` the
transport itself says something and waits for the answer.
"""

from __future__ import annotations

__all__ = (
    "NOT_STICKY",
    "CollectedResponse",
    "Exchange",
    "RefusedResponse",
    "ask",
    "holds_answer",
    "not_an_answer",
)

from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
from pydantic_core import from_json

from kinwire.rpc.codec import HEAD, OutgoingFrame, is_object, longer_than, same_id
from kinwire.rpc.errors import InvalidResponseError
from kinwire.transports.http.sse import MEDIA_TYPE, Event, SseDecoder
from kinwire.transports.http_client.address import ServerAddress, hint_for
from kinwire.transports.http_client.client import RequestHandle, RequestSender
from kinwire.transports.http_client.content_coding import ContentCodingError
from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.response import Headers, media_type

if TYPE_CHECKING:
    from kinwire.mcp.http_client.transport import HttpTransport

NOT_STICKY = (
    "If several server processes are behind this address, the proxy in front of them must route "
    "each session to one process (sticky sessions), or the servers must be stateless."
)
"""What to do when a server does not know a session that it has begun."""

_REFUSAL_SHOWN = 8 * 1024  # bytes of the body of a refusal that are read
_SAID = 300  # characters that a server says about it


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


class CollectedResponse:
    """A `ResponseReceiver` that looks for one answer. Each part of a body is read once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._events: SseDecoder | None = None
        self._body = bytearray()
        self._size = 0  # bytes of the events
        self.over = anyio.Event()
        self.status = 0
        self.headers: Headers = {}
        self.error: Exception | None = None
        self.result: bytes | None = None
        """The frame that is a response with a result."""

    @property
    def accepted(self) -> bool:
        """Return whether the server accepted the request."""
        return 200 <= self.status < 300

    def head(self, status: int, headers: Headers, /) -> None:
        """See `ResponseReceiver.head`."""
        self.status, self.headers = status, headers
        if media_type(headers) == MEDIA_TYPE:
            self._events = SseDecoder(self._limit)

    def body(self, chunk: bytes, /) -> None:
        """See `ResponseReceiver.body`."""
        self._size += len(chunk)
        if self._size > self._limit:
            self.over.set()
        elif self._events is None:
            self._body += chunk
        else:
            for event in self._events.feed(chunk):
                self._look_at(event.data)

    def end(self) -> None:
        """See `ResponseReceiver.end`."""
        if self._events is None:
            self._look_at(bytes(self._body))
        self.over.set()

    def broken(self, error: Exception, /) -> None:
        """See `ResponseReceiver.broken`."""
        self.error = error
        self.over.set()

    def _look_at(self, frame: bytes) -> None:
        if self.result is not None or b'"result"' not in frame:
            return
        message = _message_in(frame)
        if is_object(message) and message.get("result") is not None:
            self.result = frame
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


class RefusedResponse(NamedTuple):
    """A response that is not an answer."""

    status: int
    headers: Headers
    body: bytes


def not_an_answer(
    method: str, address: ServerAddress, refusal: RefusedResponse, *, hint: str = ""
) -> InvalidResponseError:
    """Return what a call raises whose request was refused; `hint` replaces the usual hint."""
    what = method or "a response"
    said = _said(refusal.body)
    text = f"{what}: {address.origin} answered HTTP {refusal.status}"
    text += f": {said}" if said else "."
    usual = hint_for(address, refusal.status, refusal.headers.get("location"))
    error = InvalidResponseError(f"{text} {hint}" if hint else text + usual)
    error.status = refusal.status
    return error


def holds_answer(refusal: RefusedResponse, identifier: int) -> bool:
    """Return whether the body of a refusal is the response to that request, despite the status."""
    message = _message_in(refusal.body)
    if not is_object(message):
        return False
    return same_id(message.get("id"), identifier) and "error" in message


def _message_in(body: bytes) -> Any:
    try:
        return from_json(body)
    except ValueError:
        return None


def _said(body: bytes) -> str:
    """Return the message of the error response in `body`, if that is what it is."""
    try:
        message: Any = _message_in(body)["error"]["message"]
    except (KeyError, TypeError):
        return ""
    if not isinstance(message, str):
        return ""
    printable = "".join(sign if sign.isprintable() else " " for sign in message)
    return printable[:_SAID]
