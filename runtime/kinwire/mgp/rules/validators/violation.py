"""What a validator reports."""

from __future__ import annotations

__all__ = ("Violation",)

from typing import NamedTuple


class Violation(NamedTuple):
    """One reason to refuse a call."""

    place: str
    """The argument, such as `command` or `options.urls[2]`; empty for the whole call."""
    reason: str
    """A clause in plain words. It never has the value of an argument, which may be a secret."""
