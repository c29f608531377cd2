"""Subscriptions of a client to resources (MCP, Resource Subscriptions).

All readers of one address share one subscription. `rules/updates.py` says whom an update is for.
"""

from __future__ import annotations

__all__ = ("Subscriptions",)

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio

from kinwire.mcp.feed import Feed
from kinwire.mcp.rules.updates import add_update, concerns
from kinwire.rpc.errors import (
    CapabilityNotNegotiatedError,
    ConnectionClosedError,
    KinwireError,
    RpcError,
)
from kinwire_protocols import mcp

logger = logging.getLogger("kinwire.host")

_GOODBYE = 5.0  # seconds for the last reader to unsubscribe


class _Subscription:
    """One address, and those who read of its updates."""

    def __init__(self) -> None:
        self.feeds: set[Feed[str]] = set()
        self.turn = anyio.Lock()  # one of subscribe and unsubscribe at a time
        self.asked = False  # the server may have subscribed us
        self.confirmed = False


class Subscriptions:
    """Those of one connection."""

    def __init__(self) -> None:
        self._by_uri: dict[str, _Subscription] = {}

    @asynccontextmanager
    async def subscribed(self, server: mcp.Server, uri: str) -> AsyncGenerator[AsyncIterator[str]]:
        """Yield the addresses that change at `uri` and below it, while the block lasts.

        Raises what `server.resources_subscribe` does.
        """
        subscription = self._by_uri.setdefault(uri, _Subscription())
        feed = Feed[str](lambda waiting, updated: add_update(waiting, uri, updated))
        subscription.feeds.add(feed)  # first: an update may come right behind the answer
        try:
            async with subscription.turn:
                if not subscription.confirmed:
                    await _subscribe(subscription, server, uri)
            yield feed
        finally:
            subscription.feeds.remove(feed)
            feed.end()
            if not subscription.feeds:
                await self._leave(subscription, server, uri)

    def updated(self, uri: str) -> None:
        """Tell those whom a change at `uri` concerns."""
        for subscribed, subscription in self._by_uri.items():
            if concerns(subscribed, uri):
                for feed in subscription.feeds:
                    feed.put(uri)

    def end(self, why: ConnectionClosedError) -> None:
        """End all feeds: nothing comes any more."""
        for subscription in self._by_uri.values():
            subscription.asked = subscription.confirmed = False
            for feed in subscription.feeds:
                feed.end(why)

    async def _leave(self, subscription: _Subscription, server: mcp.Server, uri: str) -> None:
        with anyio.move_on_after(_GOODBYE, shield=True):
            async with subscription.turn:
                if subscription.asked and not subscription.feeds:
                    subscription.asked = subscription.confirmed = False
                    await _unsubscribe(server, uri)
        if not subscription.feeds and self._by_uri.get(uri) is subscription:
            del self._by_uri[uri]


async def _subscribe(subscription: _Subscription, server: mcp.Server, uri: str) -> None:
    subscription.asked = True  # whatever happens to the answer
    try:
        await server.resources_subscribe(uri=uri)
    except (RpcError, CapabilityNotNegotiatedError):
        subscription.asked = False
        raise
    subscription.confirmed = True


async def _unsubscribe(server: mcp.Server, uri: str) -> None:
    try:
        await server.resources_unsubscribe(uri=uri)
    except ConnectionClosedError:
        pass  # which unsubscribes, too
    except (RpcError, KinwireError) as error:
        logger.info("a subscription was not ended: %s: %s", uri, error)
