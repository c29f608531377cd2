"""Sets of words, written as text: tables of names stay readable."""

from __future__ import annotations

__all__ = ("word_set",)


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())
