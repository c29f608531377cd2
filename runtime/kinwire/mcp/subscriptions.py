"""A client's subscriptions to resources (MCP, Resource Subscriptions).

All readers of one address share one subscription. `rules/subscriptions.py` decides which readers
get an update.
"""

from __future__ import annotations

__all__ = ("Subscriptions",)

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio

from kinwire.mcp.conflating_queue import ConflatingQueue
from kinwire.mcp.rules.subscriptions import add_update, concerns
from kinwire.rpc.errors import (
    CapabilityNotNegotiatedError,
    ConnectionClosedError,
    KinwireError,
    RpcError,
)
from kinwire_protocols import mcp

logger = logging.getLogger("kinwire.host")

_UNSUBSCRIBE_TIMEOUT = 5.0  # seconds


class _Subscription:
    """One address, and the queues of its readers."""

    def __init__(self) -> None:
        self.queues: set[ConflatingQueue[str]] = set()
        self.lock = anyio.Lock()  # one of subscribe and unsubscribe at a time
        self.requested = False  # the server may have subscribed us
        self.confirmed = False


class Subscriptions:
    """The subscriptions of one connection."""

    def __init__(self) -> None:
        self._by_uri: dict[str, _Subscription] = {}

    @asynccontextmanager
    async def subscribed(
        self, server: mcp.ServerStub, uri: str
    ) -> AsyncGenerator[AsyncIterator[str]]:
        """Yield the addresses that change at `uri` and below it, while the block lasts.

        Raises the errors of `server.resources_subscribe`.
        """
        subscription = self._by_uri.setdefault(uri, _Subscription())
        queue = ConflatingQueue[str](lambda pending, updated: add_update(pending, uri, updated))
        subscription.queues.add(queue)  # first: an update may come right behind the answer
        try:
            async with subscription.lock:
                if not subscription.confirmed:
                    await _subscribe(subscription, server, uri)
            yield queue
        finally:
            subscription.queues.remove(queue)
            queue.close()
            if not subscription.queues:
                await self._remove_unused(subscription, server, uri)

    def dispatch(self, uri: str) -> None:
        """Give an update of `uri` to the readers that it concerns."""
        for subscribed, subscription in self._by_uri.items():
            if concerns(subscribed, uri):
                for queue in subscription.queues:
                    queue.put(uri)

    def close(self, error: ConnectionClosedError) -> None:
        """Close the queues of all readers with `error`: the connection has ended."""
        for subscription in self._by_uri.values():
            subscription.requested = subscription.confirmed = False
            for queue in subscription.queues:
                queue.close(error)

    async def _remove_unused(
        self, subscription: _Subscription, server: mcp.ServerStub, uri: str
    ) -> None:
        with anyio.move_on_after(_UNSUBSCRIBE_TIMEOUT, shield=True):
            async with subscription.lock:
                if subscription.requested and not subscription.queues:
                    subscription.requested = subscription.confirmed = False
                    await _unsubscribe(server, uri)
        if not subscription.queues and self._by_uri.get(uri) is subscription:
            del self._by_uri[uri]


async def _subscribe(subscription: _Subscription, server: mcp.ServerStub, uri: str) -> None:
    subscription.requested = True  # also if the answer gets lost
    try:
        await server.resources_subscribe(uri=uri)
    except (RpcError, CapabilityNotNegotiatedError):
        subscription.requested = False
        raise
    subscription.confirmed = True


async def _unsubscribe(server: mcp.ServerStub, uri: str) -> None:
    try:
        await server.resources_unsubscribe(uri=uri)
    except ConnectionClosedError:
        pass  # the end of the connection unsubscribes, too
    except (RpcError, KinwireError) as error:
        logger.info("a subscription was not ended: %s: %s", uri, error)
