"""Lines at the end of a terminal that are drawn again and again, while other text goes above them.

Nothing flickers: a drawing is one write, and goes over the one before instead of erasing it first.
"""

from __future__ import annotations

__all__ = ("LiveLines", "live_lines")

import os
import re
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, suppress
from typing import Any, TextIO, cast

_UP, _TO_END_OF_LINE, _TO_END = "\x1b[{}A", "\x1b[K", "\x1b[J"
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"  # a terminal that knows these shows all together
_CUT, _WRAP = "\x1b[?7l", "\x1b[?7h"  # what is wider than the terminal: a sign may take two columns
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_SIZE = os.terminal_size((80, 24))  # where the terminal does not say


class LiveLines:
    """The lines on a terminal, and a stream for what goes above them."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._drawn: list[str] = []
        self._rest = ""  # of a line above, whose end has not been written

    @property
    def size(self) -> os.terminal_size:
        """Return columns and lines of the terminal now."""
        try:
            size = os.get_terminal_size(self._terminal.fileno())
        except OSError:
            return _SIZE
        return size if all(size) else _SIZE

    def draw(self, lines: Sequence[str]) -> None:
        """Show `lines` in the place of those before; none may be wider than the terminal."""
        before, self._drawn = self._used(), list(lines)
        self._put(before, "")

    def write(self, text: str) -> int:
        """Write text above the lines, a line at a time."""
        *whole, self._rest = f"{self._rest}{text}".split("\n")
        if whole:
            above = "".join(f"{line}{_TO_END_OF_LINE}\n" for line in whole)
            self._put(self._used(), above)
        return len(text)

    def end(self) -> None:
        """Leave the lines where they are."""
        if self._rest:
            self.write("\n")
        self._drawn = []

    def flush(self) -> None:
        """Do nothing: every write is flushed."""

    def _used(self) -> int:
        """Return how many lines of the terminal are drawn on: a narrower one has folded some."""
        width = self.size.columns
        return sum(max(1, -(-len(_COLOUR.sub("", line)) // width)) for line in self._drawn)

    def _put(self, before: int, above: str) -> None:
        up = _UP.format(before) if before else ""
        lines = "".join(f"{line}{_TO_END_OF_LINE}\n" for line in self._drawn)
        with suppress(OSError):  # the terminal is gone
            self._terminal.write(f"{_BEGIN}\r{up}{above}{_CUT}{lines}{_WRAP}{_TO_END}{_END}")
            self._terminal.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._terminal, name)


@contextmanager
def live_lines() -> Generator[LiveLines]:
    """Yield lines on stdout, which is a terminal; what goes to stderr goes above them."""
    lines = LiveLines(sys.stdout)
    with redirect_stderr(cast("TextIO", lines)) if sys.stderr.isatty() else nullcontext():
        try:
            yield lines
        finally:
            lines.end()
