"""What a handler is to work on, and how it can fail (MCPE 9)."""

from __future__ import annotations

__all__ = ("HandlerFailedError", "HandlerWork", "KnownHandler", "RetryHandlerError", "seconds_for")

from dataclasses import dataclass
from typing import Any, Self

from kinwire.mcpe.rules.meta import DELIVERY_ID
from kinwire.rpc.codec import encode, is_object
from kinwire.support.errors import KinwireError
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpe.models import (
    AgentEventHandler,
    BashEventHandler,
    EventsSubscribeParams,
    WebhookEventHandler,
)

KnownHandler = BashEventHandler | WebhookEventHandler | AgentEventHandler


class HandlerFailedError(KinwireError):
    """A handler has failed, and is not tried again. `reason` is a clause without secrets."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class RetryHandlerError(HandlerFailedError):
    """A handler has failed in a way that may pass, so it is tried again after a delay.

    A function of yours that works on events raises it for that.
    """


@dataclass(frozen=True, slots=True)
class HandlerWork:
    """Events that the handler of a subscription is to work on: those of one delivery."""

    subscription_id: str
    client_id: str
    """The client to which the subscription belongs."""
    handler: KnownHandler
    events: tuple[JsonObject, ...]
    """The events, oldest first: one of realtime, those of a batch of a schedule."""
    delivery_id: str
    """The same for every attempt: work that was done is recognized by it."""
    attempt: int = 1
    """1, or more after attempts that have failed."""

    def params(self) -> JsonObject:
        """Return the events as the params of `events/event`, or of `events/batch` if several."""
        one = len(self.events) == 1
        events: JsonObject = {"event": self.events[0]} if one else {"events": list(self.events)}
        return {
            "subscriptionId": self.subscription_id,
            **events,
            "_meta": {DELIVERY_ID: self.delivery_id},
        }

    def event_text(self) -> str:
        """Return the event as JSON; several as an array."""
        what: Any = self.events[0] if len(self.events) == 1 else list(self.events)
        return encode(what).decode()

    def to_record(self) -> JsonObject:
        """Return it as it is recorded."""
        return {
            "subscriptionId": self.subscription_id,
            "clientId": self.client_id,
            "handler": to_wire(self.handler),
            "events": list(self.events),
            "deliveryId": self.delivery_id,
        }

    @classmethod
    def from_record(cls, kept: Any, attempt: int = 1) -> Self:
        """Return what `to_record` has returned.

        Raises:
            ValueError: it is something else.
        """
        if not is_object(kept):
            raise ValueError("expected an object")
        try:
            handler = _handler_of(kept["handler"])
            events = tuple(kept["events"])
            texts = [kept[name] for name in ("subscriptionId", "clientId", "deliveryId")]
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected other fields: {error}") from None
        subscription_id, client_id, delivery_id = map(str, texts)
        return cls(subscription_id, client_id, handler, events, delivery_id, attempt)


def seconds_for(timeout: float, most: float) -> float:
    """Return the seconds that a handler has, of the milliseconds that it asks for."""
    return min(timeout / 1000, most)


def _handler_of(kept: Any) -> KnownHandler:
    params = {"filter": {}, "delivery": {"channels": ["realtime"]}, "handler": kept}
    handler = from_wire(EventsSubscribeParams, params).handler
    if isinstance(handler, KnownHandler):
        return handler
    raise ValueError("expected a handler of a known type")
