"""Numbers that a program sets, refused where it sets them and not when they first count.

NaN compares with nothing: as a limit it is none, and as a time it is always over.
"""

from __future__ import annotations

__all__ = (
    "LONGEST",
    "MOST",
    "checked_count",
    "checked_life",
    "checked_rate",
    "checked_seconds",
    "is_count",
    "is_number",
    "shown_number",
)

from math import inf
from typing import TypeGuard

LONGEST = 100 * 365 * 86_400
"""The longest time in seconds: a hundred years. Stores count in nanoseconds and overflow later."""
MOST = 2**53 - 1
"""The largest count: every reader of JSON holds it exactly."""


def checked_seconds(option: str, value: object, *, zero: bool = False) -> None:
    """Refuse what is no time that can be waited for; of none at all only with `zero`.

    Raises:
        ValueError: it is no number of that size.
    """
    fits = is_number(value) and (value > 0 or (zero and value == 0)) and value <= LONGEST
    _must(fits, option, f"seconds {'from' if zero else 'above'} 0 to {LONGEST}", value)


def checked_life(option: str, value: object) -> None:
    """Refuse what is no time for which something is kept: 0 is for not at all, infinity for ever.

    Raises:
        ValueError: it is no number of that size.
    """
    fits = is_number(value) and (0 <= value <= LONGEST or value == inf)
    _must(fits, option, f"seconds from 0 to {LONGEST}, or math.inf", value)


def checked_rate(option: str, value: object) -> None:
    """Refuse what is no number of things in a second.

    Raises:
        ValueError: it is no number of that size.
    """
    fits = is_number(value) and 0 < value <= MOST
    _must(fits, option, f"a number above 0 to {MOST}", value)


def checked_count(option: str, value: object, *, least: int) -> None:
    """Refuse what counts nothing, or is below `least`.

    Raises:
        ValueError: it is no whole number of that size.
    """
    _must(is_count(value, least), option, f"a whole number from {least} to {MOST}", value)


def is_count(value: object, least: int) -> bool:
    """Return whether `value` is a whole number from `least` to `MOST`."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether `value` is a number; a boolean is not one."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _must(fits: bool, option: str, expected: str, value: object) -> None:
    if not fits:
        mend = "Write one, or leave it out."
        raise ValueError(f"{option}: expected {expected}, got {shown_number(value)}. {mend}")


def shown_number(value: object) -> str:
    """Return `value` as an error shows it: a number as it is, of others the type."""
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64):
        return str(value)
    # Python does not write out a number of thousands of digits.
    return "a larger number" if isinstance(value, int) else type(value).__name__
