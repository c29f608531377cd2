"""The signals that ask a process to end, SIGTERM and SIGHUP, and how any is heard.

Python runs handlers between two steps of its own: a signal that comes right before a system call
that blocks would not be heard until that returns. So blocking code waits for wake-ups too.
"""

from __future__ import annotations

__all__ = ("end_signals", "heard_by_the_loop", "on_end_signal", "wakeups")

import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket


def end_signals() -> dict[int, Callable[[int, FrameType | None], Any] | int | None]:
    """Return those that may be handled here, each with what handles it now.

    What is ignored (nohup) is to stay so and is left out, as are all of them outside the main
    thread, which alone can set handlers, and those that the platform does not have.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    names = ("SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    found = {number: signal.getsignal(number) for number in numbers}
    return {one: was for one, was in found.items() if was not in (None, signal.SIG_IGN)}


@contextmanager
def wakeups() -> Generator[tuple[socket.socket, socket.socket]]:
    """Yield two ends of a pipe; in the main thread, every signal writes to the second."""
    import socket  # not for those who only ask for numbers

    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        mine = threading.current_thread() is threading.main_thread()
        before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False) if mine else -1
        try:
            yield reader, writer
        finally:
            if mine:
                signal.set_wakeup_fd(before)


@contextmanager
def heard_by_the_loop() -> Generator[None]:
    """Have every signal wake asyncio's loop that runs here. trio's and that of Windows do so."""
    import asyncio

    if sys.platform == "win32":  # and what wakes that one must not be taken from it
        yield
        return
    loop = asyncio.get_running_loop()
    with wakeups() as (reader, _):
        reader.setblocking(False)
        loop.add_reader(reader, reader.recv, 4096)
        try:
            yield
        finally:
            loop.remove_reader(reader)


@contextmanager
def on_end_signal(act: Callable[[], object]) -> Generator[None]:
    """Call `act` on asyncio's loop at the first SIGTERM or SIGHUP; a second acts as before.

    Ignored signals stay ignored, and outside the main thread nothing is changed.
    """
    import asyncio

    taken = end_signals()
    loop = asyncio.get_running_loop()

    def handle(number: int, frame: FrameType | None) -> None:
        give_back()
        loop.call_soon_threadsafe(act)

    def give_back() -> None:
        for number, was in taken.items():
            signal.signal(number, was)

    for number in taken:  # not the loop's own way: a tool may hold the loop up
        signal.signal(number, handle)
    try:
        with heard_by_the_loop():
            yield
    finally:
        give_back()
