"""One timer for everything that is due at times of the wall clock, however much it is."""

from __future__ import annotations

__all__ = ("TimerWheel",)

import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, NoReturn, TypeVar

import anyio
from anyio.abc import TaskGroup

from kinwire.managers.due_times import DueTimes
from kinwire.storage.clock import Clock
from kinwire.support.background import background
from kinwire.support.validation import checked_count, checked_seconds

K = TypeVar("K", bound=Hashable)
Sleep = Callable[[float], Awaitable[object]]
Fire = Callable[[K, float], Awaitable[object]]

logger = logging.getLogger("kinwire.managers")

LOOK_SECONDS: Final = 1.0
"""How long a timer sleeps at most, so that it sees soon that the wall clock was set."""


class TimerWheel(Generic[K]):
    """Calls a function for each key when its time has come, of any number of keys.

    Times are those of the wall clock. If it is set, or the process or the machine was stopped, what
    has become due is fired within `look` seconds, each key once; the caller sets its next time.
    What was fired is not fired again when the clock goes back.

    Keys are fired concurrently, at most `at_once` of them, and one key never concurrently with
    itself. An exception of the function is logged.
    """

    def __init__(
        self,
        fire: Fire[K],
        *,
        clock: Clock = time.time,
        sleep: Sleep = anyio.sleep,
        look: float = LOOK_SECONDS,
        at_once: int = 64,
    ) -> None:
        """Prepare a timer; keys are fired within `run`.

        `fire` is called with a key and the time for which it was set, in seconds since 1970.

        Raises:
            ValueError: a number is out of range.
        """
        checked_seconds("TimerWheel: look", look)
        checked_count("TimerWheel: at_once", at_once, least=1)
        self._fire = fire
        self._clock, self._sleep, self._look = clock, sleep, look
        self._times = DueTimes[K]()
        self._due: deque[tuple[K, float]] = deque()
        self._firing: dict[K, list[float]] = {}  # with the times that have come since
        self._free = at_once
        self._wakes_at: float | None = None
        self._earlier = anyio.Event()

    def __len__(self) -> int:
        """Return the number of keys that have a time to come."""
        return len(self._times)

    def get(self, key: K) -> float | None:
        """Return when `key` is due, in seconds since 1970; None without a time."""
        return self._times.get(key)

    def set(self, key: K, at: float) -> None:
        """Set when `key` is due, in seconds since 1970, instead of its time before.

        A time that is over is due immediately.
        """
        self._times.set(key, at)
        if self._wakes_at is None or at < self._wakes_at:
            self._earlier.set()

    def discard(self, key: K) -> None:
        """Remove the time of `key`; a call that is under way goes on."""
        self._times.discard(key)

    @property
    def behind(self) -> bool:
        """Whether something is due that was not fired yet, or is being fired."""
        if self._due or self._firing:
            return True
        first = self._times.first
        return first is not None and first <= self._clock()

    def look(self) -> None:
        """Look at the clock now: it was set."""
        self._earlier.set()

    async def run(self) -> NoReturn:
        """Fire what is due until this is cancelled, as are the calls that are under way then."""
        async with background() as tasks:
            while True:
                self._earlier = anyio.Event()
                now = self._clock()
                self._due.extend(self._times.take(now))
                self._start(tasks)
                await self._wait(now)

    async def _wait(self, now: float) -> None:
        """Wait for the first time, the next look, or a time that is set and comes earlier."""
        self._wakes_at = first = self._times.first
        if first is None:
            await self._earlier.wait()
            return
        seconds = min(first - now, self._look)
        if self._sleep is anyio.sleep:
            with anyio.move_on_after(seconds):  # without a task, which a loop that ends may lose
                await self._earlier.wait()
        else:
            await self._sleep_or_wake(seconds)

    async def _sleep_or_wake(self, seconds: float) -> None:
        async with anyio.create_task_group() as tasks:

            async def sleep() -> None:
                await self._sleep(seconds)
                tasks.cancel_scope.cancel()

            tasks.start_soon(sleep)
            await self._earlier.wait()
            tasks.cancel_scope.cancel()

    def _start(self, tasks: TaskGroup) -> None:
        """Start a worker for each key that is due, as far as there may be more."""
        for _ in range(min(self._free, len(self._due))):
            self._free -= 1
            tasks.start_soon(self._work)

    async def _work(self) -> None:
        try:
            while self._due:
                key, at = self._due.popleft()
                waiting = self._firing.get(key)
                if waiting is not None:
                    waiting.append(at)
                else:
                    await self._fire_all(key, at)
        finally:
            self._free += 1

    async def _fire_all(self, key: K, at: float) -> None:
        """Fire a key, and then for the times that have come while it was fired."""
        times = self._firing[key] = [at]
        try:
            for one in times:
                await self._fire_one(key, one)
        finally:
            del self._firing[key]

    async def _fire_one(self, key: K, at: float) -> None:
        try:
            await self._fire(key, at)
        except Exception:
            logger.exception("something that was due has failed")
