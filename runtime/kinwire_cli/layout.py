"""How answers look in a terminal: columns, JSON, colour, and no control characters of a peer."""

from __future__ import annotations

__all__ = (
    "coloured",
    "columns",
    "counted",
    "escaped",
    "first_line",
    "fitted",
    "json_text",
    "one_line",
    "printable",
    "terminal_width",
    "with_labels",
)

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from shutil import get_terminal_size
from textwrap import wrap
from typing import TextIO

_HEAD, _TAIL = 1500, 500  # characters; a peer's text may be as long as a message
_CODES = {"bold": "1", "green": "32", "yellow": "33", "red": "31", "cyan": "36"}
_LABELS = {"error:": "red", "hint:": "cyan", "note:": "yellow"}
_LABEL = re.compile(r"^((?:kinwire[a-z ]*: )?)(error:|hint:|note:)", re.MULTILINE)
_BETWEEN, _DEEPER = "  ", "    "  # columns of a table, and the second line of a row
_NARROWEST = 12  # characters of a column that is made narrower
_BREAKS = re.compile(r"(?<=[/:_.])|(?<=[a-z])(?=[A-Z])")


def columns(rows: Iterable[Sequence[str]], width: int | None = None) -> str:
    """Return rows as lines, each cell but a row's last as wide as the widest of its column.

    A cell of several lines goes on below itself. The lines fit `width`, by default the terminal;
    outside of a terminal they are as long as they are.
    """
    table = [tuple(row) for row in rows]
    room = width or terminal_width()
    widths = [max(map(_width, cells)) for cells in zip(*table, strict=True)]
    if room is not None and widths:
        fitting = _fitting(widths, room - len(_BETWEEN) * (len(widths) - 1))
        if fitting is None:
            return "\n".join(line for row in table for line in _stacked(row, room))
        table = [tuple(map(_folded, row, fitting)) for row in table]
    return _aligned(table)


def terminal_width() -> int | None:
    """Return the columns of the terminal that stdout is, or None if it is not a terminal."""
    return get_terminal_size().columns if sys.stdout.isatty() else None


def fitted(text: str, indent: str = "") -> str:
    """Return `text` wrapped to the terminal, from the second line on behind `indent`."""
    width = terminal_width()
    if width is None or len(text) <= width:
        return text
    lines = wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines)


def _aligned(rows: Iterable[Sequence[str]]) -> str:
    table = [
        line
        for row in rows
        for line in zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
    ]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    lines = (_BETWEEN.join(map(str.ljust, row, widths)).rstrip() for row in table)
    return "\n".join(lines)


def _width(cell: str) -> int:
    return max(map(len, cell.split("\n")))


def _fitting(widths: Sequence[int], room: int) -> list[int] | None:
    """Return `widths` with the widest made narrower until they fit, None if too narrow to read."""
    narrowed = list(widths)
    while sum(narrowed) > room:
        widest = max(narrowed)
        if widest <= _NARROWEST:
            return None
        narrowed[narrowed.index(widest)] -= 1
    return narrowed


def _stacked(row: Sequence[str], room: int) -> Iterator[str]:
    """Yield a row as its first cell, and the others below it."""
    first, *others = row
    yield first
    text = _BETWEEN.join(" ".join(cell.split()) for cell in others if cell)
    for line in _folded(text, room - len(_DEEPER)).split("\n"):
        if line:
            yield _DEEPER + line


def _folded(cell: str, width: int) -> str:
    """Return a cell in lines of at most `width`, broken between words where that is possible."""
    if _width(cell) <= width:
        return cell
    words = " ".join(cell.split("\n"))
    lines = wrap(words, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(part for line in lines for part in _parts(line, width))


def _parts(word: str, width: int) -> Iterator[str]:
    """Yield a long word in parts: behind a slash or a colon, before a capital, else anywhere."""
    line = ""
    for piece in _BREAKS.split(word):
        if line and len(line) + len(piece) > width:
            yield line
            line = ""
        line += piece
        while len(line) > width:
            yield line[:width]
            line = line[width:]
    yield line


def counted(count: int, what: str) -> str:
    """Return `1 line`, `2 lines`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def first_line(text: str) -> str:
    """Return the first line of a peer's text, as a terminal may show it."""
    return printable(text.strip().partition("\n")[0])


def json_text(value: object) -> str:
    """Return `value` as indented JSON that a terminal shows as it is."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    # A number too large to be read, such as 1e999; no string ends its line without a quote.
    return printable(re.sub(r"Infinity(?=,?$)", "1e999", text, flags=re.MULTILINE))


def one_line(text: str) -> str:
    """Return `text` on one line, as a terminal may show it; of a long one both its ends.

    So nobody's text can pass for a line of this command's own.
    """
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} … {text[-_TAIL:]}"
    return printable(text.replace("\n", " "))


def printable(text: str) -> str:
    r"""Return `text` with what would steer a terminal written as `\u....`; line ends stay."""
    return "".join(sign if sign.isprintable() or sign == "\n" else escaped(sign) for sign in text)


def escaped(text: str) -> str:
    """Return `text` as JSON escapes it, which is right inside JSON too."""
    return json.dumps(text)[1:-1]


def coloured(text: str, colour: str | None, stream: TextIO | None = None) -> str:
    """Return `text` in that colour, if `stream` (default: stdout) takes colour.

    A terminal does. NO_COLOR says that none does, FORCE_COLOR that files and pipes do too.
    """
    if colour is None or not _takes_colour(stream or sys.stdout):
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def with_labels(text: str) -> str:
    """Return lines for stderr with `error:` and `hint:` at their start in colour."""
    return _LABEL.sub(
        lambda found: found[1] + coloured(found[2], _LABELS[found[2]], sys.stderr), text
    )


def _takes_colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and stream.isatty()
