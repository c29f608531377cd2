"""How a subscription expires, and how its client is notified of that (MCPE 7.3)."""

from __future__ import annotations

__all__ = ("SubscriptionExpiry",)

from collections.abc import Callable
from functools import partial

from kinwire.mcpe.rules import subscriptions
from kinwire.mcpe.server.in_background import in_background
from kinwire.mcpe.server.kept import KeptSubscriptions
from kinwire.mcpe.server.options import EventTerms
from kinwire.mcpe.server.served import ServedSubscription
from kinwire.mcpe.server.timers import EventTimers, TimerKey
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.storage.clock import Clock
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.mcpe.methods import EVENTS_SUBSCRIPTION_EXPIRED
from kinwire_protocols.mcpe.models import SubscriptionExpiredNotificationParams


class SubscriptionExpiry:
    """Ends the subscriptions of one server whose time is over.

    `settle` makes the index and the timers fit one that was changed.
    """

    def __init__(
        self,
        timers: EventTimers,
        terms: EventTerms,
        kept: KeptSubscriptions,
        clock: Clock,
        settle: Callable[[ServedSubscription], None],
    ) -> None:
        self._timers = timers
        self._terms = terms
        self._kept = kept
        self._clock = clock
        self._settle = settle

    def expire(self, served: ServedSubscription) -> None:
        """End a subscription, and notify its client, now or when it comes back (MCPE 7.3)."""
        now = self._clock()
        served.message = subscriptions.expired(served.message, now)
        served.drop_collected()
        served.expiry_unsaid = now
        self._settle(served)
        self._timers.set(TimerKey("forget", served.id), now + self._terms.keep_expired)
        in_background(partial(self._kept.put, served))
        self.say(served)

    def say(self, served: ServedSubscription) -> None:
        """Notify the client of a subscription that has expired, unless it was."""
        home, at = served.home, served.expiry_unsaid
        if home is None or at is None or served.is_notified:
            return
        served.is_notified = True
        params = SubscriptionExpiredNotificationParams(
            subscription_id=served.id, expired_at=timestamp_of(at)
        )

        async def say() -> None:
            try:
                await home.session.notify(EVENTS_SUBSCRIPTION_EXPIRED, params)
                await home.session.wait_written()
            except ConnectionClosedError:
                served.is_notified = False
                if served.home is not home:  # another session has taken over
                    self.say(served)
                return
            served.expiry_unsaid, served.is_notified = None, False
            await self._kept.put(served)

        in_background(say)
