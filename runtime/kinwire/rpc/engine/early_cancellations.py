"""Cancellations that have overtaken their requests, where each message has a way of its own."""

from __future__ import annotations

__all__ = ("LONGEST_ID", "REMEMBERED", "EarlyCancellations")

from kinwire.rpc.codec import Id

REMEMBERED = 256
"""How many ids are remembered, the latest ones; also of requests that have ended."""

LONGEST_ID = 256
"""Characters of an id that is remembered."""

_WHILE = 30.0  # seconds in which the request may still come, as long as its body may take


class EarlyCancellations:
    """The ids of requests that were taken back before they came. The time is handed in."""

    def __init__(self) -> None:
        self._until: dict[Id, float] = {}  # the oldest first

    def add(self, identifier: Id, now: float) -> None:
        """Remember that a request is not to be begun."""
        if isinstance(identifier, str) and len(identifier) > LONGEST_ID:
            return
        self._until.pop(identifier, None)
        self._until[identifier] = now + _WHILE
        if len(self._until) > REMEMBERED:
            del self._until[next(iter(self._until))]

    def has(self, identifier: Id, now: float) -> bool:
        """Return whether a request that comes was taken back, and forget that."""
        return self._until.pop(identifier, 0.0) > now
