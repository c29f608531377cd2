"""MCP Events 2025-01-01. Generated from mcpe.json by `kinwire generate`: do not edit.

A model subscribes to events of outside systems by tools of a server, and the server notifies the client of what happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinwire_protocols import lazy

if TYPE_CHECKING:
    from kinwire_protocols.mcpe import (
        errors as errors,
        handlers as handlers,
        methods as methods,
        models as models,
        stubs as stubs,
        tables as tables,
        tools as tools,
    )
    from kinwire_protocols.mcpe.errors import (
        DeviceNotFoundError as DeviceNotFoundError,
        NotInitializedError as NotInitializedError,
        SubscriptionLimitReachedError as SubscriptionLimitReachedError,
        SubscriptionNotFoundError as SubscriptionNotFoundError,
        UnauthorizedError as UnauthorizedError,
    )
    from kinwire_protocols.mcpe.handlers import (
        ClientHandlers as ClientHandlers,
        ClientOn as ClientOn,
        ServerHandlers as ServerHandlers,
        ServerOn as ServerOn,
        ServerTools as ServerTools,
    )
    from kinwire_protocols.mcpe.methods import PROTOCOL as PROTOCOL
    from kinwire_protocols.mcpe.models import (
        AgentEventHandler as AgentEventHandler,
        BashEventHandler as BashEventHandler,
        BashInput as BashInput,
        CronPreset as CronPreset,
        CronPresetRule as CronPresetRule,
        CronSchedule as CronSchedule,
        DeliveryCapability as DeliveryCapability,
        DeliveryChannel as DeliveryChannel,
        DeliveryMode as DeliveryMode,
        DeliveryPreferences as DeliveryPreferences,
        DeliveryPriority as DeliveryPriority,
        ErrorData as ErrorData,
        EventBatchNotificationParams as EventBatchNotificationParams,
        EventFilter as EventFilter,
        EventHandler as EventHandler,
        EventMetadata as EventMetadata,
        EventNotificationParams as EventNotificationParams,
        EventPriority as EventPriority,
        EventsListParams as EventsListParams,
        EventsListResult as EventsListResult,
        EventsPauseParams as EventsPauseParams,
        EventsPauseResult as EventsPauseResult,
        EventsResumeParams as EventsResumeParams,
        EventsResumeResult as EventsResumeResult,
        EventsSubscribeParams as EventsSubscribeParams,
        EventsUnsubscribeParams as EventsUnsubscribeParams,
        EventsUnsubscribeResult as EventsUnsubscribeResult,
        EventsUpdateParams as EventsUpdateParams,
        EventType as EventType,
        EventTypePattern as EventTypePattern,
        FiltersCapability as FiltersCapability,
        MCPECapabilities as MCPECapabilities,
        MCPEClientCapabilities as MCPEClientCapabilities,
        MCPEvent as MCPEvent,
        PatternRule as PatternRule,
        ScheduledDelivery as ScheduledDelivery,
        SchedulingCapability as SchedulingCapability,
        StatusRule as StatusRule,
        Subscription as Subscription,
        SubscriptionExpiredNotificationParams as SubscriptionExpiredNotificationParams,
        SubscriptionsCapability as SubscriptionsCapability,
        SubscriptionStatus as SubscriptionStatus,
        UpdateSubscriptionRequest as UpdateSubscriptionRequest,
        WebhookEventHandler as WebhookEventHandler,
        WrappedNotificationParams as WrappedNotificationParams,
    )
    from kinwire_protocols.mcpe.stubs import ClientStub as ClientStub, ServerStub as ServerStub

_HOMES = {
    "PROTOCOL": "methods",
    "ClientHandlers": "handlers",
    "ClientOn": "handlers",
    "ClientStub": "stubs",
    "ServerHandlers": "handlers",
    "ServerOn": "handlers",
    "ServerStub": "stubs",
    "ServerTools": "handlers",
    "NotInitializedError": "errors",
    "SubscriptionNotFoundError": "errors",
    "SubscriptionLimitReachedError": "errors",
    "DeviceNotFoundError": "errors",
    "UnauthorizedError": "errors",
    "AgentEventHandler": "models",
    "BashEventHandler": "models",
    "BashInput": "models",
    "CronPreset": "models",
    "CronPresetRule": "models",
    "CronSchedule": "models",
    "DeliveryCapability": "models",
    "DeliveryChannel": "models",
    "DeliveryMode": "models",
    "DeliveryPreferences": "models",
    "DeliveryPriority": "models",
    "ErrorData": "models",
    "EventBatchNotificationParams": "models",
    "EventFilter": "models",
    "EventHandler": "models",
    "EventMetadata": "models",
    "EventNotificationParams": "models",
    "EventPriority": "models",
    "EventType": "models",
    "EventTypePattern": "models",
    "EventsListParams": "models",
    "EventsListResult": "models",
    "EventsPauseParams": "models",
    "EventsPauseResult": "models",
    "EventsResumeParams": "models",
    "EventsResumeResult": "models",
    "EventsSubscribeParams": "models",
    "EventsUnsubscribeParams": "models",
    "EventsUnsubscribeResult": "models",
    "EventsUpdateParams": "models",
    "FiltersCapability": "models",
    "MCPECapabilities": "models",
    "MCPEClientCapabilities": "models",
    "MCPEvent": "models",
    "PatternRule": "models",
    "ScheduledDelivery": "models",
    "SchedulingCapability": "models",
    "StatusRule": "models",
    "Subscription": "models",
    "SubscriptionExpiredNotificationParams": "models",
    "SubscriptionStatus": "models",
    "SubscriptionsCapability": "models",
    "UpdateSubscriptionRequest": "models",
    "WebhookEventHandler": "models",
    "WrappedNotificationParams": "models",
}
_MODULES = ("errors", "handlers", "methods", "models", "stubs", "tables", "tools")

if not TYPE_CHECKING:
    # A module is loaded when one of its names is first used.
    __getattr__ = lazy.lazy_names(__name__, _HOMES, _MODULES)


def __dir__() -> list[str]:
    return sorted((*_HOMES, *_MODULES))
