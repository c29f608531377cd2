"""Writing frames to a file descriptor, as many at a time as there are."""

from __future__ import annotations

__all__ = ("FrameWriter",)

import logging
import os
from asyncio import AbstractEventLoop
from collections.abc import Callable
from functools import partial

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

    __slots__ = (
        "_broken",
        "_callbacks",
        "_fd",
        "_loop",
        "_offered",
        "_patience",
        "_rest",
        "_waiting",
        "_watchable",
        "_woken",
    )

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
        self._offered = False  # whether others may write, too: nothing of what was taken waits

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
                return self._offer(False)
            except OSError as error:
                self._broken(error)
                self._broken = None
                continue
            self._rest = self._rest[written:]
            if self._rest and self._watchable:
                return self._offer(False)
        return self._offered or self._offer(True)

    def _offer(self, free: bool) -> bool:
        """Let the session write by itself, or not while what was taken has to leave first."""
        self._offered = free
        usable = free and self._watchable and self._broken is not None
        write = partial(os.write, self._fd) if usable else None
        self._callbacks.write_with(write, self._keep)
        return free

    def _keep(self, rest: bytes) -> None:
        """Write the rest of what the session has begun to write."""
        self._rest = memoryview(rest)
        self._offer(False)
        self.wake()
