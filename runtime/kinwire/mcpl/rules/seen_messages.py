"""Which messages of channels came before, and what became of them (MCPL 14.3).

Its copy in `Records` is the shell's. The time never goes back.
"""

from __future__ import annotations

__all__ = ("WINDOW", "SeenMessages")

from kinwire_protocols.mcpl.models import IncomingOutcome

WINDOW = 86_400.0
"""Seconds in which a message that comes again is known."""
_MOST = 100_000  # messages


class SeenMessages:
    """The messages that were accepted, the oldest first."""

    def __init__(self, *, window: float = WINDOW, limit: int = _MOST) -> None:
        self._window, self._limit = window, limit
        self._kept: dict[str, tuple[IncomingOutcome, float]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def look(self, key: str, *, now: float) -> IncomingOutcome | None:
        """Return what became of a message, None if it is new."""
        kept = self._kept.get(key)
        if kept is None or now - kept[1] < self._window:
            return None if kept is None else kept[0]
        del self._kept[key]
        return None

    def keep(self, key: str, outcome: IncomingOutcome, *, now: float) -> None:
        """Remember a message that was accepted. One that was refused may come again."""
        self._kept.pop(key, None)
        self._kept[key] = (outcome, now)
        if len(self._kept) > self._limit:
            del self._kept[next(iter(self._kept))]
