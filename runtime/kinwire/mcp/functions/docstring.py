"""Parse a docstring: the text, and the parameters (Google, NumPy and reST style).

Only sections and field lists without indentation are recognized. Anything else is text.
"""

from __future__ import annotations

__all__ = ("split_docstring",)

import re
from collections.abc import Iterator
from inspect import cleandoc
from textwrap import dedent

_GOOGLE_TITLE = re.compile(r"(Args|Arguments|Parameters):")
_GOOGLE_ENTRY = re.compile(r"(?P<name>\w+)\s*(\([^)]*\))?:\s*(?P<text>.*)")
_NUMPY_ENTRY = re.compile(r"(?P<name>\w+)\s*(:.*)?(?P<text>)")
_REST_ENTRY = re.compile(r":param\s+([^:]*\s)?(?P<name>\w+):\s*(?P<text>.*)")


def split_docstring(docstring: str | None) -> tuple[str, dict[str, str]]:
    """Return the text without the section of parameters, and the parameters' descriptions."""
    lines = cleandoc(docstring or "").splitlines()
    start, body, stop, entry = _section(lines)
    text = "\n".join(lines[:start] + lines[stop:]).strip()
    return text, dict(_described(lines[body:stop], entry))


def _section(lines: list[str]) -> tuple[int, int, int, re.Pattern[str]]:
    """Return the lines where the section and its entries start, where it stops, and its format."""
    for at, line in enumerate(lines):
        if _GOOGLE_TITLE.fullmatch(line):
            return at, at + 1, _end(lines, at + 1), _GOOGLE_ENTRY
        if line == "Parameters" and _is_rule(lines, at + 1):
            after = (n for n in range(at + 2, len(lines)) if _is_rule(lines, n + 1))
            return at, at + 2, next(after, len(lines)), _NUMPY_ENTRY
        if _REST_ENTRY.match(line):
            fields = [n for n in range(at, len(lines)) if _REST_ENTRY.match(lines[n])]
            return at, at, _end(lines, fields[-1] + 1), _REST_ENTRY
    return len(lines), len(lines), len(lines), _GOOGLE_ENTRY


def _end(lines: list[str], start: int) -> int:
    outside = (n for n in range(start, len(lines)) if lines[n] and not lines[n][0].isspace())
    return next(outside, len(lines))


def _is_rule(lines: list[str], at: int) -> bool:
    return at < len(lines) and len(lines[at]) > 2 and not lines[at].strip("-")


def _described(block: list[str], entry: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    lines = dedent("\n".join(block)).splitlines()
    name, words = "", list[str]()
    for line in [*lines, "end:"]:
        if not line or line[0].isspace():
            words.append(line.strip())
            continue
        if name and (text := " ".join(words).strip()):
            yield name, text
        found = entry.match(line)
        name, words = (found["name"], [found["text"]]) if found else ("", [])
