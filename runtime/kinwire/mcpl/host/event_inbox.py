"""Events that servers push, handed to the host once each, in order, within limits (MCPL 9).

An event is stored before it is handed over, and its answer before the server gets it. After a
restart an event that was answered is known, and one that was not is handed over again, marked so.
"""

from __future__ import annotations

__all__ = ("EventInbox", "OnPush", "PushedEvent")

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import anyio

from kinwire.managers.ask import Answer, Failed, Late, ask
from kinwire.managers.limits import ConcurrencyLimit, TokenBucket
from kinwire.mcpl.rules.push import (
    AT_ONCE,
    BACKPRESSURE,
    CONTENT_SIZE,
    NOT_IN_TIME,
    REUSED,
    TOO_LARGE,
    StoredAnswer,
    body_digest,
)
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.bounded import DEDUP_SECONDS, TtlDict
from kinwire.support.json_values import short_digest, text
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcpl.models import PushEventParams, PushEventResult

if TYPE_CHECKING:
    from kinwire.mcpl.host.server_peer import ServerPeer

logger = logging.getLogger("kinwire.mcpl")

_Lock = partial(anyio.Lock, fast_acquire=True)  # most events find it free, and do not wait


@dataclass(frozen=True, slots=True)
class PushedEvent:
    """An event that a server has pushed."""

    server: ServerPeer
    params: PushEventParams
    again: bool = False
    """It was handed over before and not answered: the process ended, the time ran out, or the
    connection was lost."""


OnPush = Callable[[PushedEvent], Awaitable[PushEventResult]]
"""Takes an event, and returns whether it is accepted and which inference it has started.

It starts the inference and does not wait for it: later events of the feature set wait until this
returns.
"""


class EventInbox:
    """The events of all servers of a host."""

    def __init__(
        self,
        hand_over: OnPush | None,
        timeout: float,
        rate: float,
        records: Records | None,
        clock: Clock,
    ) -> None:
        self._hand_over = hand_over
        self._timeout = timeout
        self._rate = rate
        self._records = records
        self._clock = clock  # never goes back
        self._found: dict[str, _ServerInbox] = {}

    async def take(self, server: ServerPeer, params: PushEventParams) -> PushEventResult:
        """Return the answer to an event, given now or when it came first."""
        inbox = self._found.get(server.key)
        if inbox is None:
            assert self._hand_over is not None  # else events are not served
            bucket = TokenBucket(per_second=self._rate)
            stored = _StoredAnswers(server.key, self._records, self._clock)
            inbox = _ServerInbox(self._hand_over, self._timeout, bucket, stored)
            self._found[server.key] = inbox
        return await inbox.take(server, params)


class _StoredAnswers:
    """The answers to one server's events, in memory and in records."""

    def __init__(self, server: str, records: Records | None, clock: Clock) -> None:
        self._place = f"push/{server}/"
        self._records = records
        self._clock = clock
        self._seen = TtlDict[str, StoredAnswer](DEDUP_SECONDS, limit=100_000)

    async def look(self, key: str) -> StoredAnswer | None:
        """Return what is stored of an event, or None if it is new."""
        kept = self._seen.get(key, now=self._clock())
        if kept is not None or self._records is None:
            return kept
        record = await self._records.get(key)
        if record is None:
            return None
        value = record.value
        answer = value["answer"] and from_wire(PushEventResult, value["answer"])
        return StoredAnswer(value["digest"], answer)

    async def keep(self, key: str, body: str, answer: PushEventResult | None) -> None:
        """Store an event, and its answer once there is one."""
        if self._records is not None:
            known = None if answer is None else to_wire(answer)
            value = {"digest": body, "answer": known}
            await self._records.put(key, value, expires_in=DEDUP_SECONDS)
        self._seen.put(key, StoredAnswer(body, answer), now=self._clock())

    async def forget(self, key: str) -> None:
        """Treat an event as new again."""
        self._seen.pop(key, now=self._clock())
        if self._records is not None:
            await self._records.delete(key)

    def key_of(self, event_id: str) -> str:
        """Return the key of an event, for the other methods."""
        return self._place + short_digest(event_id)


class _ServerInbox:
    """The events of one server."""

    def __init__(
        self, hand_over: OnPush, timeout: float, bucket: TokenBucket, stored: _StoredAnswers
    ) -> None:
        self._hand_over = hand_over
        self._timeout = timeout
        self._bucket = bucket
        self._limit = ConcurrencyLimit[str](AT_ONCE)
        self._stored = stored
        self._under_way: dict[str, anyio.Event] = {}
        self._turns = defaultdict[str, anyio.Lock](_Lock)  # by feature set

    async def take(self, server: ServerPeer, params: PushEventParams) -> PushEventResult:
        """Return the answer to the event."""
        body, event_id = body_digest(params), params.event_id
        while (earlier := self._under_way.get(event_id)) is not None:
            await earlier.wait()  # a repeat must find the answer to the first one
        if len(text(to_wire(params.payload))) > CONTENT_SIZE:
            return TOO_LARGE
        if not self._limit.enter(server.id):
            return BACKPRESSURE
        if not self._bucket.take(now=anyio.current_time()):
            self._limit.leave(server.id)
            return BACKPRESSURE
        over = self._under_way[event_id] = anyio.Event()
        turn = self._turns[params.feature_set]
        try:
            async with turn:
                return await self._in_turn(server, params, body)
        finally:
            if not turn.locked():  # a server may declare any number of sets
                self._turns.pop(params.feature_set, None)
            self._limit.leave(server.id)
            del self._under_way[event_id]
            over.set()

    async def _in_turn(
        self, server: ServerPeer, params: PushEventParams, body: str
    ) -> PushEventResult:
        key = self._stored.key_of(params.event_id)
        known = await self._stored.look(key)
        answer = None if known is None else known.answer_to(body)
        if answer is None:
            return await self._taken(PushedEvent(server, params, known is not None), key, body)
        if answer is REUSED:
            logger.warning("%s: event %.60r came again as another", server.id, params.event_id)
        return answer

    async def _taken(self, event: PushedEvent, key: str, body: str) -> PushEventResult:
        await self._stored.keep(key, body, None)
        taken = await ask(
            self._hand_over,
            event,
            name="McplHost.on_push",
            timeout=self._timeout,
            expects=PushEventResult,
        )
        if isinstance(taken, Late):
            event_id = event.params.event_id
            logger.warning("%s: event %.60r was not taken in time", event.server.id, event_id)
            return NOT_IN_TIME
        if isinstance(taken, Answer) and taken.value.accepted:
            await self._stored.keep(key, body, taken.value)
            return taken.value
        await self._stored.forget(key)  # it was not taken: the server may send it again
        if isinstance(taken, Failed):
            raise taken.error
        return taken.value
