"""A line at the end of stderr that shows what is waited for, and that goes before other text."""

from __future__ import annotations

__all__ = ("StatusLine", "status_held", "takes_status", "watched_stderr")

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stderr
from time import monotonic
from typing import Any, TextIO, cast

_ERASE = "\r\x1b[K"  # to the start of the line, and all behind it goes
_FREE = 3  # columns behind the status, where a terminal shows ^C
_WIDTH = 80  # where the terminal does not say how wide it is

_held: list[None] = []  # one for each block that holds statuses back


def takes_status(stream: TextIO) -> bool:
    """Return whether `stream` is a terminal on which a line can be erased."""
    return os.environ.get("TERM") != "dumb" and stream.isatty()


class StatusLine:
    """A stream in front of a terminal: the status is erased before other text is written."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._shown = False
        self.last_text = monotonic()
        """When other text was written, or else when this was made."""

    def write(self, text: str) -> int:
        """Write other text than the status."""
        self.erase()
        self.last_text = monotonic()
        return self._terminal.write(text)

    def show(self, status: str) -> None:
        """Write the status, on one line, in the place of the one before."""
        if _held:
            return
        self._terminal.write(f"{_ERASE}{status[: _columns_of(self._terminal) - _FREE]}")
        self._terminal.flush()
        self._shown = True

    def erase(self) -> None:
        """Remove the status."""
        if self._shown:
            self._terminal.write(_ERASE)
            self._terminal.flush()
            self._shown = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._terminal, name)


@contextmanager
def watched_stderr() -> Generator[StatusLine]:
    """Put a status line in front of stderr; at the end nothing is left of it."""
    line = StatusLine(sys.stderr)
    try:
        with redirect_stderr(cast("TextIO", line)):
            yield line
    finally:
        line.erase()


@contextmanager
def status_held() -> Generator[None]:
    """Show no status in the block: somebody is asked, and types at the end of stderr."""
    _held.append(None)
    try:
        yield
    finally:
        _held.pop()


def _columns_of(terminal: TextIO) -> int:
    try:
        return os.get_terminal_size(terminal.fileno()).columns or _WIDTH
    except OSError:
        return _WIDTH
