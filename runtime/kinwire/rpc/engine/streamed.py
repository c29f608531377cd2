"""Calls whose answers come in parts, and when reading pauses because nobody takes the parts. Pure.

A connection carries all calls, so what pauses for one reader pauses for all. A reader that is only
behind holds up other streams, and no ordinary call: what comes until that is answered is read. A
reader that is far behind holds up everything.
"""

from __future__ import annotations

__all__ = ("Backlog", "StreamedCalls")

from collections.abc import Collection
from enum import IntEnum

from kinwire.rpc.engine.io import EngineIO


class Backlog(IntEnum):
    """How much of what came for a call nobody has taken."""

    NONE = 0
    BEHIND = 1
    """Reading pauses, unless an ordinary call waits."""
    FAR_BEHIND = 2
    """Reading pauses."""


class StreamedCalls(dict[int, Backlog]):
    """The calls of one connection that are answered in parts, by id; `pending` are all calls."""

    def __init__(self, io: EngineIO, pending: Collection[int]) -> None:
        super().__init__()
        self.io = io
        self._pending = pending
        self._paused = False

    def set(self, identifier: int, backlog: Backlog) -> None:
        """Say how far the reader of a call is behind."""
        self[identifier] = backlog
        self.changed()

    def end(self, identifier: int) -> None:
        """Forget a call."""
        self.pop(identifier, None)
        self.changed()

    def waits(self, identifier: int) -> bool:
        """Return whether a call is still to be answered; what its caller does may take a moment."""
        return identifier in self._pending

    def others(self, identifier: int) -> frozenset[int]:
        """Return the other calls that wait for answers."""
        return frozenset(self._pending) - {identifier}

    def changed(self) -> None:
        """Pause or resume reading, if a call has begun or ended or a reader has moved."""
        worst = max(self.values(), default=Backlog.NONE)
        pauses = worst is Backlog.FAR_BEHIND or (
            worst is Backlog.BEHIND and self.keys() >= set(self._pending)
        )
        if pauses and not self._paused:
            self._paused = True
            self.io.pause_reading("unread")
        elif self._paused and not pauses:
            self._paused = False
            self.io.resume_reading("unread")
