"""Events that have arrived in one notification (MCPE 7)."""

from __future__ import annotations

__all__ = ("ArrivedEvents",)

from collections.abc import Sequence
from dataclasses import dataclass

from kinwire_protocols.mcpe.models import MCPEvent


@dataclass(frozen=True, slots=True)
class ArrivedEvents:
    """What one `events/event` or `events/batch` has."""

    subscription_id: str
    events: Sequence[MCPEvent]
    """The events, oldest first."""
    delivery_id: str | None = None
    """The same if the server repeats a delivery by schedule; None if it gives none."""
    dropped: int = 0
    """How many events are missing: the server says that it has dropped them, or they were wrong."""
    size: int = 0
    """How large they are, in bytes of JSON."""
