"""Handlers of MCP Events. Generated from mcpe.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcpe import methods, tools
from kinwire_protocols.peer import Handlers, Method, On, Register
from kinwire_protocols.tool_methods import ToolHandlers, ToolMethod

if TYPE_CHECKING:
    from kinwire_protocols.mcpe.models import (
        EventBatchNotificationParams,
        EventNotificationParams,
        EventsListParams,
        EventsListResult,
        EventsPauseParams,
        EventsPauseResult,
        EventsResumeParams,
        EventsResumeResult,
        EventsSubscribeParams,
        EventsUnsubscribeParams,
        EventsUnsubscribeResult,
        EventsUpdateParams,
        Subscription,
        SubscriptionExpiredNotificationParams,
    )


class ServerHandlers(Handlers):
    """What a server handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {}


class ServerOn(On):
    """Where a server registers handlers: `@server.on.NAME`."""


class ClientHandlers(Handlers):
    """What a client handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "events/event": methods.EVENTS_EVENT,
        "events/batch": methods.EVENTS_BATCH,
        "events/subscription_expired": methods.EVENTS_SUBSCRIPTION_EXPIRED,
    }

    async def events_event(self, params: EventNotificationParams) -> None:
        """Deliver one event. (`events/event`)"""
        # A notification that nobody handles is ignored.

    async def events_batch(self, params: EventBatchNotificationParams) -> None:
        """Deliver several events together. (`events/batch`)"""
        # A notification that nobody handles is ignored.

    async def events_subscription_expired(
        self, params: SubscriptionExpiredNotificationParams
    ) -> None:
        """Say that a subscription has expired. (`events/subscription_expired`)"""
        # A notification that nobody handles is ignored.


class ClientOn(On):
    """Where a client registers handlers: `@client.on.NAME`."""

    @property
    def events_event(self) -> Register[EventNotificationParams, None]:
        """Deliver one event. (`events/event`)"""
        return self(methods.EVENTS_EVENT)

    @property
    def events_batch(self) -> Register[EventBatchNotificationParams, None]:
        """Deliver several events together. (`events/batch`)"""
        return self(methods.EVENTS_BATCH)

    @property
    def events_subscription_expired(self) -> Register[SubscriptionExpiredNotificationParams, None]:
        """Say that a subscription has expired. (`events/subscription_expired`)"""
        return self(methods.EVENTS_SUBSCRIPTION_EXPIRED)


class ServerTools(ToolHandlers):
    """The tools that a server serves: override them; the rest are unknown tools."""

    rows: ClassVar[Mapping[str, ToolMethod[Any, Any]]] = {
        "events_subscribe": tools.EVENTS_SUBSCRIBE,
        "events_unsubscribe": tools.EVENTS_UNSUBSCRIBE,
        "events_list": tools.EVENTS_LIST,
        "events_pause": tools.EVENTS_PAUSE,
        "events_resume": tools.EVENTS_RESUME,
        "events_update": tools.EVENTS_UPDATE,
    }

    async def events_subscribe(self, params: EventsSubscribeParams) -> Subscription:
        """Create a new subscription to events. (`events_subscribe`)"""
        raise InvalidParamsError("Unknown tool: events_subscribe")

    async def events_unsubscribe(self, params: EventsUnsubscribeParams) -> EventsUnsubscribeResult:
        """Remove a subscription. (`events_unsubscribe`)"""
        raise InvalidParamsError("Unknown tool: events_unsubscribe")

    async def events_list(self, params: EventsListParams) -> EventsListResult:
        """List your subscriptions. (`events_list`)"""
        raise InvalidParamsError("Unknown tool: events_list")

    async def events_pause(self, params: EventsPauseParams) -> EventsPauseResult:
        """Pause a subscription: it stays, and its events are not delivered. (`events_pause`)"""
        raise InvalidParamsError("Unknown tool: events_pause")

    async def events_resume(self, params: EventsResumeParams) -> EventsResumeResult:
        """Resume a paused subscription. (`events_resume`)"""
        raise InvalidParamsError("Unknown tool: events_resume")

    async def events_update(self, params: EventsUpdateParams) -> Subscription:
        """Change a subscription. (`events_update`)"""
        raise InvalidParamsError("Unknown tool: events_update")
