"""Events that servers push, handed to the host once each, in order, within limits (MCPL 9).

`managers/inbox.py` remembers them: after a restart an event that was answered is known, and one
that was not is handed over again, marked so.
"""

from __future__ import annotations

__all__ = ("EventInbox", "OnPush", "PushedEvent")

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from anyio import current_time

from kinwire.managers.ask import Failed, Late, ask
from kinwire.managers.concurrency import KeyedLock
from kinwire.managers.inbox import Fate, Inbox, ReusedIdError
from kinwire.managers.limits import ConcurrencyLimit, TokenBucket
from kinwire.mcpl.rules.push import (
    AT_ONCE,
    BACKPRESSURE,
    CONTENT_SIZE,
    NOT_IN_TIME,
    REUSED,
    TOO_LARGE,
    body_digest,
)
from kinwire.mcpl.rules.timestamps import timestamp_problem, timestamp_with_zone
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.bounded import LruDict
from kinwire.support.json_values import text
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcpl.models import PushEventParams, PushEventResult

if TYPE_CHECKING:
    from kinwire.mcpl.host.server_peer import ServerPeer

logger = logging.getLogger("kinwire.mcpl")

_MOST_BUCKETS = 10_000  # servers whose rate is limited


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
        self._buckets = LruDict[str, TokenBucket](_MOST_BUCKETS)
        self._limit = ConcurrencyLimit[str](AT_ONCE)
        self._turns = KeyedLock[tuple[str, str]]()  # by server and feature set
        self._inbox = Inbox[PushEventParams, PushEventResult](
            "push/",
            write=to_wire,
            read=partial(from_wire, PushEventResult),
            records=records,
            clock=clock,
        )

    async def take(self, server: ServerPeer, params: PushEventParams) -> PushEventResult:
        """Return the answer to an event, given now or when it came first.

        Raises:
            InvalidParamsError: its timestamp is not an ISO 8601 date-time.
        """
        timestamp = timestamp_with_zone(params.timestamp)
        if timestamp != params.timestamp:
            params = _with_timestamp(server, params, timestamp)
        event = to_wire(params)
        if len(text(event["payload"])) > CONTENT_SIZE:
            return TOO_LARGE
        sender = server.key
        if not self._limit.enter(sender):
            return BACKPRESSURE
        bucket = self._buckets.get(sender) or self._new_bucket(sender)
        if not bucket.take(now=current_time()):
            self._limit.leave(sender)
            return BACKPRESSURE
        turn = (sender, params.feature_set)
        key = self._inbox.key(sender, params.event_id)
        hand_over = partial(self._handed_over, server)
        try:
            await self._turns.acquire(turn)
            try:
                return await self._inbox.take(key, params, hand_over, digest=body_digest(event))
            finally:
                self._turns.release(turn)
        except ReusedIdError:
            logger.warning("%s: event %.60r came again as another", server.id, params.event_id)
            return REUSED
        finally:
            self._limit.leave(sender)

    def _new_bucket(self, server: str) -> TokenBucket:
        bucket = TokenBucket(per_second=self._rate)
        self._buckets.put(server, bucket)
        return bucket

    async def _handed_over(
        self, server: ServerPeer, params: PushEventParams, again: bool
    ) -> tuple[PushEventResult, Fate]:
        assert self._hand_over is not None  # else events are not served
        taken = await ask(
            self._hand_over,
            PushedEvent(server, params, again),
            name="McplHost.on_push",
            timeout=self._timeout,
            expects=PushEventResult,
        )
        if isinstance(taken, Late):
            logger.warning("%s: event %.60r was not taken in time", server.id, params.event_id)
            return NOT_IN_TIME, Fate.UNKNOWN
        if isinstance(taken, Failed):
            raise taken.error
        return taken.value, Fate.ANSWERED if taken.value.accepted else Fate.REFUSED


def _with_timestamp(
    server: ServerPeer, params: PushEventParams, timestamp: str | None
) -> PushEventParams:
    if timestamp is None:
        problem = timestamp_problem(params.timestamp)
        data = {"problems": [problem.to_json()]}
        raise InvalidParamsError(f"push/event#{problem}", data=data)
    server.note_missing_zone()
    return params.model_copy(update={"timestamp": timestamp})
