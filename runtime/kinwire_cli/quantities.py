"""Numbers with units on a command line: seconds and bytes."""

from __future__ import annotations

__all__ = ("bytes_from", "seconds_from")

import re
from argparse import ArgumentTypeError
from math import inf

_LARGEST = 1024 * 1024 * 1024  # bytes


def bytes_from(text: str) -> int:
    """Return a number of bytes; K, M and G are multiples.

    Raises:
        ArgumentTypeError: it is not from 1 to 1G.
    """
    found = re.fullmatch(r"(\d{1,12})([KMG]?)", text)
    size = int(found[1]) * 1024 ** " KMG".index(found[2] or " ") if found else 0
    if not 0 < size <= _LARGEST:
        raise ArgumentTypeError(f"expected bytes from 1 to 1G, such as 64M, got {text!r}")
    return size


def seconds_from(text: str) -> float:
    """Return a number of seconds.

    Raises:
        ArgumentTypeError: it is not above 0, or not finite.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if seconds == inf:
        raise ArgumentTypeError(f"expected seconds, less than 1.8e308, got {text!r}")
    if not seconds > 0.0:
        raise ArgumentTypeError(f"expected seconds, more than 0, got {text!r}")
    return seconds
