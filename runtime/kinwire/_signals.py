"""The signals with which a process is told to end, SIGTERM and SIGHUP."""

from __future__ import annotations

__all__ = ("end_signals",)

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any


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
