"""What of JSON goes through a Struct of Protocol Buffers without a loss.

A Struct has doubles for numbers. So whole numbers come out of it as whole numbers again, and those
that a double may have rounded are refused: 2^53 can be what is left of 2^53 + 1. Decoders accept
about a hundred nested messages, which is what 32 nested objects need.
"""

from __future__ import annotations

__all__ = ("DEPTH", "LARGEST", "UnfitError", "number_unfit", "too_deep")

from math import isfinite

from kinwire.support.json_values import pointer_below

DEPTH = 32
"""How many objects and arrays may be nested in one another."""

LARGEST = 2**53 - 1
"""The largest number, and without its sign the smallest."""


class UnfitError(Exception):
    """A value that cannot go through; the steps to it are added on the way out."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.steps: list[str] = []

    def located(self) -> ValueError:
        """Return the error for a caller: a clause that begins with the place."""
        place = ""
        for step in reversed(self.steps):
            place = pointer_below(place, step)
        return ValueError(f"{place or '/'}: {self.args[0]}")


def number_unfit(number: float) -> UnfitError:
    """Return why a number beyond `LARGEST`, or one that JSON does not have, is refused."""
    if isinstance(number, float) and not isfinite(number):
        return UnfitError(f"expected a number that JSON has, got {number}")
    return UnfitError(
        "expected a number of at most 2^53 - 1, as gRPC would round a larger one. Send it as text"
    )


def too_deep() -> UnfitError:
    """Return why a value is refused that has more levels than `DEPTH`."""
    return UnfitError(f"expected at most {DEPTH} nested objects and arrays")
