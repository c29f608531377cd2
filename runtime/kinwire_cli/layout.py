"""How answers look in a terminal: columns, JSON, colour, and no control characters of a peer."""

from __future__ import annotations

__all__ = (
    "coloured",
    "columns",
    "counted",
    "escaped",
    "first_line",
    "json_text",
    "one_line",
    "printable",
)

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import zip_longest

_HEAD, _TAIL = 1500, 500  # characters; a peer's text may be as long as a message
_CODES = {"green": "32", "yellow": "33", "red": "31", "cyan": "36"}


def columns(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as lines, each cell but a row's last as wide as the widest of its column.

    A cell of several lines goes on below itself.
    """
    table = [
        line
        for row in rows
        for line in zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
    ]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)
    return "\n".join(lines)


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


def coloured(text: str, colour: str | None) -> str:
    """Return `text` in that colour: only if stdout is a terminal and `NO_COLOR` is not set."""
    if colour is None or not _wanted():
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def _wanted() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()
