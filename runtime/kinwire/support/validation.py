"""Numbers that a program sets, refused where it sets them and not when they first count.

NaN compares with nothing: as a limit it is none, and as a time it is always over.
"""

from __future__ import annotations

__all__ = ("checked_count", "checked_life", "checked_rate", "checked_seconds")

from math import inf
from typing import TypeGuard

_LONGEST = 100 * 365 * 86_400  # seconds: a hundred years, as stores have it
_MOST = 2**53 - 1  # what every reader of JSON holds exactly


def checked_seconds(option: str, value: object, *, zero: bool = False) -> None:
    """Refuse what is no time that can be waited for; of none at all only with `zero`.

    Raises:
        ValueError: it is no number of that size.
    """
    fits = _is_number(value) and (value > 0 or (zero and value == 0)) and value <= _LONGEST
    _must(fits, option, f"seconds {'from' if zero else 'above'} 0 to {_LONGEST}", value)


def checked_life(option: str, value: object) -> None:
    """Refuse what is no time for which something is kept: 0 is for not at all, infinity for ever.

    Raises:
        ValueError: it is no number of that size.
    """
    fits = _is_number(value) and (0 <= value <= _LONGEST or value == inf)
    _must(fits, option, f"seconds from 0 to {_LONGEST}, or math.inf", value)


def checked_rate(option: str, value: object) -> None:
    """Refuse what is no number of things in a second.

    Raises:
        ValueError: it is no number of that size.
    """
    fits = _is_number(value) and 0 < value <= _MOST
    _must(fits, option, f"a number above 0 to {_MOST}", value)


def checked_count(option: str, value: object, *, least: int) -> None:
    """Refuse what counts nothing, or is below `least`.

    Raises:
        ValueError: it is no whole number of that size.
    """
    fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST
    _must(fits, option, f"a whole number from {least} to {_MOST}", value)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _must(fits: bool, option: str, expected: str, value: object) -> None:
    if not fits:
        mend = "Write one, or leave it out."
        raise ValueError(f"{option}: expected {expected}, got {_shown(value)}. {mend}")


def _shown(value: object) -> str:
    if not _is_number(value):
        return type(value).__name__
    # Python writes out no number of thousands of digits.
    return str(value) if isinstance(value, float) or abs(value) < 2**64 else "a larger number"
