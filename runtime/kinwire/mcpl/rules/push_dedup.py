"""Which events have come before, and what they were answered (MCPL 9.4). One a server.

Its copy in `Records` is the shell's. The time never goes back.
"""

from __future__ import annotations

__all__ = ("REUSED", "WINDOW", "Kept", "PushDedup", "body_digest")

from dataclasses import dataclass

from kinwire.mcpl.rules.json_values import digest
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcpl.models import PushEventParams, PushEventResult

WINDOW = 86_400.0
"""Seconds in which an event that comes again is known."""
_MOST = 100_000  # events

REUSED = PushEventResult(
    accepted=False, reason="the eventId was used for another event: give each event its own"
)
"""What another event under an id that is known is answered."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An event that was taken."""

    digest: str
    answer: PushEventResult | None
    """None while it is not known."""
    at: float

    def answer_to(self, digest: str) -> PushEventResult | None:
        """Return what an event of this id and that body has earned."""
        return self.answer if self.digest == digest else REUSED


class PushDedup:
    """The events of one server, the oldest first."""

    def __init__(self, *, window: float = WINDOW, limit: int = _MOST) -> None:
        self._window, self._limit = window, limit
        self._kept: dict[str, Kept] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def look(self, event_id: str, *, now: float) -> Kept | None:
        """Return what is known of an event, None if it is new."""
        kept = self._kept.get(event_id)
        if kept is not None and now - kept.at >= self._window:
            del self._kept[event_id]
            return None
        return kept

    def keep(self, event_id: str, kept: Kept) -> None:
        """Remember an event that was taken. One that was refused may come again."""
        self._kept.pop(event_id, None)
        self._kept[event_id] = kept
        if len(self._kept) > self._limit:
            del self._kept[next(iter(self._kept))]

    def forget(self, event_id: str) -> None:
        """Let an event be new again."""
        self._kept.pop(event_id, None)


def body_digest(params: PushEventParams) -> str:
    """Return what tells the event from others; a retry has the same."""
    return digest(to_wire(params))
