"""What a host's own functions return: a branch without `return` is told by name."""

from __future__ import annotations

__all__ = ("returned",)

from typing import TypeVar

T = TypeVar("T")


def returned(what: str, value: object, kind: type[T]) -> T:
    """Return `value`, which the function called `what` has returned.

    Raises:
        TypeError: it is of another kind.
    """
    if isinstance(value, kind):
        return value
    raise TypeError(
        f"{what}: expected {kind.__name__}, got {type(value).__name__}. Return one in every case."
    )
