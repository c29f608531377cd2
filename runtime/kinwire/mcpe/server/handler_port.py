"""What handlers of subscriptions look like to the rest of the server (MCPE 9)."""

from __future__ import annotations

__all__ = ("HandlerPort",)

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from kinwire.mcpe.server.event_client import EventClient
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.models import EventHandler, Subscription
from kinwire_protocols.problems import Problem


class HandlerPort(Protocol):
    """Has handlers work on events, in addition to the notifications."""

    def begin(self, session_of: Callable[[str], Session | None]) -> None:
        """Go on with what is recorded; called in the event loop, any number of times.

        `session_of` returns the session of a client by its id, None if it is not connected.
        """
        ...

    def problems(self, handler: EventHandler, *, at: str = "/handler") -> Iterator[Problem]:
        """Yield why the server does not take a handler, with pointers that begin with `at`."""
        ...

    def handle(
        self,
        subscription: Subscription,
        client: EventClient,
        events: Sequence[JsonObject],
        delivery_id: str,
    ) -> None:
        """Have the handler of a subscription work on events; this itself waits for nothing.

        `delivery_id` is the same if a delivery is repeated. A subscription without a handler
        changes nothing.
        """
        ...
