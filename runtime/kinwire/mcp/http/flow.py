"""Responses that carry what a stream has: one JSON answer, or events until it is over."""

from __future__ import annotations

__all__ = ("HeaderList", "Responder")

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import anyio

from kinwire.mcp.http.session import Delivery, HttpServerSession
from kinwire.rpc.response_stream import HANDLED, ResponseStream, StreamAttachment, StreamPhase
from kinwire.transports.http.head import Accepted
from kinwire.transports.http.replies import (
    JSON,
    HttpResponse,
    Receive,
    Send,
    refusal,
    send_response,
)
from kinwire.transports.http.sse import KEEP_ALIVE, MEDIA_TYPE, encoded_event

HeaderList = Sequence[tuple[bytes, bytes]]

_STREAM_HEADERS = (
    (b"content-type", MEDIA_TYPE.encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # a proxy that collects events makes them late
)
_ENDED = "The session has ended. Send initialize for a new one."
_ACCEPTED = HttpResponse(202)


class Responder(Delivery):
    """Sends what a stream has as the response to one HTTP request."""

    __slots__ = ("_headers", "_loop", "_receive", "_send", "_session")

    def __init__(
        self,
        session: HttpServerSession,
        stream: ResponseStream,
        receive: Receive,
        send: Send,
        headers: HeaderList = (),
    ) -> None:
        super().__init__(stream)
        self._session = session
        self._loop = session.loop
        self._receive = receive
        self._send = send
        self._headers = headers

    async def answer(self, accepts: Accepted) -> None:
        """Respond with the answer alone, or with a stream if there is more to say before it."""
        stream, session = self.stream, self._session
        if not accepts.stream:
            stream.restrict()
        session.deliveries.add(self)
        try:
            if self._loop is not None and stream.phase in HANDLED:
                await asyncio.sleep(0)  # in which most handlers end: cheaper than a notification
            while stream.phase in HANDLED and not self.aborted:
                if accepts.stream and (stream.queue or self.promoted):
                    break
                await stream.change(self._loop)
            if stream.phase is StreamPhase.OVER and accepts.json and len(stream.queue) == 1:
                await self._send_whole()
            elif not stream.queue and (self.aborted or stream.phase not in HANDLED):
                await self._send_nothing()
            else:
                await self._send_stream([])
        finally:
            session.deliveries.discard(self)
            session.used_at = time.monotonic()
            if stream.queue or self.streaming or stream.phase is not StreamPhase.OVER:
                session.leave(stream)

    async def send_events(self, missed: Sequence[bytes] = ()) -> None:
        """Respond with a stream that begins with the events in `missed`."""
        session = self._session
        session.deliveries.add(self)
        session.detached.discard(self.stream)
        self.stream.attach()
        try:
            await self._send_stream(missed)
        finally:
            session.deliveries.discard(self)
            session.used_at = time.monotonic()
            session.leave(self.stream)

    async def _send_nothing(self) -> None:
        # The client took its request back, or the session ended.
        ended = self.aborted or self._session.has_ended
        await send_response(self._send, refusal(404, _ENDED) if ended else _ACCEPTED)

    async def _send_whole(self) -> None:
        body = b"".join(self.stream.outbox.take_from(self.stream))
        length = (b"content-length", b"%d" % len(body))
        headers = [JSON, length, *self._headers]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def _send_stream(self, missed: Sequence[bytes]) -> None:
        headers = [*_STREAM_HEADERS, *self._headers]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        self.streaming = True
        events = list(missed)
        if not events and self._session.supports_priming:  # what is missed has ids of its own
            retry_ms = int(self._session.limits.retry * 1000)
            events.append(self._event(b"", retry_ms=retry_ms))
        if self._loop is None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch)
                await self._send_parts(events)
                tasks.cancel_scope.cancel()
            return
        watch: asyncio.Task[None] = asyncio.Task(self._watch(), loop=self._loop)
        try:
            await self._send_parts(events)
        finally:
            watch.cancel()

    async def _send_parts(self, events: list[bytes]) -> None:
        stream = self.stream
        while stream.attachment is StreamAttachment.ATTACHED:
            events += [self._event(frame) for frame in stream.outbox.take_from(stream)]
            if self.keepalive_due and not events:
                events.append(KEEP_ALIVE)
            self.keepalive_due = False
            ends = self.aborted or stream.phase is StreamPhase.OVER
            last = ends and not stream.queue
            if events or last:
                body = b"".join(events)
                events = []
                part = {"type": "http.response.body", "body": body, "more_body": not last}
                await self._send(part)
                self.since = time.monotonic()
            if last:
                return
            attached = stream.attachment is StreamAttachment.ATTACHED  # the client may have left
            if attached and not (stream.queue or self.aborted or stream.phase is StreamPhase.OVER):
                await stream.change(self._loop)

    def _event(self, frame: bytes, **more: Any) -> bytes:
        if self._session.by_stream:  # there is no coming back
            return encoded_event(frame, name="message")
        store = self._session.events
        event = encoded_event(frame, name="message", id=store.next_id(), **more)
        store.add(self.stream, event, now=time.monotonic())
        return event

    async def _watch(self) -> None:
        """Leave the stream when the client does."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.stream.detach()
