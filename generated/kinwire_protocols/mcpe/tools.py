"""The tools that MCP Events defines. Generated from mcpe.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kinwire_protocols import lazy
from kinwire_protocols.jsonrpc import errors as jsonrpc_errors
from kinwire_protocols.mcp import methods as caller_methods
from kinwire_protocols.mcpe import errors
from kinwire_protocols.tool_methods import ToolMethod

if TYPE_CHECKING:
    from kinwire_protocols.mcpe.models import (
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
    )

EVENTS_SUBSCRIBE: Final[ToolMethod[EventsSubscribeParams, Subscription]] = ToolMethod(
    name="events_subscribe",
    protocol="mcpe",
    attribute="events_subscribe",
    params=lazy.Lazy("kinwire_protocols.mcpe.models.EventsSubscribeParams"),
    result=lazy.Lazy("kinwire_protocols.mcpe.models.Subscription"),
    caller=caller_methods.TOOLS_CALL,
    errors=(
        jsonrpc_errors.InvalidParamsError,
        errors.SubscriptionLimitReachedError,
        errors.NotInitializedError,
        errors.UnauthorizedError,
    ),
    section="6.1",
    definition={
        "name": "events_subscribe",
        "description": "Create a new subscription to events. Events that the filter selects are delivered until the subscription is paused, removed or expires.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "filter": {
                    "$ref": "#/$defs/EventFilter",
                    "description": "Which events are wanted.",
                },
                "delivery": {
                    "$ref": "#/$defs/DeliveryPreferences",
                    "description": "How they are delivered.",
                },
                "handler": {
                    "$ref": "#/$defs/EventHandler",
                    "description": "What the server does with them in addition to the delivery.",
                },
                "expiresAt": {
                    "type": "string",
                    "description": "When the subscription ends.",
                    "format": "date-time",
                },
            },
            "required": ["filter", "delivery"],
            "$defs": {
                "AgentEventHandler": {
                    "description": "Has a model of the server's work on the event.",
                    "type": "object",
                    "properties": {
                        "type": {
                            "type": "string",
                            "const": "agent",
                            "description": "Marks it as an agent.",
                        },
                        "systemPrompt": {"type": "string", "description": "The system prompt."},
                        "model": {
                            "type": "string",
                            "description": "Which model it is; absent leaves that to the server.",
                        },
                        "instructions": {
                            "type": "string",
                            "description": "What the model is to do with the event.",
                        },
                        "tools": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "The tools that the model may use, by name; absent leaves that to the server.",
                        },
                        "maxTokens": {
                            "type": "integer",
                            "description": "The most tokens that the model may write.",
                            "minimum": 1,
                        },
                    },
                    "required": ["type"],
                },
                "BashEventHandler": {
                    "description": "Runs a command on the server for each event.",
                    "type": "object",
                    "properties": {
                        "type": {
                            "type": "string",
                            "const": "bash",
                            "description": "Marks it as a command.",
                        },
                        "command": {"type": "string", "description": "The program to run."},
                        "args": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "The arguments of the program.",
                        },
                        "cwd": {"type": "string", "description": "The directory in which it runs."},
                        "env": {
                            "type": "object",
                            "additionalProperties": {"type": "string"},
                            "description": "Environment variables to set, by name.",
                        },
                        "input": {
                            "$ref": "#/$defs/BashInput",
                            "description": "How it is given the event.",
                        },
                        "timeout": {
                            "type": "number",
                            "description": "After how many milliseconds it is ended.",
                            "minimum": 0,
                        },
                    },
                    "required": ["type", "command", "input", "timeout"],
                },
                "BashInput": {
                    "description": "How a command is given the event: by its standard input, its environment or its arguments.",
                    "type": "string",
                    "enum": ["stdin", "env", "args"],
                },
                "CronPreset": {
                    "description": "A recurring schedule by name.",
                    "type": "string",
                    "enum": ["@hourly", "@daily", "@weekly", "@monthly"],
                },
                "CronSchedule": {
                    "description": "Collects events and delivers them as batches, again and again.",
                    "type": "object",
                    "properties": {
                        "expression": {
                            "anyOf": [{"$ref": "#/$defs/CronPreset"}, {"type": "string"}],
                            "description": "A cron expression or the name of a schedule.",
                        },
                        "timezone": {
                            "type": "string",
                            "description": "The IANA name of the time zone in which the expression is read.",
                        },
                        "aggregateEvents": {
                            "type": "boolean",
                            "description": "Whether the events of a period come together in batches.",
                            "default": True,
                        },
                        "maxEventsPerDelivery": {
                            "type": "integer",
                            "description": "The most events of one batch.",
                            "minimum": 1,
                            "default": 100,
                        },
                    },
                    "required": ["expression", "timezone"],
                },
                "DeliveryChannel": {
                    "description": "A way of delivery: each event immediately (`realtime`), batches by a recurring schedule (`cron`), or all at one set time (`scheduled`).",
                    "type": "string",
                    "enum": ["realtime", "cron", "scheduled"],
                },
                "DeliveryPreferences": {
                    "description": "How the events of a subscription are delivered.",
                    "type": "object",
                    "properties": {
                        "channels": {
                            "type": "array",
                            "items": {
                                "anyOf": [{"$ref": "#/$defs/DeliveryChannel"}, {"type": "string"}]
                            },
                            "description": "The channels, each of which delivers every event.",
                            "minItems": 1,
                        },
                        "cronSchedule": {
                            "$ref": "#/$defs/CronSchedule",
                            "description": "The recurring schedule of the channel `cron`.",
                        },
                        "scheduledDelivery": {
                            "$ref": "#/$defs/ScheduledDelivery",
                            "description": "The one time of the channel `scheduled`.",
                        },
                    },
                    "required": ["channels"],
                },
                "EventFilter": {
                    "description": "Which events a subscription selects: those that match every field it has. Without fields it selects all.",
                    "type": "object",
                    "properties": {
                        "eventTypes": {
                            "type": "array",
                            "items": {"$ref": "#/$defs/EventTypePattern"},
                            "description": "Patterns, of which the type matches at least one.",
                        },
                        "tags": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "Tags, of which the event has at least one.",
                        },
                        "priority": {
                            "type": "array",
                            "items": {"$ref": "#/$defs/EventPriority"},
                            "description": "Priorities, of which the event has one.",
                        },
                    },
                },
                "EventHandler": {
                    "description": "What the server does with the events of a subscription, distinguished by `type`.",
                    "oneOf": [
                        {"$ref": "#/$defs/BashEventHandler"},
                        {"$ref": "#/$defs/WebhookEventHandler"},
                        {"$ref": "#/$defs/AgentEventHandler"},
                    ],
                },
                "EventPriority": {
                    "description": "How much an event matters, least first.",
                    "type": "string",
                    "enum": ["low", "normal", "high", "critical"],
                },
                "EventTypePattern": {
                    "description": "An event type, or what it begins with and a star: `github.*` is every type that begins with `github.`, and `*` is every type.",
                    "type": "string",
                },
                "ScheduledDelivery": {
                    "description": "Collects events and delivers them once.",
                    "type": "object",
                    "properties": {
                        "deliverAt": {
                            "type": "string",
                            "description": "When to deliver.",
                            "format": "date-time",
                        },
                        "timezone": {
                            "type": "string",
                            "description": "The IANA name of a time zone.",
                        },
                        "description": {
                            "type": "string",
                            "description": "What it is for, for people.",
                        },
                        "aggregateEvents": {
                            "type": "boolean",
                            "description": "Whether the events come together in batches.",
                            "default": True,
                        },
                        "autoExpire": {
                            "type": "boolean",
                            "description": "Whether the subscription expires with the delivery.",
                            "default": True,
                        },
                    },
                    "required": ["deliverAt", "timezone"],
                },
                "WebhookEventHandler": {
                    "description": "Posts each event to an address.",
                    "type": "object",
                    "properties": {
                        "type": {
                            "type": "string",
                            "const": "webhook",
                            "description": "Marks it as a webhook.",
                        },
                        "url": {"type": "string", "description": "The address.", "format": "uri"},
                        "headers": {
                            "type": "object",
                            "additionalProperties": {"type": "string"},
                            "description": "HTTP headers to send, by name.",
                        },
                        "timeout": {
                            "type": "number",
                            "description": "After how many milliseconds it is given up.",
                            "minimum": 0,
                        },
                    },
                    "required": ["type", "url", "timeout"],
                },
            },
        },
    },
)
"""Create a new subscription to events."""

EVENTS_UNSUBSCRIBE: Final[ToolMethod[EventsUnsubscribeParams, EventsUnsubscribeResult]] = (
    ToolMethod(
        name="events_unsubscribe",
        protocol="mcpe",
        attribute="events_unsubscribe",
        params=lazy.Lazy("kinwire_protocols.mcpe.models.EventsUnsubscribeParams"),
        result=lazy.Lazy("kinwire_protocols.mcpe.models.EventsUnsubscribeResult"),
        caller=caller_methods.TOOLS_CALL,
        errors=(
            errors.SubscriptionNotFoundError,
            jsonrpc_errors.InvalidParamsError,
            errors.NotInitializedError,
            errors.UnauthorizedError,
        ),
        section="6.2",
        definition={
            "name": "events_unsubscribe",
            "description": "Remove a subscription.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "subscriptionId": {
                        "type": "string",
                        "description": "The subscription to remove.",
                        "format": "uuid",
                    }
                },
                "required": ["subscriptionId"],
            },
        },
    )
)
"""Remove a subscription."""

EVENTS_LIST: Final[ToolMethod[EventsListParams, EventsListResult]] = ToolMethod(
    name="events_list",
    protocol="mcpe",
    attribute="events_list",
    params=lazy.Lazy("kinwire_protocols.mcpe.models.EventsListParams"),
    result=lazy.Lazy("kinwire_protocols.mcpe.models.EventsListResult"),
    caller=caller_methods.TOOLS_CALL,
    errors=(
        jsonrpc_errors.InvalidParamsError,
        errors.NotInitializedError,
        errors.UnauthorizedError,
    ),
    section="6.3",
    definition={
        "name": "events_list",
        "description": "List your subscriptions.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "status": {
                    "$ref": "#/$defs/SubscriptionStatus",
                    "description": "Only those of this status; absent means all.",
                }
            },
            "$defs": {
                "SubscriptionStatus": {
                    "description": "Whether a subscription delivers events: it does (`active`), it does not for now (`paused`), or it never will again (`expired`).",
                    "type": "string",
                    "enum": ["active", "paused", "expired"],
                }
            },
        },
    },
)
"""List your subscriptions."""

EVENTS_PAUSE: Final[ToolMethod[EventsPauseParams, EventsPauseResult]] = ToolMethod(
    name="events_pause",
    protocol="mcpe",
    attribute="events_pause",
    params=lazy.Lazy("kinwire_protocols.mcpe.models.EventsPauseParams"),
    result=lazy.Lazy("kinwire_protocols.mcpe.models.EventsPauseResult"),
    caller=caller_methods.TOOLS_CALL,
    errors=(
        errors.SubscriptionNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        errors.NotInitializedError,
        errors.UnauthorizedError,
    ),
    section="6.4",
    definition={
        "name": "events_pause",
        "description": "Pause a subscription: it stays, and its events are not delivered.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "subscriptionId": {
                    "type": "string",
                    "description": "The subscription to pause.",
                    "format": "uuid",
                }
            },
            "required": ["subscriptionId"],
        },
    },
)
"""Pause a subscription: it stays, and its events are not delivered."""

EVENTS_RESUME: Final[ToolMethod[EventsResumeParams, EventsResumeResult]] = ToolMethod(
    name="events_resume",
    protocol="mcpe",
    attribute="events_resume",
    params=lazy.Lazy("kinwire_protocols.mcpe.models.EventsResumeParams"),
    result=lazy.Lazy("kinwire_protocols.mcpe.models.EventsResumeResult"),
    caller=caller_methods.TOOLS_CALL,
    errors=(
        errors.SubscriptionNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        errors.NotInitializedError,
        errors.UnauthorizedError,
    ),
    section="6.5",
    definition={
        "name": "events_resume",
        "description": "Resume a paused subscription.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "subscriptionId": {
                    "type": "string",
                    "description": "The subscription to resume.",
                    "format": "uuid",
                }
            },
            "required": ["subscriptionId"],
        },
    },
)
"""Resume a paused subscription."""

EVENTS_UPDATE: Final[ToolMethod[EventsUpdateParams, Subscription]] = ToolMethod(
    name="events_update",
    protocol="mcpe",
    attribute="events_update",
    params=lazy.Lazy("kinwire_protocols.mcpe.models.EventsUpdateParams"),
    result=lazy.Lazy("kinwire_protocols.mcpe.models.Subscription"),
    caller=caller_methods.TOOLS_CALL,
    errors=(
        errors.SubscriptionNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        errors.NotInitializedError,
        errors.UnauthorizedError,
    ),
    section="6.6",
    definition={
        "name": "events_update",
        "description": "Change a subscription.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "subscriptionId": {
                    "type": "string",
                    "description": "The subscription to change.",
                    "format": "uuid",
                },
                "updates": {
                    "$ref": "#/$defs/UpdateSubscriptionRequest",
                    "description": "The fields to change.",
                },
            },
            "required": ["subscriptionId", "updates"],
            "$defs": {
                "AgentEventHandler": {
                    "description": "Has a model of the server's work on the event.",
                    "type": "object",
                    "properties": {
                        "type": {
                            "type": "string",
                            "const": "agent",
                            "description": "Marks it as an agent.",
                        },
                        "systemPrompt": {"type": "string", "description": "The system prompt."},
                        "model": {
                            "type": "string",
                            "description": "Which model it is; absent leaves that to the server.",
                        },
                        "instructions": {
                            "type": "string",
                            "description": "What the model is to do with the event.",
                        },
                        "tools": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "The tools that the model may use, by name; absent leaves that to the server.",
                        },
                        "maxTokens": {
                            "type": "integer",
                            "description": "The most tokens that the model may write.",
                            "minimum": 1,
                        },
                    },
                    "required": ["type"],
                },
                "BashEventHandler": {
                    "description": "Runs a command on the server for each event.",
                    "type": "object",
                    "properties": {
                        "type": {
                            "type": "string",
                            "const": "bash",
                            "description": "Marks it as a command.",
                        },
                        "command": {"type": "string", "description": "The program to run."},
                        "args": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "The arguments of the program.",
                        },
                        "cwd": {"type": "string", "description": "The directory in which it runs."},
                        "env": {
                            "type": "object",
                            "additionalProperties": {"type": "string"},
                            "description": "Environment variables to set, by name.",
                        },
                        "input": {
                            "$ref": "#/$defs/BashInput",
                            "description": "How it is given the event.",
                        },
                        "timeout": {
                            "type": "number",
                            "description": "After how many milliseconds it is ended.",
                            "minimum": 0,
                        },
                    },
                    "required": ["type", "command", "input", "timeout"],
                },
                "BashInput": {
                    "description": "How a command is given the event: by its standard input, its environment or its arguments.",
                    "type": "string",
                    "enum": ["stdin", "env", "args"],
                },
                "CronPreset": {
                    "description": "A recurring schedule by name.",
                    "type": "string",
                    "enum": ["@hourly", "@daily", "@weekly", "@monthly"],
                },
                "CronSchedule": {
                    "description": "Collects events and delivers them as batches, again and again.",
                    "type": "object",
                    "properties": {
                        "expression": {
                            "anyOf": [{"$ref": "#/$defs/CronPreset"}, {"type": "string"}],
                            "description": "A cron expression or the name of a schedule.",
                        },
                        "timezone": {
                            "type": "string",
                            "description": "The IANA name of the time zone in which the expression is read.",
                        },
                        "aggregateEvents": {
                            "type": "boolean",
                            "description": "Whether the events of a period come together in batches.",
                            "default": True,
                        },
                        "maxEventsPerDelivery": {
                            "type": "integer",
                            "description": "The most events of one batch.",
                            "minimum": 1,
                            "default": 100,
                        },
                    },
                    "required": ["expression", "timezone"],
                },
                "DeliveryChannel": {
                    "description": "A way of delivery: each event immediately (`realtime`), batches by a recurring schedule (`cron`), or all at one set time (`scheduled`).",
                    "type": "string",
                    "enum": ["realtime", "cron", "scheduled"],
                },
                "DeliveryPreferences": {
                    "description": "How the events of a subscription are delivered.",
                    "type": "object",
                    "properties": {
                        "channels": {
                            "type": "array",
                            "items": {
                                "anyOf": [{"$ref": "#/$defs/DeliveryChannel"}, {"type": "string"}]
                            },
                            "description": "The channels, each of which delivers every event.",
                            "minItems": 1,
                        },
                        "cronSchedule": {
                            "$ref": "#/$defs/CronSchedule",
                            "description": "The recurring schedule of the channel `cron`.",
                        },
                        "scheduledDelivery": {
                            "$ref": "#/$defs/ScheduledDelivery",
                            "description": "The one time of the channel `scheduled`.",
                        },
                    },
                    "required": ["channels"],
                },
                "EventFilter": {
                    "description": "Which events a subscription selects: those that match every field it has. Without fields it selects all.",
                    "type": "object",
                    "properties": {
                        "eventTypes": {
                            "type": "array",
                            "items": {"$ref": "#/$defs/EventTypePattern"},
                            "description": "Patterns, of which the type matches at least one.",
                        },
                        "tags": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "Tags, of which the event has at least one.",
                        },
                        "priority": {
                            "type": "array",
                            "items": {"$ref": "#/$defs/EventPriority"},
                            "description": "Priorities, of which the event has one.",
                        },
                    },
                },
                "EventHandler": {
                    "description": "What the server does with the events of a subscription, distinguished by `type`.",
                    "oneOf": [
                        {"$ref": "#/$defs/BashEventHandler"},
                        {"$ref": "#/$defs/WebhookEventHandler"},
                        {"$ref": "#/$defs/AgentEventHandler"},
                    ],
                },
                "EventPriority": {
                    "description": "How much an event matters, least first.",
                    "type": "string",
                    "enum": ["low", "normal", "high", "critical"],
                },
                "EventTypePattern": {
                    "description": "An event type, or what it begins with and a star: `github.*` is every type that begins with `github.`, and `*` is every type.",
                    "type": "string",
                },
                "ScheduledDelivery": {
                    "description": "Collects events and delivers them once.",
                    "type": "object",
                    "properties": {
                        "deliverAt": {
                            "type": "string",
                            "description": "When to deliver.",
                            "format": "date-time",
                        },
                        "timezone": {
                            "type": "string",
                            "description": "The IANA name of a time zone.",
                        },
                        "description": {
                            "type": "string",
                            "description": "What it is for, for people.",
                        },
                        "aggregateEvents": {
                            "type": "boolean",
                            "description": "Whether the events come together in batches.",
                            "default": True,
                        },
                        "autoExpire": {
                            "type": "boolean",
                            "description": "Whether the subscription expires with the delivery.",
                            "default": True,
                        },
                    },
                    "required": ["deliverAt", "timezone"],
                },
                "UpdateSubscriptionRequest": {
                    "description": "The fields of a subscription to change; absent ones stay as they are.",
                    "type": "object",
                    "properties": {
                        "filter": {
                            "$ref": "#/$defs/EventFilter",
                            "description": "Takes the place of the filter.",
                        },
                        "delivery": {
                            "$ref": "#/$defs/DeliveryPreferences",
                            "description": "Takes the place of the delivery preferences.",
                        },
                        "handler": {
                            "anyOf": [{"$ref": "#/$defs/EventHandler"}, {"type": "null"}],
                            "description": "Takes the place of the handler; null removes it.",
                        },
                        "status": {
                            "type": "string",
                            "enum": ["active", "paused"],
                            "description": "Resumes or pauses it.",
                        },
                        "expiresAt": {
                            "type": ["string", "null"],
                            "description": "When it ends; null means never.",
                            "format": "date-time",
                        },
                    },
                },
                "WebhookEventHandler": {
                    "description": "Posts each event to an address.",
                    "type": "object",
                    "properties": {
                        "type": {
                            "type": "string",
                            "const": "webhook",
                            "description": "Marks it as a webhook.",
                        },
                        "url": {"type": "string", "description": "The address.", "format": "uri"},
                        "headers": {
                            "type": "object",
                            "additionalProperties": {"type": "string"},
                            "description": "HTTP headers to send, by name.",
                        },
                        "timeout": {
                            "type": "number",
                            "description": "After how many milliseconds it is given up.",
                            "minimum": 0,
                        },
                    },
                    "required": ["type", "url", "timeout"],
                },
            },
        },
    },
)
"""Change a subscription."""

TOOLS: Final[Mapping[str, ToolMethod[Any, Any]]] = {
    "events_subscribe": EVENTS_SUBSCRIBE,
    "events_unsubscribe": EVENTS_UNSUBSCRIBE,
    "events_list": EVENTS_LIST,
    "events_pause": EVENTS_PAUSE,
    "events_resume": EVENTS_RESUME,
    "events_update": EVENTS_UPDATE,
}
"""The tools by wire name."""
