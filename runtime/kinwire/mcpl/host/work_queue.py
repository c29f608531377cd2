"""Events and turns that are accepted immediately and worked on in order (MCPL 9, 14.3)."""

from __future__ import annotations

__all__ = ("WorkItem", "WorkQueue")

import logging
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from kinwire.mcpl.host.event_inbox import PushedEvent
from kinwire.mcpl.host.message_inbox import UserTurn
from kinwire.mcpl.rules.push import BACKPRESSURE
from kinwire.support.arguments import FUNCTION, ArgumentCheck, count_from
from kinwire.support.background import background
from kinwire_protocols.mcpl.models import PushEventResult

logger = logging.getLogger("kinwire.mcpl")

_WORK_QUEUE = ArgumentCheck(
    "WorkQueue",
    "WorkQueue(work)",
    {"work": FUNCTION},
    limit=count_from(1),
    workers=count_from(1),
)


@dataclass(frozen=True, slots=True)
class WorkItem:
    """An event, or a turn of users, that was accepted.

    `event` is a `PushedEvent`, `turn` a `UserTurn`; the other one is None. `inference_id` is the id
    for the inference, which the server of an event has got.
    """

    inference_id: str
    """The id for the inference; of an event, its server has got it."""
    event: PushedEvent | None = None
    turn: UserTurn | None = None
    """Either `event` or `turn` is set."""


class WorkQueue:
    """A queue with workers: its handlers return immediately, and `work` takes as long as it needs.

    Pass `queue.push` as `McplHost(on_push=...)` and `queue.turn` as `Channels(on_turn=...)`, and
    run the host within `async with queue.running():`. `work` gets each item; an exception is
    logged, and the next item comes. With one worker, the order is kept.

    While `limit` items wait, events are answered with `backpressure`, and turns wait for room.
    Items are in memory: for what must not be lost, use `DurableInbox`.
    """

    def __init__(
        self,
        work: Callable[[WorkItem], Awaitable[None]],
        *,
        limit: int = 100,
        workers: int = 1,
    ) -> None:
        """Prepare a queue for one host.

        Raises:
            TypeError, ValueError: an argument is wrong.
        """
        _WORK_QUEUE.check(work=work, limit=limit, workers=workers)
        self._work = work
        self._limit, self._workers = limit, workers
        self._items: deque[WorkItem] = deque()
        self._changed = anyio.Event()
        self._is_running = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Run the workers until the block is left, and cancel them then; waiting items stay."""
        async with background() as tasks:
            for _ in range(self._workers):
                tasks.start_soon(self._run)
            self._is_running = True
            try:
                yield
            finally:
                self._is_running = False
                tasks.cancel_scope.cancel()

    async def push(self, event: PushedEvent) -> PushEventResult:
        """Accept an event, unless there is no room. Pass this as `McplHost(on_push=...)`."""
        if len(self._items) >= self._limit:
            return BACKPRESSURE
        item = WorkItem(_new_id(), event=event)
        self._add(item)
        return PushEventResult(accepted=True, inference_id=item.inference_id)

    async def turn(self, turn: UserTurn) -> None:
        """Accept a turn, when there is room. Pass this as `Channels(on_turn=...)`."""
        while len(self._items) >= self._limit:
            await self._changed.wait()
        self._add(WorkItem(_new_id(), turn=turn))

    async def _run(self) -> None:
        while True:
            while not self._items:
                await self._changed.wait()
            item = self._items.popleft()
            self._wake()
            try:
                await self._work(item)
            except Exception:
                logger.exception("work on %s failed", item.inference_id)

    def _add(self, item: WorkItem) -> None:
        if not (self._is_running or self._items):
            logger.warning("WorkQueue: items wait for `async with queue.running():`")
        self._items.append(item)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def _new_id() -> str:
    return f"inf_{secrets.token_hex(8)}"
