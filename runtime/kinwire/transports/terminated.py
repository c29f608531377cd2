"""What a program does that is told to end, by SIGTERM or SIGHUP."""

from __future__ import annotations

__all__ = ("when_told_to_end",)

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

from kinwire.support.signals import end_signals, heard_by_the_loop


@contextmanager
def when_told_to_end(act: Callable[[], object]) -> Generator[None]:
    """Have the first such signal call `act` on asyncio's loop; a second does what it did before.

    What is ignored stays so, and outside the main thread nothing is changed.
    """
    taken = end_signals()
    loop = asyncio.get_running_loop()

    def told(number: int, frame: FrameType | None) -> None:
        give_back()
        loop.call_soon_threadsafe(act)

    def give_back() -> None:
        for number, was in taken.items():
            signal.signal(number, was)

    for number in taken:  # not the loop's own way: a tool may hold the loop up
        signal.signal(number, told)
    try:
        with heard_by_the_loop():
            yield
    finally:
        give_back()
