"""Reading from a file descriptor to its end: by callbacks, by waiting, or in a thread.

A thread is for what no event loop can watch: files, terminals, and pipes on Windows.
"""

from __future__ import annotations

__all__ = ("FrameSink", "Sink", "read_all")

import os
from asyncio import AbstractEventLoop, Future
from collections.abc import Callable
from threading import Thread
from typing import Protocol

import anyio
from anyio.from_thread import BlockingPortal
from anyio.lowlevel import checkpoint

from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.lines import Lines

# A large batch of frames alive together makes the allocator trim and grow its heap every turn.
_READ = 32 * 1024
_READ_MOST = 1024 * 1024  # while one line goes on


class Sink(Protocol):
    """Where the bytes go."""

    @property
    def paused(self) -> bool:
        """Return whether to stop until `on_resume` is called."""
        ...

    on_resume: Callable[[], object] | None

    def receive(self, chunk: bytes, /) -> int:
        """Take what was read; return how much to read next."""
        ...


class FrameSink:
    """Cuts frames and hands them to the session."""

    def __init__(self, callbacks: SessionCallbacks) -> None:
        self._callbacks = callbacks
        self._lines = Lines(callbacks.frame_size, callbacks.feed, callbacks.overlong)
        self._size = _READ
        self.on_resume: Callable[[], object] | None = None
        self.end = self._lines.end

    @property
    def torn(self) -> bool:
        """Return whether a message has begun and not ended."""
        return self._lines.torn

    @property
    def paused(self) -> bool:
        """Return whether the session is busy sending."""
        return self._callbacks.paused

    def receive(self, chunk: bytes, /) -> int:
        """Take what was read; return how much to read next."""
        self._lines.receive(chunk)
        grown = min(2 * self._size, _READ_MOST)
        self._size = grown if self._lines.unfinished and len(chunk) == self._size else _READ
        return self._size

    def resume(self) -> None:
        """Go on after a pause."""
        if self.on_resume is not None:
            self.on_resume()


async def read_all(fd: int, sink: Sink, *, loop: AbstractEventLoop | None, watchable: bool) -> None:
    """Read until the end of input; an error counts as the end.

    `fd` does not block if it is `watchable`, and does if it is not.
    """
    if not watchable:
        await _read_in_thread(fd, sink)
    elif loop is None:
        await _read_when_ready(fd, sink)
    else:
        await _read_by_callback(loop, fd, sink)


async def _read_by_callback(loop: AbstractEventLoop, fd: int, sink: Sink) -> None:
    ended: Future[None] = loop.create_future()
    size = _READ

    def readable() -> None:
        nonlocal size
        if sink.paused:
            loop.remove_reader(fd)
            return
        chunk = _read(fd, size)
        if chunk:
            size = sink.receive(chunk)
        elif chunk is not None:
            loop.remove_reader(fd)
            if not ended.done():
                ended.set_result(None)

    def resume() -> None:
        if not ended.done():
            loop.add_reader(fd, readable)

    sink.on_resume = resume
    loop.add_reader(fd, readable)
    try:
        await ended
    finally:
        sink.on_resume = None
        loop.remove_reader(fd)


async def _read_when_ready(fd: int, sink: Sink) -> None:
    size = _READ
    while True:
        await checkpoint()  # what came last is begun, and may have filled the outbox
        await anyio.wait_readable(fd)
        await _until_resumed(sink)
        chunk = _read(fd, size)
        if chunk:
            size = sink.receive(chunk)
        elif chunk is not None:
            return


async def _read_in_thread(fd: int, sink: Sink) -> None:
    ended = anyio.Event()

    async def deliver(chunk: bytes) -> int:
        if not chunk:
            ended.set()
            return 0
        size = sink.receive(chunk)
        await _until_resumed(sink)
        return size

    def read() -> None:
        size = _READ
        while size:
            try:
                size = portal.call(deliver, _read(fd, size) or b"")
            except BaseException:  # the session is over
                return

    async with BlockingPortal() as portal:
        # Not one of anyio's threads: a read that never returns must not keep the process alive.
        Thread(target=read, name="kinwire stdin", daemon=True).start()
        await ended.wait()


async def _until_resumed(sink: Sink) -> None:
    while sink.paused:
        resumed = anyio.Event()
        sink.on_resume = resumed.set
        await resumed.wait()


def _read(fd: int, size: int) -> bytes | None:
    """Return what there is, b"" at the end, None if nothing is there yet."""
    try:
        return os.read(fd, size)
    except BlockingIOError:
        return None
    except OSError:  # the terminal or the other end is gone
        return b""
