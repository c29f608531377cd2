"""What a child process writes to stderr: passed on line by line, and the end of it kept."""

from __future__ import annotations

__all__ = ("Stderr", "StderrSink", "is_stderr")

import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from select import select
from typing import Literal, TextIO, get_args

from kinwire.support.arguments import PLAIN_FUNCTION
from kinwire.support.functions import call_back
from kinwire.transports.lines import Lines

logger = logging.getLogger("kinwire.stderr")

_KEPT = 64 * 1024  # bytes
_READ = 64 * 1024
_LINE = 8 * 1024  # bytes; of a longer line only the beginning is passed on
_PIECE = 1000  # characters; that many bytes fit at least into a pipe that has room

_WORDS = Literal["inherit", "log", "discard"]

Stderr = _WORDS | Callable[[str], object]
"""Where lines of a child's stderr go: to this process's stderr, to a logger, nowhere, or to a plain
function that takes a line."""


def is_stderr(value: object) -> bool:
    """Return whether `value` is a `Stderr`."""
    if isinstance(value, str):
        return value in get_args(_WORDS)
    return PLAIN_FUNCTION.fits(value)


class StderrSink:
    """Takes the bytes, gives lines."""

    paused = False
    on_resume: Callable[[], object] | None = None

    def __init__(self, name: str, stderr: Stderr) -> None:
        self._take = _taker_of(name, stderr)
        self._kept = bytearray()
        self._lines = Lines(_LINE, self._line, lambda head: self._line(head + b"..."))

    @property
    def tail(self) -> str:
        """Return the last 64 KiB."""
        return self._kept.decode(errors="replace")

    def receive(self, chunk: bytes, /) -> int:
        """Take what was read; return how much to read next."""
        self._kept += chunk
        del self._kept[:-_KEPT]
        self._lines.receive(chunk)
        return _READ

    def end(self) -> None:
        """Pass on a last line that has no newline."""
        self._lines.end()

    def _line(self, line: bytes) -> None:
        self._take(line.decode(errors="replace").rstrip("\r"))


def _taker_of(name: str, stderr: Stderr) -> Callable[[str], object]:
    if stderr == "inherit":
        return _to_own_stderr
    if stderr == "log":
        return partial(logger.info, "%s: %s", name)
    if stderr == "discard":
        return lambda line: None
    return lambda line: call_back(stderr, line, logger, f"stderr function of {name}")


def _to_own_stderr(line: str) -> None:
    """Write `line`, or leave it out if that would wait for a reader: it would stop the loop."""
    stream: TextIO | None = sys.stderr  # None in programs without a console
    text = f"{line}\n"
    with suppress(OSError, ValueError):  # a full disk, or a closed stream
        while stream is not None and text and _has_room(stream):
            stream.write(text[:_PIECE])
            stream.flush()
            text = text[_PIECE:]


def _has_room(stream: TextIO) -> bool:
    try:
        return bool(select([], [stream], [], 0)[1])
    except (OSError, TypeError, ValueError):  # it has no descriptor, or none to be waited for
        return True
