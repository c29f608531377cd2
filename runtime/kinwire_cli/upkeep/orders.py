"""What the user asks of `kinwire up` by signals.

SIGTERM and Ctrl-C end it once its servers have drained, a second one of them immediately. SIGHUP
reads the configuration again, unless it comes because the terminal was closed.
"""

from __future__ import annotations

__all__ = ("Orders",)

import os
import signal
from collections.abc import Iterator

import anyio


class Orders:
    """Which orders came, for those who wait for them."""

    def __init__(self) -> None:
        self.drain = anyio.Event()
        """To end once all calls are answered."""
        self.end = anyio.Event()
        """To wait for nothing any more."""
        self.number: int | None = None
        """The signal that came last of those that end a program."""
        self._reload = anyio.Event()
        self._on_terminal = os.isatty(0)

    async def follow(self) -> None:
        """Take signals until this is cancelled."""
        with anyio.open_signal_receiver(*_taken()) as signals:
            async for number in signals:
                self.note(number)

    async def wait_reload(self) -> None:
        """Return when the configuration is to be read again."""
        await self._reload.wait()
        self._reload = anyio.Event()

    def note(self, number: int) -> None:
        """Note a signal."""
        lost = self._on_terminal and not os.isatty(0)
        if number == getattr(signal, "SIGHUP", None) and not lost:
            self._reload.set()
            return
        self.number = number
        (self.end if self.drain.is_set() else self.drain).set()


def _taken() -> Iterator[signal.Signals]:
    """Yield the signals to take; what a shell or `nohup` has ignored still ends nothing."""
    for one in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(one) is not signal.SIG_IGN:
            yield one
    yield signal.SIGHUP
