"""What a server writes to its stderr: the last lines, numbered, for those who ask later."""

from __future__ import annotations

__all__ = ("LogLine", "LogLines")

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import anyio

_KEPT = 1000  # lines of one server; `stdio` cuts lines at 8 KiB


class LogLine(NamedTuple):
    """A line that a server wrote."""

    number: int
    """Rises by one with each line of the server, also over restarts; the first is 1."""
    at: float
    """When it was read, in seconds since 1970."""
    text: str
    """What the server wrote: not to be trusted, and it may have secrets in it."""


class LogLines:
    """The last thousand lines of one server, over all its runs."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lines = deque[LogLine](maxlen=_KEPT)
        self._last = 0
        self._news = anyio.Event()

    def add(self, text: str) -> None:
        """Keep a line."""
        self._last += 1
        self._lines.append(LogLine(self._last, self._clock(), text))
        self._news.set()

    def after(self, number: int = 0) -> list[LogLine]:
        """Return the lines that are kept, from the one after `number` on."""
        return [line for line in self._lines if line.number > number]

    async def wait_after(self, number: int) -> list[LogLine]:
        """Return the lines after `number`, as soon as there is one."""
        while self._last <= number:
            if self._news.is_set():
                self._news = anyio.Event()
            await self._news.wait()
        return self.after(number)
