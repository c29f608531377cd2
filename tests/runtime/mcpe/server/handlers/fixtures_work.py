"""Handlers that run, next to a subscription, and what they are given."""

from __future__ import annotations

__all__ = ("DELIVERY", "EVENT", "Json", "hand", "subscribed", "work_for")

from typing import Any

from kinwire.mcpe import EventClient, EventHandlers, HandlerWork
from kinwire.mcpe.server.handlers.work import KnownHandler
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcpe.models import Subscription

Json = dict[str, Any]

DELIVERY = "sub-1/2025-01-15T10:30:00.000Z/0"
EVENT: Json = {
    "id": "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "type": "github.push",
    "data": {"branch": "ma\u0000in \U0001f600; $(id)"},
    "metadata": {"timestamp": "2025-01-15T10:30:00Z", "priority": "normal"},
}


def subscribed(handler: Json, id: str = "sub-1") -> Subscription:
    """Return a subscription with a handler."""
    fields = {
        "id": id,
        "clientId": "client-1",
        "filter": {},
        "delivery": {"channels": ["realtime"]},
        "handler": handler,
        "status": "active",
        "createdAt": "2025-01-15T10:00:00Z",
        "updatedAt": "2025-01-15T10:00:00Z",
    }
    return from_wire(Subscription, fields)


def work_for(handler: Json, *events: Json, attempt: int = 1) -> HandlerWork:
    """Return work on events, by default on one."""
    found = subscribed(handler).handler
    assert isinstance(found, KnownHandler)
    return HandlerWork("sub-1", "client-1", found, events or (EVENT,), DELIVERY, attempt)


def hand(handlers: EventHandlers, handler: Json, *events: Json, id: str = "sub-1") -> None:
    """Have a handler work on events, by default on one."""
    client = EventClient("client-1")
    handlers.handle(subscribed(handler, id), client, events or (EVENT,), f"{id}/delivery")
