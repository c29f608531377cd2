"""Colour for a word of an answer, on a terminal that wants it; nothing depends on it."""

from __future__ import annotations

__all__ = ("coloured",)

import os
import sys

_CODES = {"green": "32", "yellow": "33", "red": "31", "cyan": "36"}


def coloured(text: str, colour: str | None) -> str:
    """Return `text` in that colour: only if stdout is a terminal and `NO_COLOR` is not set."""
    if colour is None or not _wanted():
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def _wanted() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()
