"""The timers of a server's subscriptions: one task for all of them, while there are any."""

from __future__ import annotations

__all__ = ("EventTimers", "TimerKey")

import heapq
import logging
from collections.abc import Callable
from contextvars import Context
from typing import Literal, NamedTuple

import anyio

from kinwire.storage.clock import Clock
from kinwire.support.background import start_detached

logger = logging.getLogger("kinwire.mcpe")

_LOOK = 1.0  # seconds: how late a clock that was put forward is noticed


class TimerKey(NamedTuple):
    """What happens, and to which subscription or client."""

    kind: Literal["due", "expire", "forget", "grace"]
    id: str


class EventTimers:
    """Calls the plain function `act` for each key when its time has come.

    The task belongs to no request and to no session. `clock` is the wall clock, so what is due
    while the process stands still, or at a time that the clock jumps over, is due once afterwards.
    """

    def __init__(self, act: Callable[[TimerKey], None], clock: Clock) -> None:
        self._act = act
        self._clock = clock
        self._at: dict[TimerKey, float] = {}
        self._queue: list[tuple[float, TimerKey]] = []  # also what was replaced or cancelled
        self._changed = anyio.Event()
        self._running = False

    def __len__(self) -> int:
        """Return the number of timers."""
        return len(self._at)

    def set(self, key: TimerKey, at: float | None) -> None:
        """Set a timer to a time in seconds since 1970; None ends it."""
        if at is None:
            self._at.pop(key, None)
            return
        self._at[key] = at
        heapq.heappush(self._queue, (at, key))
        if not self._running:
            self._running = True
            Context().run(start_detached, self._run)  # what it sends belongs to no request
        elif self._queue[0][1] == key:
            self.look()

    def look(self) -> None:
        """Look at the clock now, and not only when the next timer is expected to be due."""
        self._changed.set()

    def act_on_due(self) -> None:
        """Act on what is due."""
        now = self._clock()
        while self._queue and self._queue[0][0] <= now:
            at, key = heapq.heappop(self._queue)
            if self._at.get(key) == at:
                del self._at[key]
                self._act_on(key)

    def _act_on(self, key: TimerKey) -> None:
        try:
            self._act(key)
        except Exception:
            logger.exception("%s of %s failed", key.kind, key.id)

    async def _run(self) -> None:
        try:
            while self._at:
                self.act_on_due()
                await self._wait()
        finally:  # also when the event loop ends, after which another one may use the server
            self._running = False

    async def _wait(self) -> None:
        if not self._queue:
            return
        self._changed = anyio.Event()
        wait = min(max(0.0, self._queue[0][0] - self._clock()), _LOOK)
        with anyio.move_on_after(wait):
            await self._changed.wait()
