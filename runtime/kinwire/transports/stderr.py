"""What a child process writes to stderr: passed on line by line, and the end of it kept."""

from __future__ import annotations

__all__ = ("StderrSink",)

import logging
from collections.abc import Callable

from kinwire.support.callbacks import call_back
from kinwire.transports.lines import Lines

logger = logging.getLogger("kinwire.stderr")

_KEPT = 64 * 1024  # bytes
_READ = 64 * 1024
_LINE = 8 * 1024  # bytes; of a longer line only the beginning is passed on


class StderrSink:
    """Takes the bytes, gives lines."""

    paused = False
    on_resume: Callable[[], object] | None = None

    def __init__(self, name: str, on_line: Callable[[str], object] | None) -> None:
        self._name = name
        self._on_line = on_line
        self._kept = bytearray()
        self._lines = Lines(_LINE, self._line, lambda head: self._line(head + b"..."))

    @property
    def tail(self) -> str:
        """The last 64 KiB."""
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
        text = line.decode(errors="replace").rstrip("\r")
        if self._on_line is None:
            logger.info("%s: %s", self._name, text)
            return
        call_back(self._on_line, text, logger, f"on_stderr function of {self._name}")
