"""Deliveries of the channels `cron` and `scheduled`: what was collected (MCPE 8.2, 8.3)."""

from __future__ import annotations

__all__ = ("ScheduledDeliveries",)

import logging
from collections.abc import Awaitable, Callable
from contextvars import Context
from functools import partial
from typing import Any

from kinwire.mcpe.rules.features import EventFeatures
from kinwire.mcpe.rules.meta import DELIVERY_ID
from kinwire.mcpe.server.kept import KeptSubscriptions
from kinwire.mcpe.server.served import Claim, ServedSubscription
from kinwire.mcpe.server.visible import VisibleEvents
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.session import Session
from kinwire.storage.errors import StorageError
from kinwire.support.background import start_detached
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcpe.methods import EVENTS_BATCH, EVENTS_EVENT
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mcpe")

Handle = Callable[[ServedSubscription, list[JsonObject], str], None]
"""Has a subscription's handler work on events, under the id of their delivery."""


class ScheduledDeliveries:
    """Delivers what waits for a schedule, one delivery of a subscription at a time."""

    def __init__(
        self,
        features: EventFeatures,
        kept: KeptSubscriptions,
        visible: VisibleEvents,
        handle: Handle,
        done: Callable[[ServedSubscription, float], Awaitable[None]],
    ) -> None:
        """Prepare; `done` is called with a subscription and the time at which it was due."""
        self._features = features
        self._kept = kept
        self._visible = visible
        self._handle = handle
        self._done = done

    def begin(self, served: ServedSubscription, due_at: float) -> None:
        """Deliver what a subscription has collected, at a time at which it is due.

        While its client is not connected, it waits; all times that are missed are one delivery.
        """
        if served.delivering or (served.home is None and served.pending):
            served.missed = due_at
            return
        served.delivering = True
        served.missed = None
        Context().run(start_detached, partial(self._deliver, served, due_at))

    def resume(self, served: ServedSubscription) -> None:
        """Make the delivery that was missed, now that the client is connected."""
        due_at = served.missed
        if due_at is None and served.claim is not None:
            due_at = served.claim.due_at
        if due_at is not None and served.home is not None and not served.delivering:
            self.begin(served, due_at)

    async def _deliver(self, served: ServedSubscription, due_at: float) -> None:
        try:
            await self._make(served, due_at)
        except ConnectionClosedError:
            served.missed = due_at
        except StorageError as error:
            served.missed = due_at
            logger.error("a delivery of the subscription %s waits: %s", served.id, error)
        except Exception:  # of an interceptor
            logger.exception("a delivery of the subscription %s failed", served.id)
        finally:
            served.delivering = False

    async def _make(self, served: ServedSubscription, due_at: float) -> None:
        cut_short = served.claim
        if cut_short is not None:
            await self._make_claimed(served, cut_short)
        if cut_short is None or due_at > cut_short.due_at:
            until = _written_until(served)
            if until > served.cursor:
                served.claim = Claim(due_at, until)
                await self._kept.put(served)
                await self._make_claimed(served, served.claim)
        await self._done(served, due_at)

    async def _make_claimed(self, served: ServedSubscription, claim: Claim) -> None:
        taken = [one for one in served.pending if one.is_within(claim.until)]
        await self._send(served, [one.event for one in taken], claim.due_at)
        for one in taken:
            served.pending.remove(one)
        served.cursor, served.claim = claim.until, None

    async def _send(
        self, served: ServedSubscription, events: list[JsonObject], due_at: float
    ) -> None:
        seen = self._visible.among(events, served.client.about)
        for index, batch in enumerate(self._batches(served, seen)):
            home = served.home
            if home is None or not served.active:
                raise ConnectionClosedError("The client is not connected.")
            id = f"{served.id}/{timestamp_of(due_at)}/{index}"
            await _notify(home.session, served.id, batch, id, together=self._together(served))
            self._handle(served, batch, id)

    def _together(self, served: ServedSubscription) -> bool:
        schedule = served.cron or served.once
        return self._features.batching and schedule is not None and schedule.aggregate_events

    def _batches(
        self, served: ServedSubscription, events: list[JsonObject]
    ) -> list[list[JsonObject]]:
        most = len(events) if served.cron is None else served.cron.max_events_per_delivery
        if not self._together(served):
            most = 1
        return [events[start : start + most] for start in range(0, len(events), most)]


def _written_until(served: ServedSubscription) -> int:
    """Return up to which sequence the events are complete: one may still be being written."""
    until = served.cursor
    for one in served.pending:
        if one.sequence is None:
            break
        until = max(until, one.sequence)
    return until


async def _notify(
    session: Session, id: str, events: list[JsonObject], delivery_id: str, *, together: bool
) -> None:
    row: Method[Any, None] = EVENTS_BATCH if together else EVENTS_EVENT
    what: JsonObject = {"events": events} if together else {"event": events[0]}
    params = {"subscriptionId": id, **what, "_meta": {DELIVERY_ID: delivery_id}}
    await session.notify(row, from_wire(row.params, params))
