"""What peers say, as it stands in lines of logs and in events: on one line, and with an end."""

from __future__ import annotations

__all__ = ("one_line",)

_SIZE = 500  # characters; a peer's own text may be as long as a message


def one_line(said: object) -> str:
    """Return `said` as text of one line: no peer writes lines of its own into a log."""
    return "".join(sign if sign.isprintable() else " " for sign in str(said)[:_SIZE])
