"""What of an event a client may see, by the hooks of the program (MCPE 11.2, 11.4)."""

from __future__ import annotations

__all__ = ("VisibleEvents",)

import logging
from collections.abc import Iterable

from kinwire.mcpe.server.event_client import EventClient
from kinwire.mcpe.server.options import EventTerms
from kinwire.rpc.codec import EncodedObject
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpe.models import MCPEvent

logger = logging.getLogger("kinwire.mcpe")


class VisibleEvents:
    """Asks the hooks; a hook that fails shows nothing.

    The hook for data gets a copy of its own, so it may change that.
    """

    def __init__(self, terms: EventTerms) -> None:
        self._authorize = terms.authorize
        self._filter = terms.filter_data

    @property
    def all(self) -> bool:
        """Whether every client sees every event as it is."""
        return self._authorize is None and self._filter is None

    def of(
        self, event: MCPEvent, encoded: EncodedObject, client: EventClient
    ) -> EncodedObject | None:
        """Return the member `event` as a client may see it, encoded; None if it may not.

        `encoded` is that of the event as it is.
        """
        try:
            if self._authorize is not None and not self._authorize(client, event.type):
                return None
            return encoded if self._filter is None else self._filtered(event, client)
        except Exception:
            logger.exception("a hook failed: an event of %r was not shown", event.type)
            return None

    def among(self, events: Iterable[JsonObject], client: EventClient) -> list[JsonObject]:
        """Return those events that a client may see, as it may see them."""
        if self.all:
            return list(events)
        found = (
            self.of(from_wire(MCPEvent, one), EncodedObject({"event": one}), client)
            for one in events
        )
        return [one["event"] for one in found if one is not None]

    def _filtered(self, event: MCPEvent, client: EventClient) -> EncodedObject | None:
        """Return what the hook for data makes of an event.

        Raises:
            Exception: of the hook.
            TypeError: it has returned something else than an event.
            UnsendableError: JSON cannot hold what it has returned.
        """
        assert self._filter is not None
        seen = self._filter(client, event.model_copy(deep=True))
        return None if seen is None else EncodedObject({"event": to_wire(_an_event(seen))})


def _an_event(seen: object) -> MCPEvent:
    if not isinstance(seen, MCPEvent):
        raise TypeError(f"filter_data: expected an MCPEvent or None, got {type(seen).__name__}")
    return seen
