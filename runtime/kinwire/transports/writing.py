"""Writing frames to a file descriptor, as many at a time as there are."""

from __future__ import annotations

__all__ = ("FrameWriter",)

import logging
import os
from asyncio import AbstractEventLoop
from collections.abc import Callable

import anyio

from kinwire.rpc.transport import SessionCallbacks

logger = logging.getLogger("kinwire.transports")

_IN_ALL = 10  # times the patience of a writer, for all that waits when the connection closes


class FrameWriter:
    """Takes frames from the session when the descriptor can hold them.

    `fd` does not block if it is `watchable`, and does if it is not. When the other end is gone,
    `broken` is called once, and frames are taken and dropped from then on. When the connection
    closes, it may take nothing for `patience` seconds before what waits is given up.
    """

    def __init__(
        self,
        fd: int,
        callbacks: SessionCallbacks,
        *,
        watchable: bool,
        broken: Callable[[OSError], object],
        patience: float,
    ) -> None:
        self._fd = fd
        self._callbacks = callbacks
        self._loop: AbstractEventLoop | None = callbacks.loop
        self._watchable = watchable
        self._broken: Callable[[OSError], object] | None = broken
        self._patience = patience
        self._rest = memoryview(b"")
        self._waiting = False  # for a callback
        self._woken = anyio.Event()

    def wake(self) -> None:
        """Write now, or where `run` is running."""
        if self._loop is None:
            self._woken.set()
        elif not self._waiting and not self._write():
            self._waiting = True
            self._loop.add_writer(self._fd, self._go_on)

    async def run(self) -> None:
        """Write whenever woken, until cancelled; needed where no callbacks are."""
        while True:
            if self._write():
                await self._woken.wait()
                self._woken = anyio.Event()
            else:
                await anyio.wait_writable(self._fd)

    async def flush(self) -> None:
        """Write what still waits, for as long as the other end goes on taking it."""
        self.stop()
        with anyio.move_on_after(self._patience * _IN_ALL):
            while not self._write():
                with anyio.move_on_after(self._patience) as patience:
                    await anyio.wait_writable(self._fd)
                if patience.cancelled_caught:
                    break
        dropped = len(self._rest)
        while self._callbacks.waiting:
            dropped += sum(map(len, self._callbacks.take()))
        if dropped:
            logger.warning("The peer does not read: %d bytes are not sent any more", dropped)

    def stop(self) -> None:
        """Wait for no callback any more."""
        if self._loop is not None and self._waiting:
            self._loop.remove_writer(self._fd)
            self._waiting = False

    def _go_on(self) -> None:
        if self._write():
            self.stop()

    def _write(self) -> bool:
        """Write what can be written without waiting; return whether that was all."""
        while self._rest or self._callbacks.waiting:
            if not self._rest:
                self._rest = memoryview(b"\n".join([*self._callbacks.take(), b""]))
            if self._broken is None:
                self._rest = memoryview(b"")
                continue
            try:
                written = os.write(self._fd, self._rest)
            except BlockingIOError:
                return False
            except OSError as error:
                self._broken(error)
                self._broken = None
                continue
            self._rest = self._rest[written:]
            if self._rest and self._watchable:
                return False
        return True
