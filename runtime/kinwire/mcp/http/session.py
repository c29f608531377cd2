"""One client's session behind many HTTP requests: a transport that several streams lead out of."""

from __future__ import annotations

__all__ = ("Delivery", "HttpServerSession")

import logging
import time
from asyncio import AbstractEventLoop
from typing import cast

import anyio

from kinwire.mcp.http.events import EventStore
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.multi_stream import MultiStreamCallbacks
from kinwire.rpc.response_stream import ResponseStream, StreamPhase
from kinwire.rpc.transport import MultiStreamTransport, SessionCallbacks
from kinwire.transports.http.guard import principal_address
from kinwire.transports.http.limits import HttpLimits
from kinwire_protocols.mcp import PROTOCOL

logger = logging.getLogger("kinwire.session")

IDLE = ConnectionClosedError("The client has not used the session for too long.")
GAVE_WAY = ConnectionClosedError("The session has given way to one of another client.")


class Delivery:
    """A response that is under way, of what one stream has. `flow.py` has what it sends."""

    __slots__ = ("aborted", "keepalive_due", "promoted", "since", "stream", "streaming")

    def __init__(self, stream: ResponseStream) -> None:
        self.stream = stream
        self.since = time.monotonic()  # of the request, then of what went out last
        self.streaming = False
        """Whether events go out; else one JSON answer is expected."""
        self.promoted = False
        """Whether the answer takes so long that a stream begins."""
        self.keepalive_due = False
        """Whether a sign of life is due."""
        self.aborted = False
        """Whether the response ends now, whatever the stream still has."""

    def tick(self, now: float, limits: HttpLimits) -> None:
        """Look at the time: see that something goes out if nothing has for long."""
        if self.streaming:
            self.keepalive_due = now - self.since >= limits.keep_alive
            changed = self.keepalive_due
        else:
            changed = not self.promoted and now - self.since >= limits.patience
            self.promoted = self.promoted or changed
        if changed:
            self.stream.wake()

    def end(self) -> None:
        """End the response."""
        self.aborted = True
        self.stream.wake()


class HttpServerSession(MultiStreamTransport):
    """What the requests of one session share. `principal` is who began it, and alone may use it."""

    client: object = None
    """Whom it counts for: see `client_of`."""
    used = False
    """Whether the client has sent anything after the handshake."""

    def __init__(
        self, id: str, principal: object, limits: HttpLimits, *, handshake: bool = True
    ) -> None:
        self.id = id
        self.principal = principal
        self.address = principal_address(principal)
        self.limits = limits
        self.handshake = handshake
        """Whether the client introduces itself, as it does wherever there are sessions."""
        self.by_stream = False
        """Whether everything goes out on one stream, whose end is that of the session."""
        self.events: EventStore[ResponseStream] = EventStore(limits)
        self.deliveries: set[Delivery] = set()
        self.detached: set[ResponseStream] = set()
        """Streams that broke off, and that the client may come back to."""
        self.used_at = time.monotonic()
        self.supports_priming = False
        """Whether the client knows events without data, which only say where to resume."""
        self.ready: anyio.Event | None = None
        """What waits until there is a link, or never will be."""
        self.loop: AbstractEventLoop | None = None
        """The loop that the session runs on, where that is asyncio's."""
        self._has_other_version = False  # that some request named, and that was logged
        self._callbacks: MultiStreamCallbacks | None = None
        self._why: ConnectionClosedError | None = None

    @property
    def callbacks(self) -> MultiStreamCallbacks:
        """The session as its server has it.

        Raises:
            ConnectionClosedError: it has ended.
        """
        if self._callbacks is None:
            raise ConnectionClosedError("The session has ended.")
        return self._callbacks

    def read_other_version(self, named: str) -> None:
        """Log that a request names another version than the session's, once a session."""
        if not self._has_other_version:
            self._has_other_version = True
            text = "MCP-Protocol-Version: a request says %s; the session's version counts: %s"
            logger.warning(text, named, PROTOCOL.version)

    def begin(self, callbacks: SessionCallbacks, /) -> None:
        """See `MultiStreamTransport.begin`: requests carry the frames."""
        self._callbacks = cast("MultiStreamCallbacks", callbacks)
        self.loop = callbacks.loop
        if self._why is not None:
            callbacks.end(self._why)
        if self.ready is not None:
            self.ready.set()

    def wake(self) -> None:
        """See `MultiStreamTransport.wake`."""

    def resume(self) -> None:
        """See `MultiStreamTransport.resume`."""

    def close_streams(self) -> None:
        """See `MultiStreamTransport.close_streams`."""
        self._callbacks = None
        for delivery in list(self.deliveries):
            delivery.end()

    def ask_to_end(self, why: ConnectionClosedError) -> None:
        """Ask the session to end, also before it has begun."""
        self._why = why
        if self._callbacks is not None:
            self._callbacks.ask_to_end(why)

    def close(self, why: ConnectionClosedError) -> None:
        """End the session, also before it has begun: handlers get a moment to finish."""
        self._why = why
        if self._callbacks is not None:
            self._callbacks.end(why)

    def tick(self, now: float) -> None:
        """Look at the time: hurry what is slow, give up what nobody came back to."""
        for delivery in self.deliveries:
            delivery.tick(now, self.limits)
        self.events.expire(now)
        for stream in [one for one in self.detached if not self.events.has(one)]:
            self.detached.discard(stream)
            stream.outbox.drop(stream)

    def leave(self, stream: ResponseStream) -> None:
        """Take nothing from a stream any more; keep what it has for a client that may return."""
        finished = stream.phase is StreamPhase.OVER and not stream.queue
        if finished or stream.phase is StreamPhase.OWN:
            stream.detach()
        elif self.events.has(stream):
            self.detached.add(stream)
            stream.detach()
        else:
            stream.outbox.drop(stream)

    def is_idle(self, now: float) -> bool:
        """Return whether nobody has used the session for long, nor is waiting on it."""
        return not self.deliveries and now - self.used_at >= self.limits.idle
