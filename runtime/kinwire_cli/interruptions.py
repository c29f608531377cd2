"""SIGTERM and SIGHUP end a verb as Ctrl-C does: what it has started is ended first.

An interruption at any moment says nothing. One that comes while an event loop is being made leaves
half of it, whose end Python would tell as an exception that it ignores.
"""

from __future__ import annotations

__all__ = ("Interruptions",)

import gc
import signal
import sys
from types import FrameType, TracebackType
from typing import Any

from kinwire.support.signals import end_signals


class Interruptions:
    """A context in which they do, and the exit code that they ask for."""

    def __init__(self) -> None:
        self._number = signal.SIGINT.value
        self._taken: list[int] = []
        self._told: Any = None

    @property
    def exit_code(self) -> int:
        """What a shell reports of a program that the signal has ended."""
        return 128 + self._number

    @property
    def came(self) -> bool:
        """Whether one of them came."""
        return self._number != signal.SIGINT

    def __enter__(self) -> Interruptions:
        # A program that calls `main` keeps the handlers that it has set.
        self._taken = [one for one, was in end_signals().items() if was is signal.SIG_DFL]
        for number in self._taken:
            signal.signal(number, self._interrupt)
        return self

    def hush(self) -> None:
        """Say nothing, to the end of this context, of what the interruption left half done."""
        self._told = sys.unraisablehook
        sys.unraisablehook = _say_nothing

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number in self._taken:
            signal.signal(number, signal.SIG_DFL)
        if self._told is not None:
            gc.collect()  # what refers to itself would go, and be told of, later
            sys.unraisablehook = self._told

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._number = number
        handler = signal.getsignal(signal.SIGINT)  # the event loop's own while one is running
        if callable(handler):
            handler(signal.SIGINT, frame)
        else:  # a shell lets programs in the background ignore it
            raise KeyboardInterrupt


def _say_nothing(_: object) -> None:
    """Take what nobody can handle."""
