"""The answer to an event that was pushed before, and how such an event is recognized (MCPL 9.4)."""

from __future__ import annotations

__all__ = ("REUSED", "StoredAnswer", "body_digest")

from dataclasses import dataclass

from kinwire.support.json_values import digest
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcpl.models import PushEventParams, PushEventResult

REUSED = PushEventResult(
    accepted=False, reason="the eventId was used for another event: give each event its own"
)
"""What another event under an id that is known is answered."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An event that was taken."""

    digest: str
    answer: PushEventResult | None
    """None while it is not known."""

    def answer_to(self, digest: str) -> PushEventResult | None:
        """Return what an event of this id and that body has earned."""
        return self.answer if self.digest == digest else REUSED


def body_digest(params: PushEventParams) -> str:
    """Return what tells the event from others; a retry has the same."""
    return digest(to_wire(params))
