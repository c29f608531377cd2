"""How a subscription is made, changed, paused, resumed and ended (MCPE 5, 6).

A subscription is the immutable message that clients get: each function returns the next one. What
stands in the way is an error of MCPE.
"""

from __future__ import annotations

__all__ = (
    "KEPT_FOR_ACTIVE",
    "LARGEST",
    "SubscriptionCounts",
    "changed",
    "created",
    "expired",
    "must_be_free",
    "must_be_small",
    "must_be_supported",
    "paused",
    "resumed",
    "subscribe_problems",
    "update_problems",
)

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from pydantic import MISSING

from kinwire.mcpe.rules.delivery import delivery_problems, with_defaults
from kinwire.mcpe.rules.features import EventFeatures
from kinwire.mcpe.rules.filters import filter_problems
from kinwire.mcpe.rules.refusals import invalid_input
from kinwire.rpc.codec import encode
from kinwire.support.timestamps import seconds_of, timestamp_of
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcpe.errors import SubscriptionLimitReachedError
from kinwire_protocols.mcpe.models import (
    EventsSubscribeParams,
    Subscription,
    UpdateSubscriptionRequest,
)
from kinwire_protocols.problems import Problem, shown

KEPT_FOR_ACTIVE: Final = 10
"""How many times `maxActive` a client may have in all, with those that are paused."""

LARGEST: Final = 64 * 1024
"""How large a subscription may be, in bytes of JSON."""

_AFTER: Final = {"events_pause": "paused", "events_resume": "active"}


def subscribe_problems(
    params: EventsSubscribeParams, features: EventFeatures, now: float
) -> Iterator[Problem]:
    """Yield why a server with these features does not take a subscription (MCPE 6.1)."""
    yield from filter_problems(params.filter, features)
    yield from delivery_problems(params.delivery, features)
    if params.expires_at is not None:
        yield from _expiry_problems(params.expires_at, features, now, "/expiresAt")


def update_problems(
    updates: UpdateSubscriptionRequest, features: EventFeatures, now: float
) -> Iterator[Problem]:
    """Yield why a server with these features does not take a change (MCPE 6.6)."""
    if updates.filter is not None:
        yield from filter_problems(updates.filter, features, at="/updates/filter")
    if updates.delivery is not None:
        yield from delivery_problems(updates.delivery, features, at="/updates/delivery")
    if isinstance(updates.expires_at, str):
        yield from _expiry_problems(updates.expires_at, features, now, "/updates/expiresAt")
    if updates.status is not None and not features.pause:
        yield _no_pause("/updates/status")


def created(params: EventsSubscribeParams, *, id: str, client_id: str, now: float) -> Subscription:
    """Return a subscription in which `subscribe_problems` finds no problem."""
    at = timestamp_of(now)
    return Subscription(
        id=id,
        client_id=client_id,
        filter=params.filter,
        delivery=with_defaults(params.delivery),
        handler=params.handler,
        status="active",
        created_at=at,
        updated_at=at,
        expires_at=params.expires_at,
        subscription_id=id,
    )


def paused(subscription: Subscription, now: float) -> Subscription:
    """Return it paused; one that is paused stays as it is (MCPE 6.4).

    Raises:
        InvalidParamsError: it has expired.
    """
    return _with_status(subscription, "events_pause", now)


def resumed(subscription: Subscription, now: float) -> Subscription:
    """Return it active; one that is active stays as it is (MCPE 6.5).

    Raises:
        InvalidParamsError: it has expired.
    """
    return _with_status(subscription, "events_resume", now)


def expired(subscription: Subscription, now: float) -> Subscription:
    """Return it expired; nothing revives it (MCPE 5.4)."""
    return _copy(subscription, now, status="expired")


def changed(
    subscription: Subscription, updates: UpdateSubscriptionRequest, now: float
) -> Subscription:
    """Return it with the changes in which `update_problems` finds no problem (MCPE 6.6).

    Raises:
        InvalidParamsError: it has expired.
    """
    _must_not_be_expired(subscription, "events_update")
    fields: dict[str, Any] = {}
    if updates.filter is not None:
        fields["filter"] = updates.filter
    if updates.delivery is not None:
        fields["delivery"] = with_defaults(updates.delivery)
    if updates.status is not None:
        fields["status"] = updates.status
    for name in ("handler", "expires_at"):
        value = getattr(updates, name)
        if value is not MISSING:
            fields[name] = value
    return _copy(subscription, now, **fields)


def must_be_supported(tool: str, features: EventFeatures) -> None:
    """Check that a server with these features pauses and resumes.

    Raises:
        InvalidParamsError: it does not.
    """
    if not features.pause:
        raise invalid_input(tool, [_no_pause("/subscriptionId")])


def must_be_small(subscription: Subscription, tool: str) -> None:
    """Check that a subscription is not too large to be kept.

    Raises:
        InvalidParamsError: it is.
    """
    size = len(encode(to_wire(subscription)))
    if size > LARGEST:
        expected = f"at most {LARGEST} bytes of JSON in the subscription"
        raise invalid_input(tool, [Problem("", expected, str(size))])


class SubscriptionCounts(NamedTuple):
    """How many subscriptions a client has that have not expired."""

    kept: int = 0
    active: int = 0
    scheduled: int = 0
    """Those of the active ones with a schedule."""

    def plus(self, subscription: Subscription) -> SubscriptionCounts:
        """Return the counts with one more."""
        return self._changed(subscription, 1)

    def minus(self, subscription: Subscription) -> SubscriptionCounts:
        """Return the counts without one of those that are counted."""
        return self._changed(subscription, -1)

    def _changed(self, subscription: Subscription, by: int) -> SubscriptionCounts:
        if subscription.status == "expired":
            return self
        active = by if subscription.status == "active" else 0
        scheduled = active if _is_scheduled(subscription) else 0
        return SubscriptionCounts(self.kept + by, self.active + active, self.scheduled + scheduled)


def must_be_free(
    subscription: Subscription, others: SubscriptionCounts, features: EventFeatures
) -> None:
    """Check that a client with as many `others` may have this one, too (MCPE 3.2, 5.5).

    Raises:
        SubscriptionLimitReachedError: it has as many as it may have.
    """
    most = KEPT_FOR_ACTIVE * features.max_active
    _must_be_below(others.kept, most, "active and paused subscriptions", "maxKept")
    if subscription.status != "active":
        return
    _must_be_below(others.active, features.max_active, "active subscriptions", "maxActive")
    if _is_scheduled(subscription) and features.max_scheduled is not None:
        what = "active subscriptions with a schedule"
        _must_be_below(others.scheduled, features.max_scheduled, what, "maxScheduledPerClient")


def _must_be_below(count: int, most: int, what: str, name: str) -> None:
    if count >= most:
        raise SubscriptionLimitReachedError(
            f"Subscription limit reached: this client has {count} {what}, and may have {most}. "
            "Pause one, or remove one by events_unsubscribe.",
            data={name: most},
        )


def _is_scheduled(subscription: Subscription) -> bool:
    return any(one in ("cron", "scheduled") for one in subscription.delivery.channels)


def _with_status(subscription: Subscription, tool: str, now: float) -> Subscription:
    _must_not_be_expired(subscription, tool)
    status = _AFTER[tool]
    if subscription.status == status:
        return subscription
    return _copy(subscription, now, status=status)


def _must_not_be_expired(subscription: Subscription, tool: str) -> None:
    if subscription.status == "expired":
        expected = "a subscription that has not expired. Subscribe again"
        raise invalid_input(tool, [Problem("/subscriptionId", expected, "one that has")])


def _copy(subscription: Subscription, now: float, **fields: Any) -> Subscription:
    return subscription.model_copy(update={**fields, "updated_at": timestamp_of(now)})


def _no_pause(at: str) -> Problem:
    return Problem(at, "a server that can pause subscriptions", "one that cannot")


def _expiry_problems(text: str, features: EventFeatures, now: float, at: str) -> Iterator[Problem]:
    if not features.expiration:
        yield Problem(at, "nothing, since this server has no expiry", shown(text))
        return
    try:
        over = seconds_of(text) <= now
    except ValueError:
        yield Problem(at, "a date-time with a zone, as 2026-02-27T12:00:00Z", shown(text))
        return
    if over:
        yield Problem(at, f"a time to come; it is {timestamp_of(now)}", shown(text))
