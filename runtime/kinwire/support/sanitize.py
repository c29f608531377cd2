"""Text of a peer, made safe for log lines and events: one line, with a maximum length."""

from __future__ import annotations

__all__ = ("sanitize_for_log",)

_SIZE = 500  # characters; a peer's own text may be as long as a message


def sanitize_for_log(said: object) -> str:
    """Return `said` as text on one line, so that a peer cannot write log lines of its own."""
    return "".join(sign if sign.isprintable() else " " for sign in str(said)[:_SIZE])
