"""Chunks of streams: how texts are cut for them, and which of those that arrive count (MGP 12.4).

A chunk is at most 64 KiB. They are numbered from 0, each by one more than the one before. Of what a
server sends otherwise: a number that was passed is dropped, a gap is counted and what follows it is
taken, and nothing is taken after the last chunk.
"""

from __future__ import annotations

__all__ = ("MOST_BYTES", "ChunkOrder", "parts_of")

from collections.abc import Iterator
from typing import Final

MOST_BYTES: Final = 64 * 1024
"""Of the text of a chunk in UTF-8, or of another block."""

_ALWAYS_FIT = MOST_BYTES // 4  # characters: none has more than 4 bytes


def parts_of(text: str) -> Iterator[str]:
    """Yield a text in parts of at most `MOST_BYTES`, cut between characters."""
    if len(text) <= _ALWAYS_FIT or len(data := text.encode()) <= MOST_BYTES:
        yield text
        return
    start = 0
    while start < len(data):
        end = min(start + MOST_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:  # inside of a character
            end -= 1
        yield data[start:end].decode()
        start = end


class ChunkOrder:
    """The chunks of one stream, as a kernel counts them."""

    def __init__(self) -> None:
        self.next = 0
        """The number that comes next."""
        self.missed = 0
        """How many did not come."""
        self.dropped = 0
        """How many came again, late, or after the last one."""
        self._is_over = False

    def admit(self, index: int, *, done: bool = False) -> bool:
        """Count a chunk; return whether it is part of the stream."""
        if self._is_over or index < self.next:
            self.dropped += 1
            return False
        self.missed += index - self.next
        self.next = index + 1
        self._is_over = done
        return True

    def end(self, sent: int | None) -> None:
        """Count what is missing at the end, if the server has said how many chunks it sent."""
        if sent is not None and sent > self.next:
            self.missed += sent - self.next
        self._is_over = True
