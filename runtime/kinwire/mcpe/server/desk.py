"""The operations on subscriptions, for clients that the server knows (MCPE 5, 6)."""

from __future__ import annotations

__all__ = ("Caller", "SubscriptionDesk")

import uuid
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from pydantic import MISSING

from kinwire.managers.concurrency import KeyedLock
from kinwire.mcpe.rules import subscriptions
from kinwire.mcpe.rules.refusals import invalid_input
from kinwire.mcpe.rules.subscriptions import KEPT_FOR_ACTIVE
from kinwire.mcpe.server.board import SubscriptionBoard
from kinwire.mcpe.server.clients import ClientSession, KnownClient
from kinwire.mcpe.server.handler_port import HandlerPort
from kinwire.mcpe.server.options import EventTerms
from kinwire.mcpe.server.served import ServedSubscription
from kinwire_protocols.base import UnknownVariant
from kinwire_protocols.mcpe.errors import (
    SubscriptionLimitReachedError,
    SubscriptionNotFoundError,
    UnauthorizedError,
)
from kinwire_protocols.mcpe.models import (
    EventFilter,
    EventHandler,
    EventsListParams,
    EventsSubscribeParams,
    EventsUpdateParams,
    Subscription,
    SubscriptionStatus,
)
from kinwire_protocols.problems import Problem

_EVERY_TYPE = "*"
_SHOWN = 64  # characters of an id
_ATTEMPTS = 3  # to have a client here that another process takes, too


class Caller(NamedTuple):
    """Who calls an operation, and in which session."""

    client: KnownClient
    peer: ClientSession


class SubscriptionDesk:
    """Does what the six tools ask for. Operations of one client take turns."""

    def __init__(
        self, board: SubscriptionBoard, terms: EventTerms, handlers: HandlerPort | None
    ) -> None:
        self._board = board
        self._features = board.features
        self._terms = terms
        self._handlers = handlers
        self._turns = KeyedLock[str]()

    async def subscribe(self, params: EventsSubscribeParams, caller: Caller) -> Subscription:
        """Make a subscription (MCPE 6.1).

        Raises:
            InvalidParamsError: the server does not take it; the data says where and why.
            UnauthorizedError: the client may not have such events.
            SubscriptionLimitReachedError: the client has as many as it may have, or asks too often.
            StorageError: it cannot be written.
        """
        self._must_be_in_time(caller.client)
        now = self._board.clock()
        found = [
            *subscriptions.subscribe_problems(params, self._features, now),
            *self._handler_problems(params.handler, "/handler"),
        ]
        if found:
            raise invalid_input("events_subscribe", found)
        self._must_be_allowed(caller.client, params.filter, "/filter")
        async with self._turns.of(caller.client.id):
            id = str(uuid.uuid4())
            made = subscriptions.created(params, id=id, client_id=caller.client.id, now=now)
            subscriptions.must_be_small(made, "events_subscribe")
            await self._make_room(made, caller.client)
            served = ServedSubscription(made, caller.client)
            served.go_to(caller.peer)
            await self._board.add(served)
        return made

    async def unsubscribe(self, id: str, caller: Caller) -> None:
        """Remove a subscription (MCPE 6.2).

        Raises:
            SubscriptionNotFoundError: the client has no such one.
            StorageError: it cannot be removed.
        """
        async with self._turns.of(caller.client.id):
            await self._board.remove(await self._of(id, caller))

    async def list(self, params: EventsListParams, caller: Caller) -> list[Subscription]:
        """Return the subscriptions of the client, oldest first (MCPE 6.3).

        Raises:
            StorageError: the store of the cluster failed.
        """
        async with self._turns.of(caller.client.id):
            await self._bring_back(caller.client, lambda: bool(caller.client.served))
        served, now = list(caller.client.served.values()), self._board.clock()
        for one in served:
            self._board.expire_in_time(one, now)
        listed = [one.message for one in served]
        return [one for one in listed if params.status in (None, one.status)]

    async def pause(self, id: str, caller: Caller) -> SubscriptionStatus:
        """Pause a subscription: what happens from now on is not delivered (MCPE 6.4).

        Raises:
            SubscriptionNotFoundError: the client has no such one.
            InvalidParamsError: it has expired, or the server does not pause subscriptions.
            StorageError: it cannot be written.
        """
        subscriptions.must_be_supported("events_pause", self._features)
        async with self._turns.of(caller.client.id):
            served = await self._of(id, caller)
            await self._board.change(
                served, subscriptions.paused(served.message, self._board.clock())
            )
        return served.message.status

    async def resume(self, id: str, caller: Caller) -> SubscriptionStatus:
        """Resume a subscription (MCPE 6.5).

        Raises:
            SubscriptionNotFoundError: the client has no such one.
            InvalidParamsError: it has expired, or the server does not pause subscriptions.
            SubscriptionLimitReachedError: the client has as many active ones as it may have.
            StorageError: it cannot be written.
        """
        subscriptions.must_be_supported("events_resume", self._features)
        async with self._turns.of(caller.client.id):
            served = await self._of(id, caller)
            made = subscriptions.resumed(served.message, self._board.clock())
            self._must_be_free(made, caller.client)
            served.go_to(caller.peer)
            await self._board.change(served, made)
        return served.message.status

    async def update(self, params: EventsUpdateParams, caller: Caller) -> Subscription:
        """Change a subscription (MCPE 6.6).

        Raises:
            SubscriptionNotFoundError: the client has no such one.
            InvalidParamsError: the server does not take the change, or it has expired.
            UnauthorizedError: the client may not have such events.
            SubscriptionLimitReachedError: the client has as many active ones as it may have.
            StorageError: it cannot be written.
        """
        updates = params.updates
        async with self._turns.of(caller.client.id):
            served = await self._of(params.subscription_id, caller)
            now = self._board.clock()
            found = list(subscriptions.update_problems(updates, self._features, now))
            if updates.handler is not MISSING:
                found += self._handler_problems(updates.handler, "/updates/handler")
            if found:
                raise invalid_input("events_update", found)
            if updates.filter is not None:
                self._must_be_allowed(caller.client, updates.filter, "/updates/filter")
            made = subscriptions.changed(served.message, updates, now)
            subscriptions.must_be_small(made, "events_update")
            self._must_be_free(made, caller.client)
            served.go_to(caller.peer)
            await self._board.change(served, made)
        return made

    def description(self) -> str:
        """Return what models read of this server, in the description of `events_subscribe`."""
        channels = ", ".join(self._features.channels)
        said = f" They come to the client as notifications. Channels of this server: {channels}."
        return said if self._handlers else f"{said} It runs no handlers: leave `handler` out."

    async def _of(self, id: str, caller: Caller) -> ServedSubscription:
        """Return a subscription of the client; those of others are not there for it.

        In a cluster, another process may have taken the client while this call waited for its turn.
        """
        client = caller.client
        await self._bring_back(client, lambda: id in client.served)
        found = client.served.get(id)
        if found is None:
            raise SubscriptionNotFoundError(data={"subscriptionId": id[:_SHOWN]})
        self._board.expire_in_time(found, self._board.clock())
        return found

    async def _bring_back(self, client: KnownClient, is_here: Callable[[], bool]) -> None:
        """Serve a client here again that another process of a cluster has just taken."""
        homes, left = self._board.homes, _ATTEMPTS
        while homes is not None and left and not is_here():
            await homes.bring(client.id)
            left -= 1

    def _must_be_in_time(self, client: KnownClient) -> None:
        bucket = client.subscribing
        if bucket is not None and not bucket.take(now=self._board.pace()):
            raise SubscriptionLimitReachedError(
                "Subscription limit reached: this client subscribes too often. Wait a second."
            )

    async def _make_room(self, made: Subscription, client: KnownClient) -> None:
        """Check that there may be one more; the oldest one that has expired goes, if it must.

        Raises:
            SubscriptionLimitReachedError: there are too many, of this client or of all.
        """
        self._must_be_free(made, client)
        if len(client.served) >= KEPT_FOR_ACTIVE * self._features.max_active:
            over = (one for one in client.served.values() if one.message.status == "expired")
            for served in islice(over, 1):
                await self._board.remove(served)
        if len(self._board) >= self._terms.max_subscriptions:
            raise SubscriptionLimitReachedError(
                "Subscription limit reached: the server takes no more of any client."
            )

    def _must_be_free(self, made: Subscription, client: KnownClient) -> None:
        own = client.served.get(made.id)
        others = client.counts if own is None else client.counts.minus(own.message)
        subscriptions.must_be_free(made, others, self._features)

    def _must_be_allowed(self, client: KnownClient, filter: EventFilter, at: str) -> None:
        authorize = self._terms.authorize
        if authorize is None:
            return
        for index, pattern in enumerate(filter.event_types or [_EVERY_TYPE]):
            if not authorize(client.about, pattern):
                raise UnauthorizedError(
                    f"Unauthorized: this client may not have events of the type {pattern}.",
                    data={"pointer": f"{at}/eventTypes/{index}" if filter.event_types else at},
                )

    def _handler_problems(self, handler: EventHandler | None, at: str) -> Iterator[Problem]:
        if handler is None:
            return
        if self._handlers is None:
            yield Problem(at, "nothing, since this server runs no handlers", "a handler")
        elif isinstance(handler, UnknownVariant):
            yield Problem(f"{at}/type", "one of bash, webhook, agent", "another one")
        else:
            yield from self._handlers.problems(handler, at=at)
