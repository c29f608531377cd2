"""The timers of a server's subscriptions: one task for all of them."""

from __future__ import annotations

__all__ = ("EventTimers", "TimerKey")

from collections.abc import Callable
from contextvars import Context
from typing import Literal, NamedTuple

from kinwire.managers.timer_wheel import TimerWheel
from kinwire.storage.clock import Clock
from kinwire.support.background import start_detached


class TimerKey(NamedTuple):
    """What happens, and to which subscription or client."""

    kind: Literal["cron", "scheduled", "expire", "forget", "grace"]
    id: str


class EventTimers:
    """Calls the plain function `act` with each key, and its time, when that has come.

    The task belongs to no request and to no session. `clock` is the wall clock.
    """

    def __init__(self, act: Callable[[TimerKey, float], None], clock: Clock) -> None:
        self._act = act
        self._wheel = TimerWheel[TimerKey](self._fire, clock=clock)
        self._running = False

    def set(self, key: TimerKey, at: float | None) -> None:
        """Set a timer to a time in seconds since 1970; None ends it."""
        if at is None:
            self._wheel.discard(key)
            return
        self._wheel.set(key, at)
        if not self._running:
            self._running = True
            Context().run(start_detached, self._run)  # what it sends belongs to no request

    @property
    def behind(self) -> bool:
        """Whether `act` was not called yet with something that is due."""
        return self._wheel.behind

    def look(self) -> None:
        """Look at the clock now, and not only when the next timer is expected to be due."""
        self._wheel.look()

    async def _fire(self, key: TimerKey, at: float) -> None:
        self._act(key, at)

    async def _run(self) -> None:
        try:
            await self._wheel.run()
        finally:  # when the event loop ends, after which another one may use the server
            self._running = False
