"""Typed calls of MCP Events. Generated from mcpe.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinwire_protocols.mcpe import methods, models as _mcpe_models, tools
from kinwire_protocols.peer import Peer

if TYPE_CHECKING:
    from kinwire_protocols.mcpe.models import (
        DeliveryPreferences,
        EventFilter,
        EventHandler,
        EventsListResult,
        EventsPauseResult,
        EventsResumeResult,
        EventsUnsubscribeResult,
        MCPEvent,
        Subscription,
        SubscriptionStatus,
        UpdateSubscriptionRequest,
    )


class ServerStub:
    """The server as the client sees it: every method that the client may send, and the tools."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def events_subscribe(
        self,
        *,
        filter: EventFilter,
        delivery: DeliveryPreferences,
        handler: EventHandler | None = None,
        expires_at: str | None = None,
    ) -> Subscription:
        """Create a new subscription to events.

        events_subscribe, a tool. Source: MCP Events 2025-01-01, 6.1.

        Args:
            filter: Which events are wanted.
            delivery: How they are delivered.
            handler: What the server does with them in addition to the delivery.
            expires_at: When the subscription ends.

        Raises:
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            SubscriptionLimitReachedError: The client has as many active subscriptions as it may have.
            NotInitializedError: The client asked for something before the handshake was done.
            UnauthorizedError: The server does not know who the client is, or it may not do that.
        """
        params = _mcpe_models.EventsSubscribeParams(
            filter=filter, delivery=delivery, handler=handler, expires_at=expires_at
        )
        return await tools.EVENTS_SUBSCRIBE.call(self._peer, params)

    async def events_unsubscribe(self, *, subscription_id: str) -> EventsUnsubscribeResult:
        """Remove a subscription.

        events_unsubscribe, a tool. Source: MCP Events 2025-01-01, 6.2.

        Args:
            subscription_id: The subscription to remove.

        Raises:
            SubscriptionNotFoundError: The client has no subscription with that id.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            NotInitializedError: The client asked for something before the handshake was done.
            UnauthorizedError: The server does not know who the client is, or it may not do that.
        """
        params = _mcpe_models.EventsUnsubscribeParams(subscription_id=subscription_id)
        return await tools.EVENTS_UNSUBSCRIBE.call(self._peer, params)

    async def events_list(self, *, status: SubscriptionStatus | None = None) -> EventsListResult:
        """List your subscriptions.

        events_list, a tool. Source: MCP Events 2025-01-01, 6.3.

        Args:
            status: Only those of this status; absent means all.

        Raises:
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            NotInitializedError: The client asked for something before the handshake was done.
            UnauthorizedError: The server does not know who the client is, or it may not do that.
        """
        params = _mcpe_models.EventsListParams(status=status)
        return await tools.EVENTS_LIST.call(self._peer, params)

    async def events_pause(self, *, subscription_id: str) -> EventsPauseResult:
        """Pause a subscription: it stays, and its events are not delivered.

        events_pause, a tool. Source: MCP Events 2025-01-01, 6.4.

        Args:
            subscription_id: The subscription to pause.

        Raises:
            SubscriptionNotFoundError: The client has no subscription with that id.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            NotInitializedError: The client asked for something before the handshake was done.
            UnauthorizedError: The server does not know who the client is, or it may not do that.
        """
        params = _mcpe_models.EventsPauseParams(subscription_id=subscription_id)
        return await tools.EVENTS_PAUSE.call(self._peer, params)

    async def events_resume(self, *, subscription_id: str) -> EventsResumeResult:
        """Resume a paused subscription.

        events_resume, a tool. Source: MCP Events 2025-01-01, 6.5.

        Args:
            subscription_id: The subscription to resume.

        Raises:
            SubscriptionNotFoundError: The client has no subscription with that id.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            NotInitializedError: The client asked for something before the handshake was done.
            UnauthorizedError: The server does not know who the client is, or it may not do that.
        """
        params = _mcpe_models.EventsResumeParams(subscription_id=subscription_id)
        return await tools.EVENTS_RESUME.call(self._peer, params)

    async def events_update(
        self, *, subscription_id: str, updates: UpdateSubscriptionRequest
    ) -> Subscription:
        """Change a subscription.

        events_update, a tool. Source: MCP Events 2025-01-01, 6.6.

        Args:
            subscription_id: The subscription to change.
            updates: The fields to change.

        Raises:
            SubscriptionNotFoundError: The client has no subscription with that id.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            NotInitializedError: The client asked for something before the handshake was done.
            UnauthorizedError: The server does not know who the client is, or it may not do that.
        """
        params = _mcpe_models.EventsUpdateParams(subscription_id=subscription_id, updates=updates)
        return await tools.EVENTS_UPDATE.call(self._peer, params)


class ClientStub:
    """The client as the server sees it: every method that the server may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def events_event(self, *, subscription_id: str, event: MCPEvent) -> None:
        """Deliver one event.

        events/event, a notification. Source: MCP Events 2025-01-01, 7.1.

        Args:
            subscription_id: The subscription that selected it.
            event: The event.
        """
        params = _mcpe_models.EventNotificationParams(subscription_id=subscription_id, event=event)
        await self._peer.notify(methods.EVENTS_EVENT, params)

    async def events_batch(self, *, subscription_id: str, events: list[MCPEvent]) -> None:
        """Deliver several events together.

        events/batch, a notification. Source: MCP Events 2025-01-01, 7.2.

        Args:
            subscription_id: The subscription that selected them.
            events: The events, oldest first.
        """
        params = _mcpe_models.EventBatchNotificationParams(
            subscription_id=subscription_id, events=events
        )
        await self._peer.notify(methods.EVENTS_BATCH, params)

    async def events_subscription_expired(self, *, subscription_id: str, expired_at: str) -> None:
        """Say that a subscription has expired.

        events/subscription_expired, a notification. Source: MCP Events 2025-01-01, 7.3.

        Args:
            subscription_id: The subscription.
            expired_at: When it expired.
        """
        params = _mcpe_models.SubscriptionExpiredNotificationParams(
            subscription_id=subscription_id, expired_at=expired_at
        )
        await self._peer.notify(methods.EVENTS_SUBSCRIPTION_EXPIRED, params)
