"""The standard streams of the command, whatever state they are handed over in.

A descriptor that is closed leads to the null device, or the next file that is opened would get
its number and be taken for it. A sign that the encoding lacks is written as JSON escapes it. What
stderr does not take, as on a full disk, is lost: it changes no answer and no exit code.
"""

from __future__ import annotations

__all__ = ("give_up_stdout", "prepare_streams", "unwritten")

import codecs
import errno
import os
import sys
from contextlib import suppress
from io import BufferedWriter, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING

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


def _lose_what_stderr_refuses() -> None:
    """Make it take all; a terminal, and what a caller of `main` has put there, stay as they are."""
    own = sys.stderr
    if own is sys.__stderr__ and isinstance(own, TextIOWrapper) and not own.isatty():
        file = BufferedWriter(_Lossy())
        sys.stderr = TextIOWrapper(file, own.encoding, own.errors, line_buffering=True)


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
