"""What the command does to its process: standard streams that are safe to use, and signals.

A descriptor that is closed leads to the null device, or the next file that is opened would get
its number and be taken for it. A sign that the encoding lacks is written as JSON escapes it. What
stderr does not take, as on a full disk, is lost: it changes no answer and no exit code.

SIGTERM and SIGHUP end a subcommand as Ctrl-C does: what it has started is ended first. An
interruption at any moment prints nothing. One that comes while an event loop is being made leaves
half of it, whose end Python would report as an exception that it ignores.
"""

from __future__ import annotations

__all__ = ("Interruptions", "give_up_stdout", "prepare_streams", "unwritten")

import codecs
import errno
import gc
import os
import signal
import sys
from contextlib import suppress
from io import BufferedWriter, RawIOBase, TextIOWrapper
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from kinwire.support.signals import end_signals
from kinwire_cli.failure import UsageError
from kinwire_cli.layout import escaped

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_ERRORS = "kinwire-escape"
_REFUSED = (errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC)


def prepare_streams() -> None:
    """Make the streams safe to use.

    Raises:
        UsageError: stdout is closed, so no answer could be given.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
    if sys.stderr is None:  # print would write to stdout then
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    _lose_what_stderr_refuses()
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        raise UsageError("stdout is closed.", "> /dev/null discards answers.")
    codecs.register_error(_ERRORS, _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors=_ERRORS)


class _Lossy(RawIOBase):
    """Descriptor 2 as a file that takes whatever is written, and loses what it cannot keep."""

    def fileno(self) -> int:
        return 2

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return os.write(2, data)
        except OSError:
            return memoryview(data).nbytes


class _BehindStdout(TextIOWrapper):
    """Keeps the order of what is written, as in `2>&1`: stdout is not flushed by itself there."""

    def write(self, text: str, /) -> int:
        with suppress(AttributeError, OSError, ValueError):  # the flush at the end says so
            sys.stdout.flush()
        return super().write(text)


def _lose_what_stderr_refuses() -> None:
    """Make it take all; a terminal, and what a caller of `main` has put there, stay as they are."""
    own = sys.stderr
    if own is sys.__stderr__ and isinstance(own, TextIOWrapper) and not own.isatty():
        file = BufferedWriter(_Lossy())
        sys.stderr = _BehindStdout(file, own.encoding, own.errors, line_buffering=True)


def give_up_stdout() -> None:
    """Forget what stdout could not take: the interpreter's own flush at exit must not complain."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def unwritten(error: Exception) -> UsageError | None:
    """Return what to tell instead of `error` if stdout has refused an answer, as on a full disk."""
    if not isinstance(error, OSError) or error.filename is not None or error.errno not in _REFUSED:
        return None
    give_up_stdout()
    return UsageError(f"The answer cannot be written to stdout: {error.strerror}.")


def _escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return escaped(error.object[error.start : error.end]), error.end


class Interruptions:
    """A context in which they do, and the exit code that they ask for."""

    def __init__(self) -> None:
        self._number = signal.SIGINT.value
        self._taken: list[int] = []
        self._hook: Any = None

    @property
    def exit_code(self) -> int:
        """Return what a shell reports of a program that the signal has ended."""
        return 128 + self._number

    @property
    def came(self) -> bool:
        """Return whether one of them came."""
        return self._number != signal.SIGINT

    def __enter__(self) -> Interruptions:
        # A program that calls `main` keeps the handlers that it has set.
        self._taken = [one for one, was in end_signals().items() if was is signal.SIG_DFL]
        for number in self._taken:
            signal.signal(number, self._interrupt)
        return self

    def hush(self) -> None:
        """Until the end of this context, report nothing that the interruption left half done."""
        self._hook = sys.unraisablehook
        sys.unraisablehook = _say_nothing

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number in self._taken:
            signal.signal(number, signal.SIG_DFL)
        if self._hook is not None:
            gc.collect()  # objects in cycles would be freed, and reported, later
            sys.unraisablehook = self._hook

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._number = number
        handler = signal.getsignal(signal.SIGINT)  # the event loop's own while one is running
        if callable(handler):
            handler(signal.SIGINT, frame)
        else:  # a shell lets programs in the background ignore it
            raise KeyboardInterrupt


def _say_nothing(_: object) -> None:
    """Take what nobody can handle."""
