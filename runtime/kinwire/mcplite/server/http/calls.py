"""The calls that are under way on one event loop: each ends early if its client leaves."""

from __future__ import annotations

__all__ = ("STOPPING", "Calls", "RunningCall")

import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.listener import Listener
from kinwire.transports.http.replies import Receive
from kinwire_protocols.jsonrpc.errors import InternalError

T = TypeVar("T")

logger = logging.getLogger("kinwire.transports")

STOPPING = InternalError("The server is stopping.")
"""What a call is answered with that the server has ended."""

_LAST_ANSWERS = 4.0  # seconds for what is under way once the server stops


class Calls(Listener):
    """What is under way, and how much of it there may be: `HttpLimits.sessions` calls."""

    def __init__(self, limits: HttpLimits) -> None:
        super().__init__(limits)
        self._running: set[RunningCall] = set()
        self._ends_at: float | None = None  # when what is under way has to end
        self._none_left = anyio.Event()

    def count(self) -> int:
        """See `Listener.count`."""
        return len(self._running)

    def has_work(self) -> bool:
        """See `Listener.has_work`."""
        return (self._ends_at is not None and bool(self._running)) or super().has_work()

    def tick(self, now: float) -> None:
        """See `Listener.tick`."""
        super().tick(now)
        if self._ends_at is not None and now >= self._ends_at:
            self._end_all()

    def stop(self, why: ConnectionClosedError) -> None:
        """See `Listener.stop`: what is under way has a moment to finish."""
        super().stop(why)
        if self._ends_at is None:
            self._ends_at = time.monotonic() + _LAST_ANSWERS
            self._tell_if_over()
        if self.has_work():
            self.tick_on()

    async def close(self, why: ConnectionClosedError) -> None:
        """End all, and return when they have ended; what is under way gets a moment for it."""
        self.stop(why)
        await self._none_left.wait()

    def begin(self, call: RunningCall) -> None:
        """Count a call."""
        self._running.add(call)

    def end(self, call: RunningCall) -> None:
        """Forget a call that is over."""
        self._running.discard(call)
        if self._ends_at is not None:
            self._tell_if_over()

    def _end_all(self) -> None:
        for call in self._running:
            call.is_stopped = True
            call.scope.cancel()

    def _tell_if_over(self) -> None:
        if not self._running:
            self._none_left.set()


class RunningCall:
    """One call, and the client that waits for it."""

    __slots__ = ("_calls", "_receive", "_watch", "is_stopped", "scope")

    def __init__(self, calls: Calls, receive: Receive) -> None:
        self.scope = anyio.CancelScope()
        self.is_stopped = False
        """Whether the server has ended the call, and not its client."""
        self._calls = calls
        self._receive = receive
        self._watch = anyio.CancelScope()

    async def run(self, work: Callable[[], Awaitable[T]]) -> T | None:
        """Return what the work returns; None if client or server have ended it early."""
        calls, loop = self._calls, self._calls.loop
        calls.begin(self)
        # Most work needs no turn of the loop: then nobody has to watch, which costs a task.
        due = None if loop is None else loop.call_soon(self._begin_watch)
        if due is None:
            self._begin_watch()
        try:
            with self.scope:
                return await work()
        finally:
            if due is not None:
                due.cancel()
            self._watch.cancel()
            calls.end(self)
        return None

    def spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` beside the call, in a task of its own that has to end by itself."""
        self._calls.spawn(work)

    def _begin_watch(self) -> None:
        self._calls.spawn(self._until_gone)

    async def _until_gone(self) -> None:
        with self._watch:
            try:
                while (await self._receive())["type"] != "http.disconnect":
                    pass
            except Exception as error:  # what servers raise differs
                logger.debug("a connection could not be watched", exc_info=error)
            self.scope.cancel()
