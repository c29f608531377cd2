"""What both drivers share: how a connection begins and, above all, how it ends."""

from __future__ import annotations

__all__ = ("Driver", "DriverEvent")

import logging
from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from kinwire.rpc.calls import OnId, Outbound, ProgressCallback
from kinwire.rpc.engine.engine import Engine
from kinwire.rpc.engine.inbound import NewRequest
from kinwire.rpc.engine.io import PauseReason
from kinwire.rpc.error_table import ErrorTable
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.limits import Limits
from kinwire.rpc.profile import RpcProfile
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire.rpc.transport import SessionCallbacks, Transport
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from anyio import CancelScope

logger = logging.getLogger("kinwire.session")


class DriverEvent(Protocol):
    """An event of the driver's own library."""

    def set(self) -> object: ...
    def is_set(self) -> bool: ...
    async def wait(self) -> object: ...


class Driver(ABC):
    """Runs one engine and one transport on an event loop.

    The end has one order, whichever side begins it: own calls fail; if the peer ended its side,
    handlers get `Limits.drain` to finish; what still runs is cancelled and gets `Limits.stop`;
    the transport writes what waits and is closed.
    """

    engine_class = Engine
    request_class = Request
    _pauses: frozenset[PauseReason] = frozenset()  # why reading pauses
    _held_back = 0  # handlers that wait to begin

    def __init__(
        self,
        transport: Transport,
        *,
        routes: Mapping[str, Route],
        profile: RpcProfile,
        limits: Limits,
        known: ErrorTable,
        new: NewRequest,
        loop: AbstractEventLoop | None = None,
    ) -> None:
        self._transport = transport
        self._limits = limits
        self.engine = self.engine_class(
            self,
            routes=routes,
            profile=profile,
            limits=limits,
            known=known,
            new=new,
            peer_may_emit_noise=transport.peer_may_emit_noise,
        )
        self._callbacks = self._make_callbacks(loop)
        self._drain = limits.drain
        self._draining: CancelScope | None = None
        self._keep: Request | None = None  # the handler that closes its own session
        self._ending = False
        self._ended = self._signal()
        self._room: DriverEvent | None = None  # callers wait for the outbox
        self._idle: DriverEvent | None = None  # set when a handler or a call has ended
        self.when_asked_to_end: Callable[[ConnectionClosedError], object] | None = None
        """What is called in the place of `end` when this side is asked to end the connection."""

    def _make_callbacks(
        self,
        loop: AbstractEventLoop | None,
        kind: Callable[..., SessionCallbacks] = SessionCallbacks,
        **more: object,
    ) -> SessionCallbacks:
        return kind(
            **more,
            feed=self.engine.feed,
            waiting=self.engine.outbox.waiting,
            take=self.engine.take,
            take_frames=self.engine.take_frames,
            write_with=self.engine.outbox.write_with,
            hold_back=self.engine.outbox.hold_back,
            overlong=self.engine.overlong,
            answer=self.engine.feed,
            waits=self.engine.outbound.waits,
            fail=self.engine.outbound.fail,
            end=self.end,
            ask_to_end=self._asked_to_end,
            frame_size=self._limits.frame_size,
            loop=loop,
        )

    def must_not_repeat(self) -> None:
        """See `Session.must_not_repeat_handshake`."""
        self._callbacks.repeatable = False

    @abstractmethod
    async def call(
        self,
        name: str,
        method: Method[Any, Any] | None,
        params: JsonObject,
        timeout: float | None,
        on_progress: ProgressCallback | None,
        on_id: OnId | None = None,
    ) -> Any:
        """Send a request and return its result as JSON; `on_id` gets its id first."""

    async def wait_for_room(self, *, last: bool = False) -> None:
        """Return when frames may be queued.

        Calls are over as soon as the connection ends. Frames that handlers send then are the `last`
        to leave: they still wait, or a handler that sends much would never let others run.
        """
        inbound = self.engine.inbound
        while self.engine.outbox.full and not (inbound.silent if last else self._ending):
            await self._wait_room()

    async def wait_to_begin(self) -> None:
        """Return when a handler may begin: one more answer can be held.

        While many wait nothing is read. What was read already may be as much again, and more, and
        still none of it is refused.
        """
        many = max(self._limits.in_flight // 4, 1)
        self._held_back += 1
        try:
            while self.engine.outbox.crowded_by_answers and not self.engine.inbound.silent:
                if self._held_back >= many:
                    self.pause_reading("unbegun")
                await self._wait_room()
        finally:
            self._held_back -= 1
            if self._held_back < many and "unbegun" in self._pauses:
                self.resume_reading("unbegun")

    async def wait_unblocked(self) -> None:
        """Return when a frame that belongs to no request may be queued, or at the end."""
        while self.engine.outbox.blocked and not self.engine.inbound.silent:
            await self._wait_room()

    async def wait_written(self) -> None:
        """Return when the transport has what was queued so far.

        Raises:
            ConnectionClosedError: the connection has ended, so it may not have left.
        """
        outbox = self.engine.outbox
        last = outbox.waiting[-1] if outbox.waiting else None
        outbox.watched += 1
        try:
            while not self._ending and any(one is last for one in outbox.waiting):
                await self._wait_room()
        finally:
            outbox.watched -= 1
        if self.engine.closed is not None:
            raise self.engine.closed.again()

    async def _wait_room(self) -> None:
        if self._room is None or self._room.is_set():
            self._room = self._signal()
        await self._room.wait()

    async def wait_quiet(self) -> None:
        """Return when no handler runs and no call waits for its answer."""
        while self._running() or self.engine.outbound.pending:
            if self._idle is None or self._idle.is_set():
                self._idle = self._signal()
            await self._idle.wait()

    async def wait_for_taker(self) -> bool:
        """Wait while nobody takes what the handler sends that calls this; False if nobody will."""
        return True

    async def wait_ended(self) -> None:
        """Return when the connection has ended and everything is released."""
        await self._ended.wait()

    @abstractmethod
    async def open(self) -> None:
        """Begin to carry frames; return once the transport has taken its first step."""

    @abstractmethod
    async def shut(self) -> None:
        """Close, and see every task end."""

    def release(self) -> None:
        """Let go of what refers to this driver, when all has ended."""
        self._callbacks.end = self._callbacks.ask_to_end = _nothing_to_end
        self.when_asked_to_end = None
        self.engine.release()

    async def close(self) -> None:
        """End the connection; also inside a cancelled scope, and in a bounded time."""
        import anyio  # not before: a session on asyncio may not need it at all

        with anyio.CancelScope(shield=True):
            await self._close_shielded()

    async def _close_shielded(self) -> None:
        if self._ended.is_set():
            return
        self._drain = 0.0
        self._keep = self._current()
        if self._draining is not None:
            self._draining.cancel()
        self.end(ConnectionClosedError("The session was closed by this side."))
        await self._until_ended()

    async def _until_ended(self) -> None:
        await self._ended.wait()

    @abstractmethod
    def _signal(self) -> DriverEvent: ...

    @abstractmethod
    def _spawn(self, part: Coroutine[Any, Any, None], /) -> None:
        """Run a part of the session itself in a task."""

    @abstractmethod
    def _current(self) -> Request | None:
        """Return what the calling task handles, None if it is not a handler of this session."""

    @abstractmethod
    async def _stop_handlers(self) -> None:
        """Wait for cancelled handlers, at most `Limits.stop`."""

    @abstractmethod
    async def _stop_transport(self) -> None:
        """Cancel `Transport.run` and see it end."""

    # What the engine asks for and both drivers do alike.

    @abstractmethod
    def wake_writer(self) -> None: ...
    @abstractmethod
    def start(self, work: Request, /) -> None: ...
    @abstractmethod
    def stop(self, work: Request, /) -> None: ...
    @abstractmethod
    def settle(self, call: Outbound, result: object, error: Exception | None, /) -> None: ...
    @abstractmethod
    def call_at(self, at: float, /) -> None: ...
    @abstractmethod
    def now(self) -> float: ...

    def is_abandoned(self, call: Outbound, /) -> bool:
        """See `EngineIO.is_abandoned`."""
        return False

    def pause_reading(self, why: PauseReason = "unsent", /) -> None:
        """See `EngineIO.pause_reading`."""
        self._pauses = self._pauses.union((why,))
        self._callbacks.paused = True

    def resume_reading(self, why: PauseReason = "unsent", /) -> None:
        """See `EngineIO.resume_reading`."""
        self._pauses = self._pauses.difference((why,))
        if self._callbacks.paused and not self._pauses:
            self._callbacks.paused = False
            self._resume_transport()

    def _resume_transport(self) -> None:
        self._transport.resume()

    def room(self) -> None:
        """See `EngineIO.room`."""
        if self._room is not None:
            self._room.set()

    def end(self, why: ConnectionClosedError, /) -> None:
        """See `EngineIO.end`; also what a transport calls when nothing arrives any more."""
        if not self._ending:
            self._ending = True
            self.engine.no_more(why)
            self.room()
            self._spawn(self._wind_down(why))

    def _asked_to_end(self, why: ConnectionClosedError, /) -> None:
        """See `SessionCallbacks.ask_to_end`."""
        (self.when_asked_to_end or self.end)(why)

    def _rouse(self) -> None:
        """Have `wait_quiet` look again: a handler or a call has ended."""
        if self._idle is not None:
            self._idle.set()

    async def _wind_down(self, why: ConnectionClosedError) -> None:
        import anyio

        closing = False
        try:
            if self._running():
                with anyio.move_on_after(self._drain) as self._draining:
                    await self.wait_quiet()
            self.engine.close(why, self._keep)
            self.room()
            await self._stop_handlers()
            left = [work.label for work in self._running()]
            if left:
                logger.warning("handlers do not end on cancellation: %s", ", ".join(left))
            await self._stop_transport()
            closing = True
            await self._close_transport()
        finally:  # also if the loop ends and takes this along, or the session would wait for ever
            try:
                if not closing:
                    await self._close_at_once()
            finally:
                self._set_ended()

    def _set_ended(self) -> None:
        self._ended.set()

    async def _close_at_once(self) -> None:
        import anyio

        with anyio.CancelScope() as scope:
            scope.cancel()
            await self._close_transport()

    async def _close_transport(self) -> None:
        try:
            await self._transport.aclose()
        except Exception:
            logger.exception("the transport failed while it was closed")

    async def _carry(self) -> None:
        # The transport's part, from the first frame to the last.
        try:
            await self._transport.run(self._callbacks)
        except Exception as error:
            self._transport_failed(error)
        else:
            self.end(ConnectionClosedError("The transport has ended."))

    def _transport_failed(self, error: Exception) -> None:
        logger.debug("the transport failed", exc_info=error)
        self.end(ConnectionClosedError(f"The transport failed: {_cause(error)!r}."))

    def _running(self) -> list[Request]:
        return [work for work in self.engine.inbound.under_way.values() if work is not self._keep]


def _nothing_to_end(why: ConnectionClosedError) -> None:
    """See `SessionCallbacks.end`: the session is over."""


def _cause(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):  # a task group of the transport's
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return error
