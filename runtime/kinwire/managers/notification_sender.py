"""Notifications that one event has for many peers, and those that wait for a peer that is slow.

An event is encoded once; what a subscription adds to it is spliced in. A sender belongs to one
session, so one slow peer holds nobody else.
"""

from __future__ import annotations

__all__ = ("NotificationQueue", "NotificationSender")

import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import anyio
from pydantic_core import from_json

from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.prepared import PreparedNotification
from kinwire.rpc.session import Session
from kinwire.support.bounded import DropOldestQueue
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.managers")

QUEUED_BYTES: Final = 16 * 1024 * 1024
"""The most bytes of events that wait in one queue."""

CountDropped = Callable[[JsonObject, int], JsonObject]
"""Returns the members of a subscription with the number of notifications that were dropped."""


class NotificationQueue(PreparedNotification):
    """The notifications of one subscription to one peer, and those of them that wait."""

    __slots__ = ("_dropped", "_kept", "_with_dropped", "id", "sender")

    def __init__(
        self,
        id: str,
        sender: NotificationSender,
        method: Method[Any, None],
        own: JsonObject,
        with_dropped: CountDropped,
        *,
        limit: int,
    ) -> None:
        """Begin empty. `id` is that of the subscription, and `own` what it adds to all params.

        At most `limit` notifications wait, and `QUEUED_BYTES` of their events; then the oldest ones
        are dropped.
        """
        super().__init__(sender.session, method, EncodedObject(own))
        self.id = id
        self.sender = sender
        self._with_dropped = with_dropped
        self._kept = DropOldestQueue[EncodedObject](limit, size=QUEUED_BYTES)
        self._dropped = 0

    def __len__(self) -> int:
        """Return the number of notifications that wait."""
        return len(self._kept)

    def drop(self) -> None:
        """Count an event that is not sent: the next one says how many were dropped before it."""
        self._dropped += 1
        self._hindrances = -1

    def put(self, event: EncodedObject) -> None:
        """Have an event wait; the oldest one makes room for it."""
        self._dropped += len(self._kept.put(event, len(event.encoded)))

    async def send_next(self) -> None:
        """Send the event that has waited longest, with the number of those dropped before it."""
        own, event, session = self._own, self._kept.take(), self._session
        if self._dropped:
            own = self._own_with_dropped()
            self._dropped = 0
        if not session.notify_now(self._method, own, event):
            params = from_wire(self._method.params, {**own, **from_json(event.encoded)})
            await session.notify(self._method, params)

    def _queue(self, shared: EncodedObject) -> bool:
        """Send an event that could not be written immediately, or have it wait."""
        if not self.sender.busy and self._sent(shared):
            return True
        self.sender.keep(self, shared)
        return False

    def _sent(self, event: EncodedObject) -> bool:
        if not self._dropped:
            return super()._queue(event)
        sent = self._session.notify_now(self._method, self._own_with_dropped(), event)
        if sent:
            self._dropped = 0
        return sent

    def _own_with_dropped(self) -> EncodedObject:
        return EncodedObject(self._with_dropped(dict(self._own), self._dropped))


class NotificationSender:
    """Sends notifications to one peer: immediately, or when it has read what was sent before.

    Those of one queue keep their order, and the queues take turns.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.busy = False
        """Whether the task has something to send, so that what comes has to wait."""
        self._waiting = deque[NotificationQueue]()  # those that are not empty, the next one first
        self._changed = anyio.Event()
        self._started = False

    def start(self) -> None:
        """Start the task that sends what waits, if it does not run yet.

        A handler calls it: the task must not belong to a request that publishes something.
        """
        if not self._started:
            self._started = True
            self.session.start_soon(self._run)

    def keep(self, queue: NotificationQueue, event: EncodedObject) -> None:
        """Have an event wait in its queue until the peer has read enough."""
        if self.session.closed:
            return
        if len(queue) == 0:
            self._waiting.append(queue)
        queue.put(event)
        if not self.busy:
            self.busy = True
            self.session.outbox.hinder()
            self._changed.set()

    def forget(self, queue: NotificationQueue) -> None:
        """Send nothing of a queue any more."""
        if queue in self._waiting:
            self._waiting.remove(queue)

    async def _run(self) -> None:
        """Send what waits, until the session ends."""
        with suppress(ConnectionClosedError):
            while True:
                await self._changed.wait()
                self._changed = anyio.Event()
                while self._waiting:
                    await self.session.wait_for_room()
                    if self._waiting:  # else forgotten: nothing may be sent after that
                        await self._send_next(self._waiting.popleft())
                self.busy = False

    async def _send_next(self, queue: NotificationQueue) -> None:
        if len(queue) > 1:
            self._waiting.append(queue)
        try:
            await queue.send_next()
        except ConnectionClosedError:
            raise
        except Exception:  # of an interceptor
            logger.exception("an event of the subscription %s was not sent", queue.id)
