"""A time that passes when a test says so."""

from __future__ import annotations

__all__ = ("FakeTime",)

from heapq import heappop, heappush
from itertools import count

import anyio
from anyio.lowlevel import checkpoint

_TURNS = 12  # of the loop, after which everything waits that needs no thread


class FakeTime:
    """A clock, and a sleep that ends when the clock has come so far."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self._waiting: list[tuple[float, int, anyio.Event]] = []
        self._numbers = count()

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        woken = anyio.Event()
        heappush(self._waiting, (self.now + seconds, next(self._numbers), woken))
        await woken.wait()

    async def advance(self, seconds: float) -> None:
        """Let so much time pass, with every sleep that ends on the way."""
        until = self.now + seconds
        await _settle()
        while self._waiting and self._waiting[0][0] <= until:
            ends, _, woken = heappop(self._waiting)
            self.now = max(self.now, ends)
            woken.set()
            await _settle()
        self.now = max(self.now, until)


async def _settle() -> None:
    for _ in range(_TURNS):  # anyio.wait_all_tasks_blocked takes 0.1 s on asyncio
        await checkpoint()
