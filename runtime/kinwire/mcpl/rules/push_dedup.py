"""What an event that has come before is answered, and how it is known (MCPL 9.4).

`seen.py` has which ones have come.
"""

from __future__ import annotations

__all__ = ("REUSED", "Kept", "body_digest")

from dataclasses import dataclass

from kinwire.support.json_values import digest
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcpl.models import PushEventParams, PushEventResult

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

    def answer_to(self, digest: str) -> PushEventResult | None:
        """Return what an event of this id and that body has earned."""
        return self.answer if self.digest == digest else REUSED


def body_digest(params: PushEventParams) -> str:
    """Return what tells the event from others; a retry has the same."""
    return digest(to_wire(params))
