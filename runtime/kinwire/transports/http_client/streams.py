"""An event stream that is asked for by GET, over as many connections as it takes."""

from __future__ import annotations

__all__ = ("EventStream", "StreamEnd", "answers_to")

import random
from collections.abc import Callable

import anyio

from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.http.sse import MEDIA_TYPE, Event, SseDecoder
from kinwire.transports.http_client.backoff import Backoff
from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.pool import HttpClient
from kinwire.transports.http_client.response import Headers, media_type


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
        """Whether it was an event stream."""
        return self.status == 200 and media_type(self.headers) == MEDIA_TYPE


class EventStream:
    """A `ResponseReceiver` whose events go to `take`; `events` is what has read its beginning."""

    def __init__(
        self,
        callbacks: SessionCallbacks,
        client: HttpClient,
        take: Callable[[Event], object],
        events: SseDecoder | None = None,
    ) -> None:
        self._callbacks = callbacks
        self._client = client
        self._take = take
        self._end = StreamEnd()
        self.events = events or SseDecoder(callbacks.frame_size)
        """Knows what to resume after; another one for each attempt."""
        self.backoff = Backoff()

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
            handle.cancel(self)
        return end

    async def wait(self) -> None:
        """Wait before the next attempt, as long as the server wants and as it needs."""
        seconds = self.backoff.next_wait(self.events.retry_ms, jitter=random.random())
        await anyio.sleep(seconds)

    def head(self, status: int, headers: Headers, /) -> None:
        """See `ResponseReceiver.head`."""
        self._end.status, self._end.headers = status, headers
        if not self._end.opened:
            self._end.over.set()  # what it says besides is of no use

    def body(self, chunk: bytes, /) -> None:
        """See `ResponseReceiver.body`."""
        if self._end.opened:
            for event in self.events.feed(chunk):
                self.backoff.succeeded()
                self._take(event)
            if self._callbacks.paused:
                self._client.pause()

    def end(self) -> None:
        """See `ResponseReceiver.end`."""
        self._end.over.set()

    def broken(self, error: Exception, /) -> None:
        """See `ResponseReceiver.broken`."""
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
