"""A subscription of this client: its events, in the order in which they came."""

from __future__ import annotations

__all__ = (
    "QUEUED",
    "QUEUED_BYTES",
    "QUEUED_EVENTS",
    "EventSubscription",
    "waiting_events",
    "weight_of",
)

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import TYPE_CHECKING, Final, Self

import anyio
import anyio.lowlevel

from kinwire.mcpe.client.arrived import ArrivedEvents
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.support.bounded import DropOldestQueue
from kinwire_protocols.mcpe.models import (
    EventsSubscribeParams,
    MCPEvent,
    Subscription,
    UpdateSubscriptionRequest,
)

if TYPE_CHECKING:
    from kinwire.mcpe.client.event_server import EventServer

QUEUED: Final = 1_000
"""How many notifications of a subscription may wait for its reader; then the oldest are dropped."""

QUEUED_EVENTS: Final = 100_000
"""How many events those may have in all."""

QUEUED_BYTES: Final = 64_000_000
"""How many bytes of JSON those events may have in all."""


def waiting_events() -> DropOldestQueue[ArrivedEvents]:
    """Return a queue of notifications that keeps these limits; `weight_of` is the size of one."""
    return DropOldestQueue[ArrivedEvents](QUEUED, size=QUEUED_BYTES)


def weight_of(arrived: ArrivedEvents) -> int:
    """Return the bytes of a notification; many small events count as if they were larger."""
    return max(arrived.size, len(arrived.events) * QUEUED_BYTES // QUEUED_EVENTS)


class EventSubscription(AsyncIterator[MCPEvent]):
    """The events of one subscription: `async for event in subscription`.

    The loop ends when the subscription expires or is removed. If the connection ends, it raises
    `ConnectionClosedError`, unless the client connects to the server again in time: then it goes
    on.
    """

    def __init__(
        self, message: Subscription, asked: EventsSubscribeParams | None, server: EventServer
    ) -> None:
        self.message = message
        """The subscription as the server has returned it last."""
        self.asked = asked
        """What was asked for, to subscribe again; None for one that was there before."""
        self.expired_at: str | None = None
        """When it expired, as a date-time; None if it has not."""
        self.lost = 0
        """How many events are missing: the server or this side has dropped them, since a reader was
        too slow, or they were not as MCPE has them."""
        self.renewed = 0
        """How often it was made again, since the server had none of it after a reconnection."""
        self._server: EventServer | None = server
        self._queue = waiting_events()
        self._left = deque[MCPEvent]()  # of the notification that is being read
        self._changed = anyio.Event()
        self._over = False
        self._error: ConnectionClosedError | None = None

    @property
    def id(self) -> str:
        """The id of the subscription."""
        return self.message.id

    @property
    def server(self) -> EventServer | None:
        """The server, over the open connection; None without a connection."""
        return self._server

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> MCPEvent:
        """Return the next event.

        Raises:
            StopAsyncIteration: the subscription has expired or was removed.
            ConnectionClosedError: the connection has ended.
        """
        while not self._left:
            self._left.extend((await self._next()).events)
        return self._left.popleft()

    async def batches(self) -> AsyncGenerator[Sequence[MCPEvent]]:
        """Yield the events of each notification together: `async for batch in ...batches()`.

        Raises:
            ConnectionClosedError: the connection has ended.
        """
        while True:
            try:
                yield (await self._next()).events
            except StopAsyncIteration:
                return

    async def pause(self) -> None:
        """Have the server deliver nothing until `resume`; what happens until then is lost (6.4).

        Raises:
            RpcError, ConnectionClosedError, RequestTimeoutError: as for `EventServer.pause`.
        """
        await self._at_server().pause(self.id)

    async def resume(self) -> None:
        """Have the server deliver again (6.5).

        Raises:
            RpcError, ConnectionClosedError, RequestTimeoutError: as for `EventServer.resume`.
        """
        await self._at_server().resume(self.id)

    async def update(self, updates: UpdateSubscriptionRequest) -> Subscription:
        """Change what is in `updates`, and return the subscription (6.6).

        Raises:
            RpcError, ConnectionClosedError, RequestTimeoutError, TypeError: as for
                `EventServer.update`.
        """
        self.message = await self._at_server().update(self.id, updates)
        return self.message

    def put(self, arrived: ArrivedEvents) -> None:
        """Have events wait for the reader."""
        self.lost += arrived.dropped
        if arrived.dropped and not arrived.events:
            return
        self.lost += sum(len(one.events) for one in self._queue.put(arrived, weight_of(arrived)))
        self._wake()

    def end(self, expired_at: str | None = None) -> None:
        """End the loop after what waits."""
        self.expired_at = expired_at or self.expired_at
        self._over = True
        self._wake()

    def moved(self, server: EventServer | None) -> None:
        """Go on with another connection; None until there is one."""
        self._server = server
        self._wake()

    def fail(self, error: ConnectionClosedError) -> None:
        """End the loop with an error, after what waits."""
        self._error = self._error or error
        self._wake()

    def _at_server(self) -> EventServer:
        if self._server is None:
            raise self._error or ConnectionClosedError("The server is not connected.")
        return self._server

    async def _next(self) -> ArrivedEvents:
        await anyio.lowlevel.checkpoint()
        while not len(self._queue):
            if self._over:
                raise StopAsyncIteration
            if self._error is not None:
                raise self._error.again()
            self._changed = anyio.Event()
            await self._changed.wait()
        return self._queue.take()

    def _wake(self) -> None:
        self._changed.set()
