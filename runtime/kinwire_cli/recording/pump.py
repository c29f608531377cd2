"""Copy bytes from one descriptor to another, immediately and unchanged, in a thread."""

from __future__ import annotations

__all__ = ("Pump", "private")

import os
import select
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import IO

_READ = 64 * 1024
_SILENCE = 0.5  # seconds after which nothing more is expected of a process that is gone


def private(number: int) -> IO[bytes]:
    """Return standard input or output for this one use: the number itself leads nowhere then.

    So closing the copy closes the other end, and a stray print is lost.
    """
    own = open(os.dup(number), "rb" if number == 0 else "wb", buffering=0)  # noqa: SIM115
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, number)
    os.close(nothing)
    return own


class Pump(Thread):
    """One direction. At the end of either side both are closed, so that the other one learns."""

    def __init__(
        self, source: IO[bytes], target: IO[bytes], seen: Callable[[bytes], object]
    ) -> None:
        """`seen` gets each chunk before it is passed on: nothing can come back for it earlier."""
        super().__init__(name="kinwire pump", daemon=True)
        self._source, self._target = source, target
        self._seen = seen
        self._chunks = 0
        self._reading = True

    def run(self) -> None:
        """Carry until one side ends."""
        try:
            while chunk := self._read():
                self._reading = False
                self._chunks += 1
                self._seen(chunk)
                self._write(chunk)
                self._reading = True
        except OSError:  # the other end is gone
            pass
        finally:
            self._seen(b"")
            for side in (self._target, self._source):
                with suppress(OSError):
                    side.close()

    def drain(self, over: Callable[[], bool]) -> None:
        """Wait until all is carried, for as long as bytes come or wait to be taken.

        A process that nobody knows of may hold the source open: then it is not waited for.
        """
        while self.is_alive() and not over():
            before = self._chunks
            self.join(_SILENCE)
            if self._reading and self._chunks == before:
                return

    def _read(self) -> bytes:
        while True:
            with suppress(BlockingIOError):  # it may have been opened as non-blocking
                return os.read(self._source.fileno(), _READ)
            select.select([self._source], [], [])

    def _write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        while rest:
            try:
                rest = rest[os.write(self._target.fileno(), rest) :]
            except BlockingIOError:
                select.select([], [self._target], [])
