"""A server's own standard input and output (MCP, stdio).

The descriptors 0 and 1 are kept private while it serves: 1 points at stderr and 0 at nothing, so
a stray `print`, or a child process that inherits them, can neither write into the protocol nor
eat from it.
"""

from __future__ import annotations

__all__ = ("OwnStdio",)

import os
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.support.watchdog import Watchdog
from kinwire.transports.descriptors import DescriptorTransport
from kinwire.transports.reading import FrameSink, read_all
from kinwire.transports.writing import FrameWriter

# Seconds without the client reading what it has asked for before it closed this server's input. A
# client that is gone is noticed immediately, and one that loses patience sends a signal.
_LAST_ANSWERS = 5.0
_ENDED = "The client closed this server's standard input."
_STOPPED = "The server was asked to end."
_BROKEN = "The client does not read this server's standard output any more."


class OwnStdio(DescriptorTransport):
    """The connection to the program that started this process.

    `refused` is why standard output took no answers though the client has not left, as on a full
    disk; None as long as it takes them. `watchdog` sees to the end of the process once the client
    has closed the input, and once this is closed.
    """

    peer_may_emit_noise = False
    address: str | None = None

    def __init__(self, watchdog: Watchdog | None = None) -> None:
        self._watchdog = watchdog
        self.refused: OSError | None = None
        self._input: _Private | None = None
        self._output: _Private | None = None
        self._callbacks: SessionCallbacks | None = None
        self._stopped = False

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        self._callbacks = callbacks
        if self._stopped:
            self.stop()
        self._input, self._output = own_input, own_output = _take_over()
        self._sink = sink = FrameSink(callbacks)
        self._writer = writer = FrameWriter(
            own_output.fd,
            callbacks,
            watchable=own_output.watchable,
            broken=partial(self._broken, callbacks),
            patience=_LAST_ANSWERS,
        )
        if self._watchdog is not None:
            self._watchdog.watch_loop(own_input.fd if own_input.watchable else None)
        async with anyio.create_task_group() as tasks:
            if callbacks.loop is None:
                tasks.start_soon(writer.run)
            writer.wake()  # for what was called before
            await read_all(own_input.fd, sink, loop=callbacks.loop, watchable=own_input.watchable)
            sink.end()
            if self._watchdog is not None:
                self._watchdog.heed()
            callbacks.end(ConnectionClosedError(_ENDED))
            await anyio.sleep_forever()

    def stop(self) -> None:
        """End the session, also before it has begun: handlers get a moment to finish."""
        self._stopped = True
        if self._callbacks is not None:
            self._callbacks.ask_to_end(ConnectionClosedError(_STOPPED))

    async def aclose(self) -> None:
        """Write what waits and give the descriptors back."""
        if self._writer is not None:
            await self._writer.flush()
        with suppress(AttributeError, OSError, ValueError):  # it may be missing or closed
            sys.stdout.flush()  # stray prints, while they still go to stderr
        for private in (self._output, self._input):  # in reverse: the two may be one open file
            if private is not None:
                private.give_back()
        if self._watchdog is not None:
            self._watchdog.over()

    def _broken(self, callbacks: SessionCallbacks, error: OSError) -> None:
        if not isinstance(error, ConnectionError):
            self.refused = error
        callbacks.end(ConnectionClosedError(_BROKEN))


@dataclass(slots=True)
class _Private:
    """A standard descriptor's own copy, and what is needed to put it back."""

    number: int
    fd: int
    watchable: bool
    original: int
    blocking: bool

    def give_back(self) -> None:
        os.set_blocking(self.original, self.blocking)
        os.dup2(self.original, self.number)
        os.close(self.original)
        os.close(self.fd)


def _take_over() -> tuple[_Private, _Private]:
    own_input, own_output = _private(0, os.O_RDONLY), _private(1, os.O_WRONLY)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed
        os.dup2(nothing, 1)
    os.close(nothing)
    return own_input, own_output


def _private(number: int, flags: int) -> _Private:
    original = os.dup(number)
    blocking = os.get_blocking(original)
    mode = os.fstat(original).st_mode
    watchable = sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))
    fd = _opened_again(number, flags) if watchable else None
    if fd is None:
        fd = os.dup(number)
        if watchable:
            os.set_blocking(fd, False)
    return _Private(number, fd, watchable, original, blocking)


def _opened_again(number: int, flags: int) -> int | None:
    """Return the pipe opened once more, without blocking; None if that cannot be done.

    O_NONBLOCK belongs to the open file: set on a copy, it would hold for all that share the
    original, such as stderr after `2>&1`. A named pipe without a writer would never report its
    end when opened again.
    """
    path = f"/proc/self/fd/{number}"
    try:
        if os.readlink(path).startswith("pipe:"):
            return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # no /proc here, or a pipe of another user
        pass
    return None
