"""The events of one subscription, in the order in which the server sent them (MGP 13.3)."""

from __future__ import annotations

__all__ = ("ServerEvents",)

from collections.abc import AsyncIterator
from typing import Final, Self

import anyio

from kinwire.mgp.rules.events import QUEUED, EventSelection
from kinwire.rpc.codec import encode
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.support.bounded import DropOldestQueue
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.models import EventNotificationParams, EventsSubscribeResult

QUEUED_BYTES: Final = 16 * 1024 * 1024
"""How large the events that wait for the reader may be in all, as JSON."""


class ServerEvents(AsyncIterator[EventNotificationParams]):
    """The events of a server that were asked for: `async for event in events:`.

    An event has `channel`, `timestamp`, `severity` (absent counts as `info`), `data`, and
    `dropped`: how many were lost right before it, because the server or this reader was too slow.
    """

    def __init__(self, selection: EventSelection, made: EventsSubscribeResult) -> None:
        self._selection = selection
        self._queue = DropOldestQueue[EventNotificationParams](QUEUED, size=QUEUED_BYTES)
        self._missed = 0  # that the next event does not tell of yet
        self._changed = anyio.Event()
        self._closed = False
        self._error: ConnectionClosedError | None = None
        self.subscription_id: Final = made.subscription_id
        """The name that the server has given to the subscription."""
        self.subscribed: Final = tuple(made.subscribed)
        """The channels whose events come, as the server says."""
        self.unsupported: Final = tuple(made.unsupported or ())
        """The names and patterns for which the server has no channel."""
        self.dropped = 0
        """How many events were lost so far, because the server or this reader was too slow."""

    def put(self, event: EventNotificationParams, params: JsonObject) -> None:
        """Add an event, whose params came as `params`, unless it was not asked for."""
        if not self._selection.takes(event.channel, event.severity):
            return
        self.dropped += event.dropped or 0
        for lost in self._queue.put(event, len(encode(params))):
            self.dropped += 1
            self._missed += 1 + (lost.dropped or 0)
        self._changed.set()

    def close(self, error: ConnectionClosedError | None = None) -> None:
        """End the iteration after the events that wait; the reader gets `error` then, if given."""
        self._closed = True
        self._error = self._error or error
        self._changed.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> EventNotificationParams:
        # What is there is read without a turn of the loop, which may bring hundreds of events.
        while not len(self._queue):
            if self._error is not None:
                raise self._error.again()
            if self._closed:
                raise StopAsyncIteration
            self._changed = anyio.Event() if self._changed.is_set() else self._changed
            await self._changed.wait()
        event = self._queue.take()
        if self._missed:
            event = event.model_copy(update={"dropped": self._missed + (event.dropped or 0)})
            self._missed = 0
        return event
