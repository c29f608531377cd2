"""Several ways out of one session (MCP, Streamable HTTP).

An answer, and what a handler sends while it works on a request, leaves on the stream that was
opened for that request. All else leaves on the session's own stream, also what a handler leaves
running behind its answer. Which stream is the current one is a context variable: it follows a
handler into its tasks and threads.

Sessions whose transport has only one way out use nothing of this. `drivers/multi_stream.py` has the
other half.
"""

from __future__ import annotations

__all__ = (
    "MultiStreamCallbacks",
    "MultiStreamEngine",
    "MultiStreamOutbox",
    "MultiStreamRequest",
    "ResponseStream",
    "current_stream",
)

from asyncio import AbstractEventLoop, Future
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass

import anyio

from kinwire.rpc.calls import Outbound
from kinwire.rpc.codec import Id, OutgoingFrame
from kinwire.rpc.engine.engine import Engine
from kinwire.rpc.engine.inbound import InboundCalls
from kinwire.rpc.engine.io import EngineIO, Timer
from kinwire.rpc.engine.outbox import FEW, Item, Outbox, fitted
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire.rpc.transport import SessionCallbacks
from kinwire_protocols.base import JsonObject, Message

_PARKED = 1000  # frames that one stream keeps while nobody takes them


class ResponseStream:
    """A way out of a session, for as long as there is something to send on it."""

    __slots__ = (
        "_waiter",
        "answer_only",
        "attached",
        "due",
        "expecting",
        "gone",
        "outbox",
        "own",
        "queue",
        "size",
    )

    def __init__(self, outbox: MultiStreamOutbox, *, own: bool = False) -> None:
        self.outbox = outbox
        self.own = own
        """Whether it is the session's own, which never ends before the session."""
        self.queue: deque[Item] = deque()
        self.size = 0  # bytes in the queue
        self.attached = not own
        """Whether somebody takes what is queued. While nobody does the oldest gives way."""
        self.expecting = False
        """Whether the request that it is for is being handled."""
        self.due = not own
        """Whether the next frame is the answer, or an error instead of one."""
        self.answer_only = False
        """Whether all but the answer leaves on the session's own stream."""
        self.gone = False
        """Whether nobody will ever take anything."""
        self._waiter: Future[None] | anyio.Event | None = None

    @property
    def over(self) -> bool:
        """Whether nothing will be queued any more."""
        return not (self.own or self.expecting or self.due)

    @property
    def takes(self) -> bool:
        """Whether a frame of the request that it is for leaves here."""
        return self.due or (self.expecting and not self.answer_only)

    def expect(self) -> None:
        """Say that a handler works on the request, and may send other things before its answer."""
        self.expecting, self.due = True, False

    def put(self, data: bytes, of: Outbound | OutgoingFrame | None) -> None:
        """Queue bytes and what they are the frame of, and wake the task that waits for them."""
        if not self.expecting:
            self.due = False
        if self.gone:
            return
        self.size += len(data)
        if self.size > FEW:
            data = fitted(data, of)
        self.queue.append(data if of is None else of)
        self.outbox.grown(self, len(data))
        self.ring()

    def answered(self, due: bool) -> None:
        """Say that the handler has ended, and whether the next frame is the answer."""
        self.expecting, self.due = False, due
        if not due:
            self.ring()

    def attach(self) -> None:
        """Take what is queued from now on: it counts as unsent."""
        if not self.attached:
            self.attached = True
            self.outbox.moved(self)

    def detach(self) -> None:
        """Take nothing for now, and end the waiting."""
        if self.attached:
            self.attached = False
            self.outbox.moved(self)
            self.ring()

    def ring(self) -> None:
        """End the waiting of who takes: something has changed."""
        waiter, self._waiter = self._waiter, None
        if isinstance(waiter, Future):
            if not waiter.done():
                waiter.set_result(None)
        elif waiter is not None:
            waiter.set()

    def arrival(self, loop: AbstractEventLoop | None) -> Awaitable[None]:
        """Return what to await until something has changed."""
        if loop is not None:
            self._waiter = future = Future[None](loop=loop)
            return future
        self._waiter = event = anyio.Event()
        return event.wait()


current_stream: ContextVar[ResponseStream | None] = ContextVar("kinwire stream", default=None)


class MultiStreamOutbox(Outbox):
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
        if stream is None or stream.outbox is not self or not stream.takes:
            stream = self.own
        stream.put(data, of)

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
        if not stream.attached:
            self._park(stream, size)
            return
        self._size += size
        if self._size > self._limit:
            self._check_high_watermark()

    def moved(self, stream: ResponseStream) -> None:
        """Account for a stream that somebody takes from now on, or nobody any more."""
        if stream.attached:
            self._left.pop(stream, None)
            self._parked -= stream.size
            self._size += stream.size
            if self._size > self._limit:
                self._check_high_watermark()
        else:
            self._size -= stream.size
            if stream.queue:
                self._park(stream, stream.size)
        if self.full:
            self._check_low_watermark()

    def drop(self, stream: ResponseStream) -> None:
        """Forget what a stream has queued, and its answer: nobody will take it."""
        stream.answer_only = stream.gone = True
        if stream.attached:  # before it would count as parked, and others would give way to it
            self._size -= stream.size
        else:
            self._left.pop(stream, None)
            self._parked -= stream.size
        stream.queue.clear()
        stream.size = 0
        stream.detach()

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


class MultiStreamRequest(Request):
    """A request that knows on which stream it is answered, and what it came with."""

    __slots__ = ("context", "stream")

    def __init__(
        self, session: Session, id: Id | None, route: Route, params: Message, raw: JsonObject
    ) -> None:
        super().__init__(session, id, route, params, raw)
        self.context: Context = copy_context()
        """Of the HTTP request: what stands around the server has set things there."""
        self.stream = current_stream.get()
        if self.stream is not None and id is not None:
            self.stream.expect()


class _MultiStreamInbound(InboundCalls):
    def _end(self, work: Request) -> bool:
        due = super()._end(work)
        if isinstance(work, MultiStreamRequest) and work.stream is not None and work.id is not None:
            work.stream.answered(due)
        return due


class MultiStreamEngine(Engine):
    """The rules of a session that has several streams."""

    outbox: MultiStreamOutbox
    outbox_class = MultiStreamOutbox
    inbound_class = _MultiStreamInbound

    def ended(self) -> bool:
        """Whether nothing that arrives is handled any more."""
        return self.inbound.silent or self.outbound.closed is not None

    def accept(self, message: JsonObject) -> None:
        """Act on a message that was decoded already, as `feed` would. Never raises."""
        # The second half of `feed`, which has it in line: a call more on the way of every frame.
        if self.inbound.silent:
            return
        if "method" not in message:
            self.outbound.answered(message)
        elif "id" in message:
            self.inbound.requested(message)
        else:
            self._notified(message["method"], message)


@dataclass(slots=True, kw_only=True)
class MultiStreamCallbacks(SessionCallbacks):
    """A session as a transport with several streams sees it."""

    accept: Callable[[JsonObject], None]
    """Hand over a decoded message; `current_stream` is the stream for its answer."""

    outbox: MultiStreamOutbox
    """Where the streams are, and what they have queued."""

    ended: Callable[[], bool]
    """Whether nothing that arrives is handled any more."""
