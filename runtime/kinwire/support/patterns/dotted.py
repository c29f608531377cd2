"""Dotted names, and patterns of them that end in a star: the types of MCPE events (MCPE 4.3, 4.4).

`github.*` means every name that begins with `github.`, at any depth, and `*` every name. Another
text means the name that is equal to it. A star stands nowhere else, and signs of other pattern
languages are refused: a name cannot have them, so they would never match. Case differs.
"""

from __future__ import annotations

__all__ = (
    "EVERY_NAME",
    "NAME_SIZE",
    "covers",
    "is_dotted_name",
    "is_dotted_pattern",
    "without_covered",
)

import re
from collections.abc import Iterable
from functools import lru_cache

NAME_SIZE = 256
"""The longest name or pattern, in characters."""

EVERY_NAME = "*"
"""The pattern of every name."""

_NAME = re.compile(
    r"[^\s.*>?\[\]\x00-\x1f\x7f\ud800-\udfff]+(?:\.[^\s.*>?\[\]\x00-\x1f\x7f\ud800-\udfff]+)*"
)
_BELOW = ".*"


def is_dotted_name(text: str) -> bool:
    """Return whether `text` is parts with single dots between, of at most `NAME_SIZE` characters.

    Parts have no white space, no control characters, and no `*`, `>`, `?`, `[` or `]`.
    """
    return len(text) <= NAME_SIZE and _is_name(text)


def is_dotted_pattern(text: str) -> bool:
    """Return whether `text` is `*`, a name, or a name and `.*`."""
    if text == EVERY_NAME:
        return True
    return len(text) <= NAME_SIZE and is_dotted_name(text.removesuffix(_BELOW))


def covers(pattern: str, name: str) -> bool:
    """Return whether `pattern`, which is a pattern, means `name`, a name or another pattern."""
    if pattern in (EVERY_NAME, name):
        return True
    return pattern.endswith(_BELOW) and name.startswith(pattern[:-1])


def without_covered(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns in order without those that another one covers, so at most one matches.

    Costs the sum of their lengths, not their number squared.
    """
    kept = frozenset(patterns)
    if EVERY_NAME in kept:
        return (EVERY_NAME,)
    return tuple(sorted(one for one in kept if kept.isdisjoint(_wider(one))))


def _wider(pattern: str) -> Iterable[str]:
    """Yield the patterns with a star that cover `pattern` and are not equal to it."""
    parts = pattern.removesuffix(_BELOW).split(".")
    for count in range(1, len(parts)):
        yield ".".join(parts[:count]) + _BELOW


@lru_cache(maxsize=1024)
def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None
