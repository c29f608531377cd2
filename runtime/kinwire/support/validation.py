"""Checks of values that a program passes in or returns, made where it passes them.

A number is checked when it is set, not when it is first used: NaN compares with nothing, so as a
limit it would never hold and as a time it would always be over.
"""

from __future__ import annotations

__all__ = (
    "LONGEST",
    "MOST",
    "checked_count",
    "checked_seconds",
    "checked_strings",
    "expect_type",
    "is_count",
    "is_number",
    "shown_number",
)

from collections.abc import Iterable
from types import UnionType
from typing import TypeGuard, TypeVar, get_args

T = TypeVar("T")

LONGEST = 100 * 365 * 86_400
"""The longest time in seconds: a hundred years. Stores count in nanoseconds and overflow later."""
MOST = 2**53 - 1
"""The largest count: every JSON parser reads it exactly."""


def checked_seconds(option: str, value: object, *, zero: bool = False) -> None:
    """Raise if `value` is not a number of seconds to wait for. `zero` allows 0.

    Raises:
        ValueError: it is not a number in that range.
    """
    fits = is_number(value) and (value > 0 or (zero and value == 0)) and value <= LONGEST
    _must(fits, option, f"seconds {'from' if zero else 'above'} 0 to {LONGEST}", value)


def checked_count(option: str, value: object, *, least: int) -> None:
    """Raise if `value` is not a whole number, or is below `least`.

    Raises:
        ValueError: it is not a whole number in that range.
    """
    _must(is_count(value, least), option, f"a whole number from {least} to {MOST}", value)


def checked_strings(option: str, values: Iterable[str]) -> tuple[str, ...]:
    """Return `values` as a tuple. A single string would count as its letters, so it is refused.

    Raises:
        TypeError: `values` is a single string.
    """
    if isinstance(values, str):
        raise TypeError(f"{option}: expected several strings, got one. Write [{values!r:.60}].")
    return tuple(values)


def expect_type(function: str, value: T, kind: type | UnionType) -> T:
    """Return `value`, which the caller's function named `function` has returned.

    Raises:
        TypeError: it is not a `kind`, as when a branch of the function has no `return`.
    """
    if isinstance(value, kind):
        return value
    kinds: tuple[type, ...] = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    expected = " or ".join(one.__name__ for one in kinds)
    raise TypeError(
        f"{function}: expected {expected}, got {type(value).__name__}. Return one in every case."
    )


def is_count(value: object, least: int) -> bool:
    """Return whether `value` is a whole number from `least` to `MOST`."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether `value` is a number; a boolean is not one."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _must(fits: bool, option: str, expected: str, value: object) -> None:
    if not fits:
        raise ValueError(
            f"{option}: expected {expected}, got {shown_number(value)}. Write one, or leave it out."
        )


def shown_number(value: object) -> str:
    """Return `value` for an error message: a number itself, or the type of anything else."""
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64):
        return str(value)
    # Python does not write out a number of thousands of digits.
    return "a larger number" if isinstance(value, int) else type(value).__name__
