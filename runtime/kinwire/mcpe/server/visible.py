"""What of an event a client may see, by the hooks of the program (MCPE 11.2, 11.4)."""

from __future__ import annotations

__all__ = ("VisibleEvents",)

import logging
from collections.abc import Iterable

from kinwire.mcpe.server.event_client import EventClient
from kinwire.mcpe.server.options import EventTerms
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpe.models import MCPEvent

logger = logging.getLogger("kinwire.mcpe")


class VisibleEvents:
    """Asks the hooks; a hook that fails shows nothing."""

    def __init__(self, terms: EventTerms) -> None:
        self._authorize = terms.authorize
        self._filter = terms.filter_data

    @property
    def all(self) -> bool:
        """Whether every client sees every event as it is."""
        return self._authorize is None and self._filter is None

    def of(self, event: MCPEvent, client: EventClient) -> MCPEvent | None:
        """Return the event as a client may see it; None if it may not."""
        try:
            if self._authorize is not None and not self._authorize(client, event.type):
                return None
            return event if self._filter is None else self._filter(client, event)
        except Exception:
            logger.exception("a hook failed: an event of %r was not shown", event.type)
            return None

    def among(self, events: Iterable[JsonObject], client: EventClient) -> list[JsonObject]:
        """Return those events that a client may see, as it may see them."""
        if self.all:
            return list(events)
        found = (self.of(from_wire(MCPEvent, one), client) for one in events)
        return [to_wire(one) for one in found if one is not None]
