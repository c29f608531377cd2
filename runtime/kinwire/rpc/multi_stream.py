"""Sessions whose frames leave on several streams: `response_stream.py` has the streams.

Sessions whose transport has only one stream do not load this module.
"""

from __future__ import annotations

__all__ = (
    "MultiStreamAnyioDriver",
    "MultiStreamAsyncioDriver",
    "MultiStreamCallbacks",
    "MultiStreamEngine",
    "MultiStreamRequest",
)

import logging
from asyncio import AbstractEventLoop, Task
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass

from anyio.lowlevel import checkpoint

from kinwire.rpc.codec import Id, is_id
from kinwire.rpc.drivers.anyio_driver import AnyioDriver
from kinwire.rpc.drivers.asyncio_driver import AsyncioDriver
from kinwire.rpc.drivers.base import Driver
from kinwire.rpc.engine.early_cancellations import LONGEST_ID, EarlyCancellations
from kinwire.rpc.engine.engine import Engine
from kinwire.rpc.engine.inbound import InboundCalls
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.request import Request
from kinwire.rpc.response_stream import MultiStreamOutbox, current_stream
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire.rpc.transport import MultiStreamTransport, SessionCallbacks
from kinwire_protocols.base import JsonObject, Message

logger = logging.getLogger("kinwire.session")

_LAST_ENDED = 64  # requests: a cancellation of one of these is too late, and not too early


class MultiStreamRequest(Request):
    """A request that knows on which stream it is answered, and what it came with."""

    __slots__ = ("context", "stream")

    def __init__(
        self, session: Session, id: Id | None, route: Route, params: Message, message: JsonObject
    ) -> None:
        super().__init__(session, id, route, params, message)
        self.context: Context = copy_context()
        """Of the HTTP request: what stands around the server has set things there."""
        self.stream = current_stream.get()
        if self.stream is not None and id is not None:
            self.stream.begin()


class _MultiStreamInbound(InboundCalls):
    """Messages may overtake each other: each comes in a request of HTTP of its own."""

    _early: EarlyCancellations | None = None  # few sessions need it
    _over: tuple[Id, ...] = ()  # the ids of the requests that have ended last

    def _cancelled_unknown(self, identifier: object) -> None:
        """See `InboundCalls`: the request may still come."""
        if not is_id(identifier) or identifier in self._over:
            return
        if self._early is None:
            self._early = EarlyCancellations()
            self.requested = self._perhaps_requested  # type: ignore[method-assign]
        self._early.add(identifier, self.io.now())

    def _perhaps_requested(self, message: JsonObject) -> None:
        """See `requested`: what was taken back already is not begun, nor answered."""
        assert self._early is not None
        if not self._early.has(message["id"], self.io.now()):
            super().requested(message)

    def _end(self, work: Request) -> bool:
        due = super()._end(work)
        if isinstance(work, MultiStreamRequest) and work.stream is not None and work.id is not None:
            if work.id.__class__ is int or len(str(work.id)) <= LONGEST_ID:
                self._over = (work.id, *self._over[:_LAST_ENDED])
            if due:
                work.stream.returned()
            else:
                work.stream.end()
        return due


class MultiStreamEngine(Engine):
    """The rules of a session that has several streams."""

    outbox: MultiStreamOutbox
    outbox_class = MultiStreamOutbox
    inbound_class = _MultiStreamInbound

    def release(self) -> None:
        """See `Engine.release`."""
        super().release()
        del self.outbox.own  # which refers to the outbox

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


class _MultiStreamDriver(Driver):
    _transport: MultiStreamTransport
    engine: MultiStreamEngine
    engine_class = MultiStreamEngine
    request_class = MultiStreamRequest

    def _make_callbacks(
        self,
        loop: AbstractEventLoop | None,
        kind: Callable[..., SessionCallbacks] = MultiStreamCallbacks,
        **more: object,
    ) -> SessionCallbacks:
        engine = self.engine
        own = {"accept": engine.accept, "outbox": engine.outbox}
        return super()._make_callbacks(loop, kind, **own, **more)

    def end(self, why: ConnectionClosedError, /) -> None:
        """See `Driver.end`."""
        self._transport.has_ended = True
        super().end(why)

    async def wait_for_room(self, *, last: bool = False) -> None:
        """See `Driver.wait_for_room`; frames that nobody takes give way, while others run."""
        await super().wait_for_room(last=last)
        if self.engine.outbox.crowded:
            self.engine.outbox.crowded = False
            await checkpoint()

    async def wait_for_taker(self) -> bool:
        """See `Driver.wait_for_taker`: the response may have broken off."""
        stream = current_stream.get()
        return stream is None or stream.outbox is not self.engine.outbox or await stream.taken()

    def wake_writer(self) -> None:
        """A stream wakes the task that takes from it."""


class MultiStreamAsyncioDriver(_MultiStreamDriver, AsyncioDriver):
    """`AsyncioDriver` with several ways out, and without tasks of its own as a rule."""

    _over: Callable[[], None] | None = None

    async def open(self) -> None:
        """See `Driver.open`: nothing is waited for."""
        self._transport.begin(self._callbacks)

    def begin(self, over: Callable[[], None]) -> None:
        """Begin to carry frames, and call `over` at the end, instead of `open` and `shut`."""
        self._over = over
        self._transport.begin(self._callbacks)

    def end(self, why: ConnectionClosedError, /) -> None:
        """See `Driver.end`; where no handler runs all is done now."""
        if self._ending or self.engine.inbound.under_way:
            super().end(why)
            return
        self._ending = self._transport.has_ended = True
        self.engine.close(why)
        self.room()
        self._transport.close_streams()
        self._set_ended()

    def _set_ended(self) -> None:
        super()._set_ended()
        over, self._over = self._over, None  # it refers to the session, which refers to this
        if over is not None:
            if self._timer is not None:
                self._timer.cancel()
            try:
                over()
            except Exception:
                logger.exception("a session has failed")
            self.release()

    async def _stop_transport(self) -> None:
        """See `Driver`: there is no task."""

    def start(self, work: Request, /) -> None:
        """See `EngineIO.start`."""
        assert isinstance(work, MultiStreamRequest)
        work.task = Task(
            self._run(work), loop=self._loop, name=work.method.name, context=work.context
        )

    def _flush(self) -> None:
        """A stream wakes the task that takes from it."""


class MultiStreamAnyioDriver(_MultiStreamDriver, AnyioDriver):
    """`AnyioDriver` with several ways out."""

    def start(self, work: Request, /) -> None:
        """See `EngineIO.start`."""
        assert isinstance(work, MultiStreamRequest)
        work.context.run(super().start, work)
