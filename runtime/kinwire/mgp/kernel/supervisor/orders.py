"""What a supervisor wants of a server: the last order counts, and its giver can wait."""

from __future__ import annotations

__all__ = ("Order", "OrderBox", "OrderKind")

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

import anyio

OrderKind = Literal["start", "call", "stop", "again"]


@dataclass(slots=True, eq=False)
class Order:
    """To start a server, also for a `call`, to stop it, or to stop it and start it `again`."""

    kind: OrderKind
    reason: str
    done: anyio.Event = field(default_factory=anyio.Event)


class OrderBox:
    """The order that a server has to follow next. A newer one takes the place of an older one."""

    def __init__(self) -> None:
        self.next: Order | None = None
        self._waiting: list[Order] = []
        self._news = anyio.Event()
        self.closed = False

    def put(self, order: Order) -> None:
        """Give an order. Nobody follows it after `close`."""
        if self.closed:
            order.done.set()
            return
        self.next = order
        self._waiting.append(order)
        self._news.set()

    def take(self) -> Order | None:
        """Return the next order, which is followed from now on; None without one."""
        order, self.next = self.next, None
        return order

    async def wait(self, *kinds: OrderKind) -> None:
        """Return as soon as there is an order of one of the kinds, without taking it."""
        while self.next is None or self.next.kind not in kinds:
            if self._news.is_set():
                self._news = anyio.Event()
            await self._news.wait()

    async def wait_any(self) -> None:
        """Return as soon as there is an order, without taking it."""
        await self.wait("start", "call", "stop", "again")

    async def unless(self, work: Callable[[], Awaitable[object]], *kinds: OrderKind) -> None:
        """Do `work` to its end, or until there is an order of one of the kinds."""

        async def end_work() -> None:
            await self.wait(*kinds)
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(end_work)
            await work()
            tasks.cancel_scope.cancel()

    def finish(self) -> None:
        """Let those continue whose orders are followed or replaced, unless a newer one waits."""
        if self.next is not None:
            return
        waiting, self._waiting = self._waiting, []
        for order in waiting:
            order.done.set()

    def close(self) -> None:
        """Let everybody continue: no order is followed any more."""
        self.closed, self.next = True, None
        self.finish()
