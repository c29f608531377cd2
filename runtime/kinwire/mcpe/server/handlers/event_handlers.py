"""The handlers of a server: what waits for them, attempts, and what they could not do (MCPE 9).

Work is done in the order of its subscription, next to the notifications and never before them, and
of several subscriptions concurrently. It is at least once: with records, what was not done goes on
after a restart, and the id of the delivery is the same.
"""

from __future__ import annotations

__all__ = ("EventHandlers",)

import logging
import random
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextvars import Context

import anyio

from kinwire.managers.retry import QueuedItem, Random, RetryQueue, Sleep
from kinwire.mcpe.server.event_client import EventClient
from kinwire.mcpe.server.handlers.agent import AgentHandlers, SessionFinder
from kinwire.mcpe.server.handlers.bash import BashHandlers
from kinwire.mcpe.server.handlers.dead_letters import RETRY_REQUESTS, DeadLetters
from kinwire.mcpe.server.handlers.places import HandlerPlaces
from kinwire.mcpe.server.handlers.webhook import WebhookHandlers
from kinwire.mcpe.server.handlers.work import (
    HandlerFailedError,
    HandlerWork,
    KnownHandler,
    RetryHandlerError,
)
from kinwire.storage.clock import Clock
from kinwire.storage.errors import ConflictError, StorageClosedError, StorageError
from kinwire.storage.records import Change, Records
from kinwire.support.arguments import TEXT, ArgumentCheck, count_from, having, instance_of
from kinwire.support.background import background, start_detached
from kinwire.support.backoff import Backoff
from kinwire.support.json_values import short_digest
from kinwire.support.sanitize import sanitize_for_log
from kinwire.support.validation import MOST
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.models import (
    AgentEventHandler,
    BashEventHandler,
    EventHandler,
    Subscription,
    WebhookEventHandler,
)
from kinwire_protocols.problems import Problem

logger = logging.getLogger("kinwire.mcpe")

_TOO_MANY = "too much work of this subscription, or of all, waits"
_QUEUE = "mcpe-handlers/"  # of keys of records
_AGAIN = 1.0  # seconds

_EVENT_HANDLERS = ArgumentCheck(
    "EventHandlers",
    "EventHandlers(webhook=WebhookHandlers())",
    {"webhook": instance_of(WebhookHandlers, "WebhookHandlers", "WebhookHandlers()").or_none},
    bash=instance_of(BashHandlers, "BashHandlers", 'BashHandlers(["notify-send"])').or_none,
    agent=instance_of(AgentHandlers, "AgentHandlers", "AgentHandlers()").or_none,
    records=having(
        ("get", "put", "scan", "watch"), "records of a store", 'await store.records("mcpe")'
    ).or_none,
    name=TEXT,
    attempts=count_from(1),
    backoff=instance_of(Backoff, "a Backoff", "Backoff()").or_none,
    concurrently=count_from(1),
    waiting=count_from(1),
)


class EventHandlers:
    """Has handlers work on events: `McpeServer(handlers=EventHandlers(webhook=...))`.

    A handler of a type that is not given is refused. Work that fails in a way that may pass is
    tried `attempts` times, with delays by `backoff`; then, or if it fails for good, it is a dead
    letter. Of all subscriptions together `concurrently` handlers run at the same time; clients that
    wait for that take turns. `waiting` is how many deliveries of one subscription may wait, and ten
    times that in all; more are dead letters immediately.

    With `records`, work and dead letters outlive the process. Processes that share them need a
    `name` each; one that starts again goes on with the work of its name.
    """

    def __init__(  # noqa: PLR0913 - one for each kind, and limits
        self,
        *,
        webhook: WebhookHandlers | None = None,
        bash: BashHandlers | None = None,
        agent: AgentHandlers | None = None,
        records: Records | None = None,
        name: str = "main",
        attempts: int = 6,
        backoff: Backoff | None = None,
        concurrently: int = 16,
        waiting: int = 1000,
        clock: Clock = time.time,
        draw: Random = random.random,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        """Prepare to work on events of one server.

        Raises:
            ValueError: a number is out of range.
            TypeError: an argument is not of its type.
        """
        _EVENT_HANDLERS.check(
            webhook=webhook,
            bash=bash,
            agent=agent,
            records=records,
            name=name,
            attempts=attempts,
            backoff=backoff,
            concurrently=concurrently,
            waiting=waiting,
        )
        self._webhook, self._bash, self._agent = webhook, bash, agent
        self._attempts, self._concurrently, self._waiting = attempts, concurrently, waiting
        self._records, self._sleep = records, sleep
        self.dead = DeadLetters(records, clock)
        """What could not be done, once `begin` has read it."""
        self._queue = RetryQueue(
            self._deliver,
            records=records,
            prefix=f"{_QUEUE}{short_digest(name)}/",
            limit=MOST,
            backoff=backoff or Backoff(first=1.0, longest=300.0),
            draw=draw,
            sleep=sleep,
        )
        self._incoming: deque[tuple[HandlerWork, str | None]] = deque()  # with why it is dead
        self._coming = Counter[str]()  # how many of those are not in the queue, by subscription
        self._session_of: SessionFinder = lambda client_id: None
        self._running = False
        self._news = anyio.Event()
        self._taken = anyio.Event()

    def problems(self, handler: EventHandler, *, at: str = "/handler") -> Iterator[Problem]:
        """Yield why the server does not take a handler, with pointers that begin with `at`."""
        match handler:
            case WebhookEventHandler() if self._webhook is not None:
                yield from self._webhook.problems(handler, at)
            case BashEventHandler() if self._bash is not None:
                yield from self._bash.problems(handler, at)
            case AgentEventHandler() if self._agent is not None:
                yield from self._agent.problems(handler, at)
            case _:
                kinds = ", ".join(self._kinds()) or "nothing"
                yield Problem(f"{at}/type", f"a type that this server runs: {kinds}", "another one")

    def begin(self, session_of: SessionFinder) -> None:
        """Go on with what is recorded; `session_of` finds clients. A second time does nothing."""
        self._session_of = session_of
        self._start()

    def handle(
        self,
        subscription: Subscription,
        client: EventClient,
        events: Sequence[JsonObject],
        delivery_id: str,
    ) -> None:
        """Have the handler of a subscription work on events; this itself waits for nothing."""
        handler = subscription.handler
        if not isinstance(handler, KnownHandler):
            return
        id = subscription.id
        work = HandlerWork(id, client.id, handler, tuple(events), delivery_id)
        full = self._is_full(id)
        if not full:
            self._coming[id] += 1
        elif len(self._incoming) >= 20 * self._waiting:
            logger.warning("events for a handler of %s are lost: %s", id, _TOO_MANY)
            return
        self._incoming.append((work, _TOO_MANY if full else None))
        self._start()
        self._news.set()

    def _is_full(self, id: str) -> bool:
        own = self._coming[id] + self._queue.pending_of(id)
        total = self._coming.total() + self._queue.pending
        return own >= self._waiting or total >= 10 * self._waiting

    async def retry_dead(self, id: str) -> bool:
        """Try a dead letter again, from the first attempt; return whether there is such a one.

        Raises:
            StorageError: the store failed.
        """
        letter = await self.dead.find(id)
        if letter is None:
            return False
        # A crash in between leaves it in both.
        await self._queue.put(letter.work.subscription_id, letter.work.to_record())
        await self.dead.remove(id)
        self._start()
        return True

    async def drain(self) -> None:
        """Wait until nothing is left to be done; with a store that fails, until it works."""
        while self._incoming and self._running:
            await self._taken.wait()
        await self._queue.drain()

    def _kinds(self) -> Iterator[str]:
        kinds = {"webhook": self._webhook, "bash": self._bash, "agent": self._agent}
        yield from (name for name, one in kinds.items() if one is not None)

    def _start(self) -> None:
        if not self._running:
            self._running = True
            Context().run(start_detached, self._run)  # it belongs to no request

    async def _run(self) -> None:
        self._places = HandlerPlaces(self._concurrently)
        try:
            while await self._goes_on():
                await self._sleep(_AGAIN)
        finally:
            self._running = False
            self._taken.set()

    async def _goes_on(self) -> bool:
        """Have handlers work until that fails; return whether it may succeed later."""
        try:
            await self.dead.load()
            async with self._queue.running(), background() as tasks:
                tasks.start_soon(self._take_requests)
                while True:
                    await self._take_incoming()
                    await self._news.wait()
        except StorageError as error:
            logger.error("handlers of events wait: %s", sanitize_for_log(error))
            return not isinstance(error, StorageClosedError)
        except Exception:
            logger.exception("handlers of events have stopped")
            return True
        finally:
            self._taken.set()
            self._taken = anyio.Event()

    async def _take_requests(self) -> None:
        """Try dead letters again of which another process says so, such as `kinwire events`."""
        while self._records is not None:
            try:
                await self._follow_requests(self._records)
            except StorageClosedError:
                return
            except StorageError as error:
                logger.error("dead letters are not tried again: %s", sanitize_for_log(error))
            await self._sleep(_AGAIN)

    async def _follow_requests(self, records: Records) -> None:
        async with records.watch(RETRY_REQUESTS) as changes:
            async for change in changes:
                if change.record is not None:
                    await self._take_request(records, change)

    async def _take_request(self, records: Records, change: Change) -> None:
        """Try a dead letter again, unless another process does so."""
        try:
            await records.delete(change.key, revision=change.revision)
        except ConflictError:
            return
        await self.retry_dead(change.key.removeprefix(RETRY_REQUESTS))

    async def _take_incoming(self) -> None:
        """Have all that has come recorded, also if the store fails for a while."""
        self._news = anyio.Event()
        while self._incoming:
            try:
                await self._take(*self._incoming[0])
            except StorageClosedError:
                raise
            except StorageError as error:
                logger.error("work of handlers waits: %s", sanitize_for_log(error))
                await self._sleep(_AGAIN)
            else:
                self._incoming.popleft()
        self._taken.set()
        self._taken = anyio.Event()

    async def _take(self, work: HandlerWork, reason: str | None) -> None:
        id = work.subscription_id
        if reason is not None:
            await self.dead.add(work, reason)
            return
        await self._queue.put(id, work.to_record())
        self._coming[id] -= 1
        if not self._coming[id]:
            del self._coming[id]

    async def _deliver(self, item: QueuedItem) -> bool:
        """Try once, and return whether nothing more is to be done."""
        try:
            work = HandlerWork.from_record(item.value, item.attempt)
        except ValueError as error:
            logger.warning("ignored work for a handler that cannot be read: %s", error)
            return True
        async with self._places.of(work.client_id):
            failure = await self._failure_of(work)
        if isinstance(failure, RetryHandlerError) and work.attempt < self._attempts:
            return False
        if failure is not None:
            await self._bury(work, failure.reason)
        return True

    async def _failure_of(self, work: HandlerWork) -> HandlerFailedError | None:
        """Try once; return why it failed, None if it is done."""
        try:
            await self._work(work)
        except HandlerFailedError as error:
            return error
        except Exception as error:  # of a function of the program
            logger.exception("a handler of the subscription %s failed", work.subscription_id)
            return HandlerFailedError(f"an exception was raised: {type(error).__name__}")
        return None

    async def _work(self, work: HandlerWork) -> None:
        match work.handler:
            case WebhookEventHandler() as handler if self._webhook is not None:
                await self._webhook.work(work, handler)
            case BashEventHandler() as handler if self._bash is not None:
                await self._bash.work(work, handler)
            case AgentEventHandler() as handler if self._agent is not None:
                await self._agent.work(work, handler, self._session_of)
            case _:
                raise HandlerFailedError("the server does not run handlers of this type any more")

    async def _bury(self, work: HandlerWork, reason: str) -> None:
        logger.warning(
            "a handler of the subscription %s failed at attempt %d: %s",
            work.subscription_id,
            work.attempt,
            sanitize_for_log(reason),
        )
        try:
            await self.dead.add(work, reason)
        except StorageError as error:
            logger.error("a dead letter cannot be kept: %s", sanitize_for_log(error))
