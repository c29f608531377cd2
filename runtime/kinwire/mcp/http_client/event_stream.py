"""Event streams that are requested by GET: the notifications of a server, and the rest of a reply
that broke off (MCP, Streamable HTTP). One stream takes as many connections as it needs.

In HTTP+SSE, the transport of 2024-11-05, all that the server says comes on one such stream, whose
first event names the address to post to.
"""

from __future__ import annotations

__all__ = (
    "NO_CALL",
    "EventStream",
    "LegacySseStream",
    "StreamEnd",
    "answers_to",
    "next_wait",
    "read_get_stream",
    "resumed",
)

import random
from collections.abc import Awaitable, Callable
from math import inf

import anyio

from kinwire.mcp.http_client.session import HttpClientSession
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.support.backoff import Backoff
from kinwire.transports.http.sse import MEDIA_TYPE, Event, SseDecoder
from kinwire.transports.http_client.address import ServerAddress, no_connection
from kinwire.transports.http_client.client import RequestSender
from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.response import Headers, media_type

NO_CALL = 0
"""No request of a session has this id: responses do not belong on the stream of notifications."""

_TRY_AGAIN = (408, 409, 425, 429)  # another status below 500 says that there is no such stream
_UNKNOWN = 404
_MOST_EMPTY = 5  # attempts in a row that bring nothing

# Waits, in seconds.
_FIRST = 0.5
_LEAST = 0.01  # also for a server that says 0, and closes behind each event
_MOST = 30.0
_MOST_ASKED = 300.0  # what a server may ask for
_NAMING = 10.0  # until a server of HTTP+SSE names the address to post to

_ENDED = "The server closed the event stream, and with it the session."


def next_wait(failures: int, asked_ms: int | None, *, jitter: float) -> float:
    """Return the seconds until the next attempt, after `failures` in a row that brought nothing.

    `asked_ms` is what the server's `retry` said: the least that it wants. `jitter` is 0 to 1.
    """
    # The number may be larger than any float.
    asked = _FIRST if asked_ms is None else max(min(asked_ms, _MOST_ASKED * 1000) / 1000, _LEAST)
    if not failures:
        return asked
    grown = Backoff(first=2 * asked, longest=_MOST).delay(failures, jitter=jitter)
    return max(asked, grown)


class StreamEnd:
    """How an attempt went."""

    def __init__(self) -> None:
        self.status = 0
        """0 if there was no response at all."""
        self.headers: Headers = {}
        self.error: Exception | None = None
        """Why the connection ended, if it broke."""
        self.over = anyio.Event()

    @property
    def opened(self) -> bool:
        """Return whether it was an event stream."""
        return self.status == 200 and media_type(self.headers) == MEDIA_TYPE


class EventStream:
    """A `ResponseReceiver` whose events go to `take`; `events` is what has read its beginning."""

    def __init__(
        self,
        callbacks: SessionCallbacks,
        client: RequestSender,
        take: Callable[[Event], object],
        events: SseDecoder | None = None,
    ) -> None:
        self._callbacks = callbacks
        self._client = client
        self._take = take
        self._end = StreamEnd()
        self.events = events or SseDecoder(callbacks.frame_size)
        """Knows what to resume after; another one for each attempt."""
        self.failures = 0
        """Attempts in a row that brought nothing."""
        self.on_status: Callable[[], object] = lambda: None
        """Called when an attempt has a status, or failed; not for one that asks for credentials."""

    async def read(self, head: RequestHead) -> StreamEnd:
        """Ask for the stream, and return how it ended; cancelling this closes it."""
        self._end = end = StreamEnd()
        before = self.events
        self.events = SseDecoder(
            self._callbacks.frame_size,
            last_event_id=before.last_event_id,
            retry_ms=before.retry_ms,
        )
        handle = self._client.send(head, b"", self)
        try:
            await end.over.wait()
        finally:
            handle.cancel()
        return end

    async def wait(self) -> None:
        """Wait before the next attempt, as long as the server wants and as it needs."""
        seconds = next_wait(self.failures, self.events.retry_ms, jitter=random.random())
        self.failures += 1
        await anyio.sleep(seconds)

    def head(self, status: int, headers: Headers, /) -> None:
        """See `ResponseReceiver.head`."""
        self._end.status, self._end.headers = status, headers
        if status != 401:
            self.on_status()
        if not self._end.opened:
            self._end.over.set()  # the rest of what it says is of no use

    def body(self, chunk: bytes, /) -> None:
        """See `ResponseReceiver.body`."""
        if self._end.opened:
            for event in self.events.feed(chunk):
                self.failures = 0
                self._take(event)
            if self._callbacks.paused:
                self._client.pause()

    def end(self) -> None:
        """See `ResponseReceiver.end`."""
        self._end.over.set()

    def broken(self, error: Exception, /) -> None:
        """See `ResponseReceiver.broken`."""
        self.on_status()
        self._end.error = error
        self._end.over.set()


def answers_to(callbacks: SessionCallbacks, reply_to: int) -> Callable[[Event], None]:
    """Return what hands messages over, as those of the reply to one request."""

    def take(event: Event) -> None:
        if event.overlong:
            callbacks.overlong(event.data)
        elif event.name == "message" and event.data.strip():
            callbacks.answer(event.data, reply_to)

    return take


async def read_get_stream(
    stream: EventStream, session: HttpClientSession, renew: Callable[[str | None], Awaitable[bool]]
) -> bool:
    """Read the notifications of a server until it offers no stream for them.

    Return whether that is because the server has forgotten the session. 404 says so only behind a
    stream of the same session: from other servers it may mean that they have no such streams.
    `renew` gets other credentials, if it can.
    """
    renewed = had_stream = False
    while True:
        end = await stream.read(session.get(stream.events.last_event_id))
        if end.status == 401 and not renewed:
            renewed = await renew(end.headers.get("www-authenticate"))
            if renewed:
                continue
        if end.opened:
            renewed, had_stream = False, True
        elif 200 <= end.status < 500 and end.status not in _TRY_AGAIN:
            return end.status == _UNKNOWN and had_stream and session.id is not None
        await stream.wait()


async def resumed(
    stream: EventStream, session: HttpClientSession, method: str, *, broken: bool
) -> Exception | None:
    """Read the rest of the reply once more; return why there is no more of it to be had.

    A reply whose connection was `broken` is asked for immediately, one that the server has
    ended after the time that it wants.
    """
    last_event_id = stream.events.last_event_id
    if not last_event_id:
        return InvalidResponseError(f"{method}: the reply ended without the answer.")
    if stream.failures >= _MOST_EMPTY:
        why = f"the reply broke off {_MOST_EMPTY} times in a row."
        return InvalidResponseError(f"{method}: {why}")
    if not broken:
        await stream.wait()
    return _fault(await stream.read(session.get(last_event_id)), session, method)


def _fault(end: StreamEnd, session: HttpClientSession, method: str) -> Exception | None:
    if end.status == 0 and end.error is not None:
        return no_connection(session.address, end.error)
    if not end.opened:
        why = f"the reply broke off, and cannot be had again: HTTP {end.status}."
        return InvalidResponseError(f"{method}: {why}")
    return None


class LegacySseStream:
    """The stream; `found` gets the address."""

    def __init__(
        self,
        callbacks: SessionCallbacks,
        client: RequestSender,
        address: ServerAddress,
        found: Callable[[ServerAddress], object],
    ) -> None:
        self._callbacks = callbacks
        self._client = client
        self._address = address
        self._found = found
        self._scope = anyio.CancelScope()
        self.named = False
        """Whether it named an address, that is, whether it is such a stream."""
        self.refused = False
        """Whether it named one of another origin."""

    async def read(self, head: RequestHead) -> ConnectionClosedError:
        """Hand over what comes, and return why nothing does any more."""
        with self._scope:
            self._scope.deadline = anyio.current_time() + _NAMING
            await EventStream(self._callbacks, self._client, self._take).read(head)
        if self.refused:
            return ConnectionClosedError(
                f"{self._address.origin} wants messages to be posted elsewhere. It may not: what "
                "is sent here is not for another."
            )
        return ConnectionClosedError(_ENDED)

    def _take(self, event: Event) -> None:
        if event.name == "endpoint" and not self.named:
            address = self._address.with_target(event.data.decode(errors="replace").strip())
            if address is None:
                self.refused = True
                self._scope.cancel()
            else:
                self.named = True
                self._scope.deadline = inf
                self._found(address)
        elif event.overlong:
            self._callbacks.overlong(event.data)
        elif event.name == "message" and event.data.strip():
            self._callbacks.feed(event.data)
