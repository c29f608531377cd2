"""The signals that ask a process to end, SIGTERM and SIGHUP, and how any is heard.

Python runs handlers between two steps of its own: a signal that comes right before a system call
that blocks would not be heard until that returns. So blocking code waits for wake-ups too.
"""

from __future__ import annotations

__all__ = ("end_signals", "heard_by_the_loop", "on_end_signal", "wakeups")

import signal
import sys
import threading
from collections.abc import Callable, Generator, Mapping
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
    from kinwire.support.background import running_loop  # anyio is not for who only ends

    loop = running_loop()
    if loop is None or sys.platform == "win32":  # what wakes these must not be taken from them
        yield
        return
    with wakeups() as (reader, _):
        reader.setblocking(False)
        loop.add_reader(reader, reader.recv, 4096)
        try:
            yield
        finally:
            loop.remove_reader(reader)


@contextmanager
def on_end_signal(act: Callable[[], object], heed: Callable[[int], object]) -> Generator[None]:
    """Call `act` on the running loop at the first SIGTERM or SIGHUP; a second acts as before.

    `heed` is called immediately with the number of the first, and with that of each SIGINT, also
    while the loop stands still. What SIGINT does is not changed. Ignored signals stay ignored, and
    outside the main thread nothing is changed.
    """
    from kinwire.support.background import call_soon

    taken, interrupt = end_signals(), _interrupt_handler()
    soon = call_soon()

    def handle(number: int, frame: FrameType | None) -> None:
        heed(number)
        _set(taken)
        soon(act)

    def pass_on(number: int, frame: FrameType | None) -> None:
        heed(number)
        for handler in interrupt.values():
            handler(number, frame)

    _set(dict.fromkeys(taken, handle))  # not the loop's own way: a tool may hold the loop up
    _set(dict.fromkeys(interrupt, pass_on))
    try:
        with heard_by_the_loop():
            yield
    finally:
        _set({**taken, **interrupt})


def _set(handlers: Mapping[int, Callable[[int, FrameType | None], Any] | int | None]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _interrupt_handler() -> dict[int, Callable[[int, FrameType | None], Any]]:
    """Return what handles Ctrl-C here, if it can be handled here."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    found = signal.getsignal(signal.SIGINT)
    return {signal.SIGINT: found} if callable(found) else {}
