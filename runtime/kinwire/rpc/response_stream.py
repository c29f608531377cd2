"""The streams of a session whose frames leave on several, such as those of Streamable HTTP.

The answer to a request, and what its handler sends before, leaves on the stream that was opened for
that request. Everything else leaves on the session's own stream, also what a handler leaves running
behind its answer. Which stream is the current one is a context variable: it follows a handler into
its tasks and threads.

A stream has two states. `StreamPhase` says which frames are queued on it:

    OWN: every frame that belongs to no request; the only phase of a session's own stream

    DUE ---BEGIN---> OPEN ---RESTRICT, DROP---> ANSWER_ONLY
     | ^             |  |                        |  |
     | +---RETURN----+--|------------------------+  |
     |                  |                           |
     +--PUT, END-----> OVER <---------END-----------+

    DUE: the next frame of the request, which is its answer, or an error instead of one
    OPEN: every frame of the request; its handler is running
    ANSWER_ONLY: no frame yet; those of the running handler leave on the session's own stream
    OVER: nothing any more

`StreamAttachment` says what becomes of queued frames:

    DETACHED ---ATTACH---> ATTACHED    DETACHED, ATTACHED ---DROP---> GONE
             <---DETACH---

    ATTACHED: a response takes them; they count as unsent
    DETACHED: they are kept for a client that may come back; the oldest give way
    GONE: they are dropped
"""

from __future__ import annotations

__all__ = (
    "ATTACHMENTS",
    "HANDLED",
    "PHASES",
    "MultiStreamOutbox",
    "ResponseStream",
    "StreamAttachment",
    "StreamEvent",
    "StreamPhase",
    "current_stream",
)

from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Awaitable
from contextvars import ContextVar
from enum import IntEnum, auto

import anyio

from kinwire.rpc.calls import Outbound
from kinwire.rpc.codec import OutgoingFrame
from kinwire.rpc.engine.io import EngineIO, Timer
from kinwire.rpc.engine.outbox import FEW, FrameOutbox, Item, fitted
from kinwire.rpc.limits import Limits

_PARKED = 1000  # frames that a detached stream keeps


class StreamPhase(IntEnum):  # every frame looks states up: only IntEnum hashes without Python code
    """Which frames are queued on a stream; see the pictures above."""

    OWN = auto()
    DUE = auto()
    OPEN = auto()
    ANSWER_ONLY = auto()
    OVER = auto()


class StreamAttachment(IntEnum):
    """What becomes of the frames that are queued on a stream; see the pictures above."""

    DETACHED = auto()
    ATTACHED = auto()
    GONE = auto()


class StreamEvent(IntEnum):
    """What changes the states of a stream."""

    BEGIN = auto()
    """A handler begins to work on the request."""
    PUT = auto()
    """A frame is queued."""
    RESTRICT = auto()
    """The client takes no stream as a response, but only an answer."""
    RETURN = auto()
    """The handler has ended, and the answer follows."""
    END = auto()
    """No answer follows: the request was taken back, or there was no request."""
    ATTACH = auto()
    """A response takes the frames from now on."""
    DETACH = auto()
    """The response has ended."""
    DROP = auto()
    """The client cannot come back."""


_P, _A, _E = StreamPhase, StreamAttachment, StreamEvent

_PHASE_CHANGES = {
    (_P.DUE, _E.BEGIN): _P.OPEN,
    (_P.DUE, _E.PUT): _P.OVER,
    (_P.DUE, _E.END): _P.OVER,
    (_P.OPEN, _E.RESTRICT): _P.ANSWER_ONLY,
    (_P.OPEN, _E.DROP): _P.ANSWER_ONLY,
    (_P.OPEN, _E.RETURN): _P.DUE,
    (_P.OPEN, _E.END): _P.OVER,
    (_P.ANSWER_ONLY, _E.RETURN): _P.DUE,
    (_P.ANSWER_ONLY, _E.END): _P.OVER,
}
_ATTACHMENT_CHANGES = {
    (_A.DETACHED, _E.ATTACH): _A.ATTACHED,
    (_A.DETACHED, _E.DROP): _A.GONE,
    (_A.ATTACHED, _E.DETACH): _A.DETACHED,
    (_A.ATTACHED, _E.DROP): _A.GONE,
}

PHASES = {(old, event): _PHASE_CHANGES.get((old, event), old) for old in _P for event in _E}
"""The next phase; an event that is not in the picture changes nothing."""

ATTACHMENTS = {
    (old, event): _ATTACHMENT_CHANGES.get((old, event), old) for old in _A for event in _E
}
"""The next attachment; an event that is not in the picture changes nothing."""

HANDLED = frozenset({_P.OPEN, _P.ANSWER_ONLY})
"""The phases in which a handler works on the request."""

_TAKES = frozenset({_P.DUE, _P.OPEN})  # frames of the request


class ResponseStream:
    """A stream of a session, as long as there is something to send on it."""

    __slots__ = ("_taken", "_waiter", "attachment", "outbox", "phase", "queue", "size")

    def __init__(self, outbox: MultiStreamOutbox, *, own: bool = False) -> None:
        self.outbox = outbox
        self.phase = _P.OWN if own else _P.DUE
        self.attachment = _A.DETACHED if own else _A.ATTACHED
        self.queue: deque[Item] = deque()
        self.size = 0  # bytes in the queue
        self._waiter: Future[None] | anyio.Event | None = None
        self._taken: anyio.Event | None = None  # for a handler that waits while it is detached

    def begin(self) -> None:
        """A handler begins to work on the request."""
        self.phase = PHASES[self.phase, _E.BEGIN]

    def restrict(self) -> None:
        """Take the answer only, and leave all other frames to the session's own stream."""
        self.phase = PHASES[self.phase, _E.RESTRICT]

    def put(self, data: bytes, of: Outbound | OutgoingFrame | None) -> None:
        """Queue bytes and what they are the frame of, and wake the task that waits for them."""
        self.phase = PHASES[self.phase, _E.PUT]
        if self.attachment is _A.GONE:
            return
        self.size += len(data)
        if self.size > FEW:
            data = fitted(data, of)
        self.queue.append(data if of is None else of)
        self.outbox.grown(self, len(data))
        self.wake()

    def returned(self) -> None:
        """The handler has ended, and the answer follows."""
        self.phase = PHASES[self.phase, _E.RETURN]

    def end(self) -> None:
        """No answer follows."""
        self.phase = PHASES[self.phase, _E.END]
        self.wake()

    def attach(self) -> None:
        """Count what is queued, and what will be, as unsent: a response takes it."""
        before, self.attachment = self.attachment, ATTACHMENTS[self.attachment, _E.ATTACH]
        if self.attachment is not before:
            self.outbox.moved(self)
            self._moved_on()

    def detach(self) -> None:
        """Keep what is queued for a client that may come back, and wake the waiting task."""
        before, self.attachment = self.attachment, ATTACHMENTS[self.attachment, _E.DETACH]
        if self.attachment is not before:
            self.outbox.moved(self)
            self.wake()

    def drop(self) -> None:
        """Queue nothing any more; `MultiStreamOutbox.drop` also forgets what is queued."""
        self.phase = PHASES[self.phase, _E.DROP]
        self.attachment = ATTACHMENTS[self.attachment, _E.DROP]
        self._moved_on()

    async def taken(self) -> bool:
        """Wait while the stream is detached; return False if the client cannot come back."""
        while self.attachment is _A.DETACHED:
            if self._taken is None:
                self._taken = anyio.Event()
            await self._taken.wait()
        return self.attachment is _A.ATTACHED

    def _moved_on(self) -> None:
        if self._taken is not None:
            self._taken.set()
            self._taken = None

    def wake(self) -> None:
        """Wake the task that waits for a change."""
        waiter, self._waiter = self._waiter, None
        if isinstance(waiter, Future):
            if not waiter.done():
                waiter.set_result(None)
        elif waiter is not None:
            waiter.set()

    def change(self, loop: AbstractEventLoop | None) -> Awaitable[None]:
        """Return what to await until something has changed."""
        if loop is not None:
            self._waiter = future = Future[None](loop=loop)
            return future
        self._waiter = event = anyio.Event()
        return event.wait()


current_stream: ContextVar[ResponseStream | None] = ContextVar("kinwire stream", default=None)


class MultiStreamOutbox(FrameOutbox):
    """Frames that wait to leave, each on its stream. `waiting` are those of the session's own."""

    def __init__(self, io: EngineIO, timer: Timer, limits: Limits) -> None:
        super().__init__(io, timer, limits)
        self.own = ResponseStream(self, own=True)
        self.waiting = self.own.queue
        self._parked = 0  # bytes in the queues that nobody takes
        self._left: dict[ResponseStream, None] = {}  # these queues, longest untaken first
        self.crowded = False
        """Whether something gave way: nothing holds back who sends what nobody takes."""

    def add(self, data: bytes, of: Outbound | OutgoingFrame | None = None) -> None:
        """Queue bytes on the stream that is current, or on the session's own."""
        stream = current_stream.get()
        if stream is None or stream.outbox is not self or stream.phase not in _TAKES:
            stream = self.own
        stream.put(data, of)

    @property
    def blocked(self) -> bool:
        """See `FrameOutbox`; also where nobody takes it, so that nothing has to give way."""
        return self.full or self.own.attachment is not _A.ATTACHED

    def add_apart(self, notification: bytes) -> bool:
        """See `FrameOutbox`: it leaves on the session's own stream, so all such keep an order."""
        if self.blocked:
            return False
        self.own.put(notification, None)
        return True

    def add_once(self, notification: OutgoingFrame) -> None:
        """Queue a notification that belongs to no request, unless the same waits already."""
        if notification not in self.waiting:
            self.own.put(notification.data, notification)

    def take_from(self, stream: ResponseStream) -> list[bytes]:
        """Return the next frames of a stream, about 256 KiB of them."""
        before = self._size
        frames = self.take(stream.queue)
        stream.size -= before - self._size
        return frames

    def grown(self, stream: ResponseStream, size: int) -> None:
        """Account for what was queued on a stream."""
        if stream.attachment is not _A.ATTACHED:
            self._park(stream, size)
            return
        self._size += size
        if self._size > self._limit:
            self._check_high_watermark()

    def moved(self, stream: ResponseStream) -> None:
        """Account for a stream that somebody takes from now on, or nobody any more."""
        if stream.attachment is _A.ATTACHED:
            self._left.pop(stream, None)
            self._parked -= stream.size
            self._size += stream.size
            if self._size > self._limit:
                self._check_high_watermark()
            if stream is self.own:
                self.io.room()
        else:
            self._size -= stream.size
            if stream.queue:
                self._park(stream, stream.size)
        if self.full:
            self._check_low_watermark()

    def drop(self, stream: ResponseStream) -> None:
        """Forget what a stream has queued, and its answer: the client cannot come back."""
        attached = stream.attachment is _A.ATTACHED
        if attached:  # before it would count as parked, and others would give way to it
            self._size -= stream.size
        else:
            self._left.pop(stream, None)
            self._parked -= stream.size
        stream.queue.clear()
        stream.size = 0
        stream.drop()
        if attached:
            if self.full:
                self._check_low_watermark()
            stream.wake()

    def _park(self, stream: ResponseStream, size: int) -> None:
        """Keep what nobody takes for now, as far as it fits: the oldest gives way."""
        self._left[stream] = None
        self._parked += size
        while len(stream.queue) > _PARKED:
            self._drop_oldest(stream)
        while self._parked > self._limit and self._left:
            self._drop_oldest(next(iter(self._left)))

    def _drop_oldest(self, stream: ResponseStream) -> None:
        self.crowded = True
        item = stream.queue.popleft()
        size = len(item if isinstance(item, bytes) else item.data)
        stream.size -= size
        self._parked -= size
        if not stream.queue:
            del self._left[stream]
