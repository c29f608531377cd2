"""The subscriptions of one kernel, and the events that wait for it (MGP 0.2.0 section 13.3)."""

from __future__ import annotations

__all__ = ("EventSender", "Subscription")

import logging
from collections import deque
from contextlib import suppress

import anyio
from pydantic_core import from_json

from kinwire.mgp.rules.events import QUEUED
from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.session import Session
from kinwire.support.bounded import DropOldestQueue
from kinwire_protocols.base import from_wire
from kinwire_protocols.mgp.methods import NOTIFICATIONS_MGP_EVENT
from kinwire_protocols.mgp.models import EventNotificationParams

logger = logging.getLogger("kinwire.mgp")


class Subscription:
    """Which events one kernel wants under one id, and those that wait to be sent to it."""

    __slots__ = ("_dropped", "_own", "_queue", "id", "least", "sender")

    def __init__(self, id: str, least: int, sender: EventSender) -> None:
        self.id = id
        self.least = least  # the rank of the severity from which on it takes events
        self.sender = sender
        self._own = EncodedObject({"subscription_id": id})
        self._queue = DropOldestQueue[EncodedObject](QUEUED)
        self._dropped = 0

    def __len__(self) -> int:
        """Return the number of events that wait."""
        return len(self._queue)

    def send_now(self, session: Session, event: EncodedObject) -> bool:
        """Send an event if it need not wait; return whether it was sent."""
        return session.notify_now(NOTIFICATIONS_MGP_EVENT, self._own, event)

    def put(self, event: EncodedObject) -> None:
        """Have an event wait; the oldest one makes room for it."""
        self._dropped += len(self._queue.put(event))

    async def send_next(self, session: Session) -> None:
        """Send the event that has waited longest, with the number of those dropped before it."""
        own, event = self._own, self._queue.take()
        if self._dropped:
            own = EncodedObject({**own, "dropped": self._dropped})
            self._dropped = 0
        if not session.notify_now(NOTIFICATIONS_MGP_EVENT, own, event):
            params = from_wire(EventNotificationParams, {**own, **from_json(event.encoded)})
            await session.notify(NOTIFICATIONS_MGP_EVENT, params)


class EventSender:
    """Sends events to one kernel: immediately, or when the kernel has read what was sent before.

    Events of one subscription keep their order, and the subscriptions take turns.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting = deque[Subscription]()  # those with events that wait, the next one first
        self._busy = False  # whether the task has something to send
        self._changed = anyio.Event()
        self._named = 0
        self.subscriptions: dict[str, Subscription] = {}

    def subscribe(self, least: int) -> Subscription:
        """Add a subscription, and return it; `least` is the rank of the severity that it wants.

        Nothing of what the kernel has written is kept: names may be long.
        """
        if not self._named:  # here: the task must not belong to a request that emits something
            self._session.start_soon(self._run)
        self._named += 1
        made = Subscription(f"sub-{self._named:03d}", least, self)
        self.subscriptions[made.id] = made
        return made

    def unsubscribe(self, id: str) -> Subscription | None:
        """Remove a subscription and all that waits for it; None if there was no such one."""
        found = self.subscriptions.pop(id, None)
        if found is not None and found in self._waiting:
            self._waiting.remove(found)
        return found

    def send(self, subscription: Subscription, event: EncodedObject) -> None:
        """Send an event, or have it wait; this itself waits for nothing."""
        if not self._busy and subscription.send_now(self._session, event):
            return
        if self._session.closed:
            return
        if len(subscription) == 0:
            self._waiting.append(subscription)
        subscription.put(event)
        self._busy = True
        self._changed.set()

    async def _run(self) -> None:
        """Send what waits, until the session ends."""
        with suppress(ConnectionClosedError):
            while True:
                await self._changed.wait()
                self._changed = anyio.Event()
                while self._waiting:
                    await self._session.wait_for_room()
                    if self._waiting:  # else unsubscribed: nothing may be sent after that
                        await self._send_next(self._waiting.popleft())
                self._busy = False

    async def _send_next(self, subscription: Subscription) -> None:
        if len(subscription) > 1:
            self._waiting.append(subscription)
        try:
            await subscription.send_next(self._session)
        except ConnectionClosedError:
            raise
        except Exception:  # of an interceptor
            logger.exception("an event of the subscription %s was not sent", subscription.id)
