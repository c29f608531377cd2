"""Subscriptions of a kernel to the events of its servers (MGP 0.2.0 sections 13.2 and 13.3)."""

from __future__ import annotations

__all__ = ("EventSubscriptions",)

import logging
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import anyio

from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.server_events import QUEUED_BYTES, ServerEvents
from kinwire.mgp.rules.events import QUEUED, EventSelection
from kinwire.rpc.codec import encode
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError, KinwireError
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.support.bounded import DropOldestQueue, LruDict
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mcp.models import LoggingLevel
from kinwire_protocols.mgp.methods import (
    MGP_EVENTS_SUBSCRIBE,
    MGP_EVENTS_UNSUBSCRIBE,
    NOTIFICATIONS_MGP_EVENT,
)
from kinwire_protocols.mgp.models import (
    EventFilter,
    EventNotificationParams,
    EventsSubscribeParams,
    EventsSubscribeResult,
    EventsUnsubscribeParams,
)

logger = logging.getLogger("kinwire.mgp")

_UNSUBSCRIBE_TIMEOUT: Final = 5.0  # seconds

_REMEMBERED: Final = 100  # subscriptions that were ended, of one session
_MOST_ENDING: Final = 10  # at the same time: a server may name any number of subscriptions
_LONGEST_ID: Final = 256  # characters

_Arrived = tuple[EventNotificationParams, JsonObject]


class EventSubscriptions:
    """What all servers of a kernel were asked for."""

    def __init__(self, handlers: ExtensionHandlers) -> None:
        self._servers: dict[Session, _Readers] = {}
        handlers.add_intake(NOTIFICATIONS_MGP_EVENT, self._take)

    def join(self, server: GuardedServer) -> None:
        """Prepare to read events of a server that can send some."""
        if "bidirectional" in server.extensions:
            self._servers[server.session] = _Readers(server.session)

    async def negotiate(self, server: GuardedServer) -> None:
        """Do nothing: a server sends events when it is asked for them."""

    def left(self, server: GuardedServer) -> None:
        """Tell the readers of a server that its connection has ended."""
        readers = self._servers.pop(server.session, None)
        if readers is not None:
            why = server.session.closed_why
            readers.close(why or ConnectionClosedError("The session is over."))

    @asynccontextmanager
    async def subscribed(
        self, session: Session, channels: Collection[str], min_severity: LoggingLevel | None
    ) -> AsyncGenerator[ServerEvents]:
        """Subscribe to events while the block lasts; see `MgpKernel.events`."""
        readers = self._servers.get(session) or _Readers(session)  # without: the call is refused
        events = await readers.open(channels, min_severity)
        try:
            yield events
        finally:
            readers.forget(events)
            await _unsubscribe(session, events.subscription_id)

    def _take(self, params: EventNotificationParams, request: Request) -> None:
        """Give an event that has arrived to its reader; one of nobody's is dropped."""
        readers = self._servers.get(request.session)
        if readers is not None:
            readers.take(params, request.message["params"])


class _Readers:
    """The readers of the events of one server, by the id of their subscription."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._readers: dict[str, ServerEvents] = {}
        self._asking = 0
        self._ended = LruDict[str, bool](_REMEMBERED)  # subscriptions that nobody reads
        self._ending = 0
        # Events that come right behind the answer, before the task that waits for it runs.
        self._early = DropOldestQueue[_Arrived](QUEUED, size=QUEUED_BYTES)

    async def open(
        self, channels: Collection[str], min_severity: LoggingLevel | None
    ) -> ServerEvents:
        """Subscribe, and return the reader."""
        least = None if min_severity is None else EventFilter(min_severity=min_severity)
        params = EventsSubscribeParams(channels=list(channels), filter=least)
        self._asking += 1
        try:
            made = await self._session.call(MGP_EVENTS_SUBSCRIBE, params)
            return self._claim(made, EventSelection(channels, min_severity))
        finally:
            self._asking -= 1
            while not self._asking and len(self._early):
                self._early.take()

    def take(self, event: EventNotificationParams, params: JsonObject) -> None:
        """Give an event to its reader, or keep it while one may be about to come."""
        reader = self._readers.get(event.subscription_id)
        if reader is not None:
            reader.put(event, params)
        elif self._asking:
            self._early.put((event, params), len(encode(params)))
        else:
            self._end(event.subscription_id)

    def forget(self, events: ServerEvents) -> None:
        """End a reader."""
        self._readers.pop(events.subscription_id, None)
        self._ended.put(events.subscription_id, True)
        events.close()

    def close(self, why: ConnectionClosedError) -> None:
        """End all readers with the error."""
        for reader in self._readers.values():
            reader.close(why)

    def _end(self, id: str) -> None:
        """End a subscription that has no reader: its caller was cancelled before the answer."""
        if id in self._ended or self._ending == _MOST_ENDING or len(id) > _LONGEST_ID:
            return
        self._ended.put(id, True)
        self._ending += 1
        self._session.start_soon(partial(self._unsubscribe, id))

    async def _unsubscribe(self, id: str) -> None:
        try:
            await _unsubscribe(self._session, id)
        finally:
            self._ending -= 1

    def _claim(self, made: EventsSubscribeResult, selection: EventSelection) -> ServerEvents:
        if made.subscription_id in self._readers:
            raise InvalidResponseError(
                "mgp/events/subscribe#/subscription_id: expected a new id, got that of another "
                "subscription"
            )
        reader = self._readers[made.subscription_id] = ServerEvents(selection, made)
        for _ in range(len(self._early)):
            self.take(*self._early.take())
        return reader


async def _unsubscribe(session: Session, id: str) -> None:
    if session.closed:
        return  # the end of the connection unsubscribes, too
    params = EventsUnsubscribeParams(subscription_id=id)
    try:
        with anyio.move_on_after(_UNSUBSCRIBE_TIMEOUT, shield=True):
            await session.call(MGP_EVENTS_UNSUBSCRIBE, params)
    except (RpcError, KinwireError) as error:
        logger.info("a subscription to events was not ended: %s", error)
