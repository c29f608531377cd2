"""The subscriptions of one kernel, and the events that wait for it (MGP 0.2.0 section 13.3)."""

from __future__ import annotations

__all__ = ("EventSender", "Subscription")

from kinwire.managers.notification_sender import NotificationQueue, NotificationSender
from kinwire.mgp.rules.events import QUEUED
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.methods import NOTIFICATIONS_MGP_EVENT


class Subscription(NotificationQueue):
    """Which events one kernel wants under one id, and those that wait to be sent to it."""

    __slots__ = ("least",)

    def __init__(self, id: str, least: int, sender: NotificationSender) -> None:
        own = {"subscription_id": id}
        super().__init__(id, sender, NOTIFICATIONS_MGP_EVENT, own, _with_dropped, limit=QUEUED)
        self.least = least  # the rank of the severity from which on it takes events


class EventSender(NotificationSender):
    """Sends events to one kernel: immediately, or when the kernel has read what was sent before."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._named = 0
        self.subscriptions: dict[str, Subscription] = {}

    def subscribe(self, least: int) -> Subscription:
        """Add a subscription, and return it; `least` is the rank of the severity that it wants.

        Nothing of what the kernel has written is kept: names may be long.
        """
        self.start()
        self._named += 1
        made = Subscription(f"sub-{self._named:03d}", least, self)
        self.subscriptions[made.id] = made
        return made

    def unsubscribe(self, id: str) -> Subscription | None:
        """Remove a subscription and all that waits for it; None if there was no such one."""
        found = self.subscriptions.pop(id, None)
        if found is not None:
            self.forget(found)
        return found


def _with_dropped(own: JsonObject, dropped: int) -> JsonObject:
    return {**own, "dropped": dropped}
