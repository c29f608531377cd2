"""The calls that are under way on one event loop: each ends early if its client leaves."""

from __future__ import annotations

__all__ = ("STOPPING", "Calls", "RunningCall")

import asyncio
import logging
import time
from asyncio import AbstractEventLoop, Task
from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from typing import Any, TypeVar

import anyio

from kinwire.mcplite.rules.unavailable import ServerUnavailableError
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.listener import Listener
from kinwire.transports.http.replies import Receive

T = TypeVar("T")

logger = logging.getLogger("kinwire.transports")

STOPPING = ServerUnavailableError("The server is stopping.")
"""What a call is answered with that the server has ended."""

_LAST_ANSWERS = 1.0  # seconds for what is under way once the server stops
_PAUSE = 0.2  # seconds until a connection is looked at again that says something else than its end
_UNWILLING = 0.5  # seconds in which what is cancelled has to end


class Calls(Listener):
    """What is under way, and how much of it there may be: `HttpLimits.sessions` calls."""

    def __init__(self, limits: HttpLimits) -> None:
        super().__init__(limits)
        self.running: set[RunningCall] = set()
        self.begun: set[RunningCall] = set()
        """Those that have begun in this turn of the loop, and are not over."""
        self.will_watch = False
        """Whether `watch_soon` was called in this turn."""
        self._no_context = Context()  # of what begins to watch, which belongs to no request
        self._ends_at: float | None = None  # when what is under way has to end
        self._none_left = anyio.Event()

    def count(self) -> int:
        """See `Listener.count`."""
        return len(self.running)

    @property
    def full(self) -> bool:
        """See `Listener.full`; each request asks."""
        return self.stopping or len(self.running) >= self.limits.sessions

    def has_work(self) -> bool:
        """See `Listener.has_work`."""
        return (self._ends_at is not None and bool(self.running)) or super().has_work()

    @property
    def abandoned(self) -> int:
        """How many calls go on although they had their time to end."""
        over = self._ends_at is not None and time.monotonic() >= self._ends_at + _UNWILLING
        return len(self.running) if over else 0

    def tick(self, now: float) -> None:
        """See `Listener.tick`."""
        super().tick(now)
        if self._ends_at is not None and now >= self._ends_at:
            for call in list(self.running):
                call.is_stopped = True
                call.end()

    def stop(self, why: ConnectionClosedError) -> None:
        """See `Listener.stop`: what is under way has a moment to finish."""
        super().stop(why)
        if self._ends_at is None:
            self._ends_at = time.monotonic() + _LAST_ANSWERS
            self.tell_if_over()
        if self.has_work():
            self.tick_on()

    async def close(self, why: ConnectionClosedError) -> None:
        """End all, and return when they have ended; what is under way gets a moment for it.

        A tool that does not heed its cancellation is left alone.
        """
        self.stop(why)
        until = (self._ends_at or 0.0) + _UNWILLING
        with anyio.move_on_after(until - time.monotonic()):
            await self._none_left.wait()

    def watch_soon(self, loop: AbstractEventLoop) -> None:
        """Watch the clients of those calls that do not end in this turn of the loop.

        Most end in it. What is scheduled for all calls of a turn costs far less than for each.
        """
        self.will_watch = True
        loop.call_soon(self._watch_begun, loop, context=self._no_context)

    def _watch_begun(self, loop: AbstractEventLoop) -> None:
        begun, self.begun, self.will_watch = self.begun, set(), False
        for call in begun:
            call.watch(loop)

    def tell_if_over(self) -> None:
        """Tell `close` if nothing is under way any more."""
        if self._ends_at is not None and not self.running:
            self._none_left.set()


class RunningCall:
    """One call, and the client that waits for it."""

    is_stopped = False
    """Whether the server has ended the call, and not its client."""
    _ended = False
    _task: Task[Any] | None = None
    _watch: Task[None] | None = None
    _scope: anyio.CancelScope | None = None  # where trio runs
    _context: Context

    def __init__(self, calls: Calls, receive: Receive) -> None:
        self._calls = calls
        self._receive = receive

    async def run(self, work: Awaitable[T]) -> T | None:
        """Return what the work returns; None if client or server have ended it early."""
        calls = self._calls
        loop = calls.loop
        if loop is None:
            return await self._run_in_scope(work)
        # A scope of anyio costs more than all the rest.
        self._task = task = asyncio.current_task(loop)
        self._context = copy_context()  # an application around this one may read it in `receive`
        calls.running.add(self)
        calls.begun.add(self)
        if not calls.will_watch:
            calls.watch_soon(loop)
        try:
            return await work
        except asyncio.CancelledError:
            if task is None or task.cancelling() > self._ended:  # somebody else did, too
                raise
            return None
        finally:
            calls.running.discard(self)
            calls.begun.discard(self)  # or all that it holds would stay until the turn is over
            if self._watch is not None or self._ended:
                self._tidy()

    def end(self) -> None:
        """End the call. If it ends itself, it has to wait for something right after this."""
        if self._ended:
            return
        self._ended = True
        if self._task is not None:
            self._task.cancel()
        elif self._scope is not None:
            self._scope.cancel()

    def watch(self, loop: AbstractEventLoop) -> None:
        """End the call as soon as its client has gone."""
        self._watch = Task(self._until_gone(), loop=loop, context=self._context)

    def beside(self, scope: anyio.CancelScope, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` in a task of its own, until it is over or `scope` is cancelled.

        The task has a copy of the caller's context.
        """

        async def within_scope() -> None:
            with scope:
                await work()

        self._calls.spawn(within_scope, context=copy_context())

    def _tidy(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self._ended and self._task is not None:
            self._task.uncancel()
        self._calls.tell_if_over()

    async def _run_in_scope(self, work: Awaitable[T]) -> T | None:
        watch = anyio.CancelScope()
        self.beside(watch, self._until_gone)
        self._calls.running.add(self)
        try:
            with anyio.CancelScope() as self._scope:
                return await work
        finally:
            watch.cancel()
            self._calls.running.discard(self)
            self._calls.tell_if_over()
        return None

    async def _until_gone(self) -> None:
        try:
            while True:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    break
                # An application around this one may hand out a body again, without waiting.
                await anyio.sleep(_PAUSE)
        except Exception as error:  # what servers raise differs
            logger.debug("a connection could not be watched", exc_info=error)
        self.end()
