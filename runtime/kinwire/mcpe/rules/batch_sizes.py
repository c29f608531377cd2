"""How large a batch may be: a notification has to fit into a frame of its reader."""

from __future__ import annotations

__all__ = ("BATCH_SIZE", "within_size")

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from kinwire.mcpe.rules.schedules import Notification

E = TypeVar("E")

BATCH_SIZE: Final = 2 * 1024 * 1024
"""The most bytes of events in one batch; readers of this library take frames of 4 MiB."""


def within_size(
    notifications: Iterable[Notification[E]], size_of: Callable[[E], int], most: int = BATCH_SIZE
) -> Iterator[Notification[E]]:
    """Yield the notifications, those that are too large in several batches.

    `size_of` returns the bytes of an event. One that is too large by itself is a batch alone.
    """
    for one in notifications:
        begin, size = 0, 0
        for index, event in enumerate(one.events):
            bytes_of = size_of(event)
            if size and size + bytes_of > most:
                yield Notification(one.is_batch, one.events[begin:index])
                begin, size = index, 0
            size += bytes_of
        yield Notification(one.is_batch, one.events[begin:])
