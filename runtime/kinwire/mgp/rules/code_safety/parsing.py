"""Reading code into a syntax tree, with every failure a problem (MGP 0.2.0 section 7.2).

The size is checked first: the parser of Python needs more memory and stack than the text has, and
raises `MemoryError` or `RecursionError` for some texts.
"""

from __future__ import annotations

__all__ = ("MOST_BYTES", "UnreadableCodeError", "expression_of", "tree_of")

import ast
import re
import warnings
from textwrap import dedent
from typing import Final

MOST_BYTES: Final = 50_000
"""The most bytes of code that are parsed at any level, in UTF-8."""

_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_ENCODINGS = frozenset({"utf-8", "utf8", "utf_8", "ascii", "us-ascii"})
_MOST_NESTED = 100  # brackets inside brackets
_MOST_FIELDS = 5000  # braces: Python 3.11 parses the fields of an f-string in quadratic time


class UnreadableCodeError(Exception):
    """Code that cannot be parsed; the message says why, in a few words."""


def tree_of(code: str, most_bytes: int = MOST_BYTES) -> ast.Module:
    """Return the syntax tree of `code`, which may have at most `most_bytes` bytes.

    Raises:
        UnreadableCodeError: it is larger, declares an encoding, or is not Python.
    """
    size = len(code.encode("utf-8", "surrogatepass"))
    if size > min(most_bytes, MOST_BYTES):
        raise UnreadableCodeError(
            f"Code too large: {size} bytes, at most {min(most_bytes, MOST_BYTES)}"
        )
    for line in re.split(r"\r\n|\r|\n", code, maxsplit=2)[:2]:
        found = _COOKIE.match(line)
        if found and found[1].lower() not in _ENCODINGS:
            raise UnreadableCodeError(f"Blocked encoding: '{found[1]:.40}'")
    try:
        tree = _parsed(code, "exec")
    except UnreadableCodeError:
        if (plain := dedent(code)) == code:
            raise
        tree = _parsed(plain, "exec")  # a tool may take the indentation away, too
    if not isinstance(tree, ast.Module):
        raise UnreadableCodeError("Code is not a module")
    return tree


def expression_of(text: str) -> ast.expr | None:
    """Return the syntax tree of an annotation in quotes, or None if it is not an expression."""
    try:
        tree = _parsed(text.strip(), "eval")
    except UnreadableCodeError:
        return None
    return tree.body if isinstance(tree, ast.Expression) else None


def _parsed(text: str, mode: str) -> ast.AST:
    if _nesting(text) > _MOST_NESTED:
        raise UnreadableCodeError(f"Code is nested too deep: at most {_MOST_NESTED} brackets")
    if text.count("{") > _MOST_FIELDS:
        raise UnreadableCodeError(f"Code has too many braces: at most {_MOST_FIELDS}")
    try:
        # Warnings about the code, as of invalid escapes, are not for the user of the kernel.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, "<code>", mode)
    except SyntaxError as error:
        raise UnreadableCodeError(f"Code is not Python: {error.msg:.80}") from None
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        raise UnreadableCodeError(f"Code cannot be parsed: {type(error).__name__}") from None


def _nesting(text: str) -> int:
    """Return how deep brackets are nested. Brackets in strings and comments count too."""
    depth = deepest = 0
    for found in re.finditer(r"[()\[\]{}]", text):
        depth = depth + 1 if found[0] in "([{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
