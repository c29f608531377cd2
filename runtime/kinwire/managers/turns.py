"""Long work on many items, in steps between which other tasks have turns."""

from __future__ import annotations

__all__ = ("in_turns",)

from collections.abc import AsyncGenerator, Iterable
from typing import TypeVar

import anyio

T = TypeVar("T")


async def in_turns(items: Iterable[T], at_once: int) -> AsyncGenerator[T]:
    """Yield the items; after each `at_once` of them, which is at least 1, other tasks have a turn.

    What the items are taken from must not change before the end.
    """
    for number, item in enumerate(items, 1):
        yield item
        if number % at_once == 0:
            await anyio.lowlevel.checkpoint()
