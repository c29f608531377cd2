"""Text of a peer, made safe for log lines, events and errors: with a maximum length."""

from __future__ import annotations

__all__ = ("enumerated", "printable", "sanitize_for_log")

from collections.abc import Sequence

_SIZE = 500  # characters; a peer's own text may be as long as a message
_ENUMERATED = 5  # problems in one error
_PROBLEM = 300  # characters


def sanitize_for_log(said: object) -> str:
    """Return `said` as text on one line, so that a peer cannot write log lines of its own."""
    return "".join(sign if sign.isprintable() else " " for sign in str(said)[:_SIZE])


def printable(text: str) -> str:
    """Return `text` on one line, in its whole length: an escape stands for what is not visible."""
    return text if text.isprintable() else "".join(map(_sign, text))


def _sign(sign: str) -> str:
    return sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")


def enumerated(problems: Sequence[object]) -> str:
    """Return the first few of `problems` as one text, and how many more there are."""
    texts = [f"{problem!s:.{_PROBLEM}}" for problem in problems[:_ENUMERATED]]
    more = len(problems) - len(texts)
    return "; ".join([*texts, f"and {more} more"] if more else texts)
