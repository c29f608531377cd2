"""Data of MCP Events outside its messages. Generated from mcpe.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import lazy, tables

if TYPE_CHECKING:
    from kinwire_protocols.mcpe.models import (
        CronPresetRule,
        DeliveryMode,
        PatternRule,
        StatusRule,
        SubscriptionStatus,
    )

DELIVERY_MODES: Final[tables.KeyedTable[DeliveryMode]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcpe.models.DeliveryMode"),
    "channel",
    (
        {
            "channel": "realtime",
            "notification": "events/event",
            "when": "Immediately; events that happen while the connection is down are lost.",
        },
        {
            "channel": "cron",
            "notification": "events/batch",
            "when": "Again and again, when the schedule says.",
            "schedule": "cronSchedule",
        },
        {
            "channel": "scheduled",
            "notification": "events/batch",
            "when": "Once, at the set time.",
            "schedule": "scheduledDelivery",
        },
    ),
)
"""How each channel delivers. Section 8."""

SUBSCRIPTION_STATUSES: Final[tables.KeyedTable[StatusRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcpe.models.StatusRule"),
    "status",
    (
        {
            "status": "active",
            "delivers": True,
            "description": "The subscription is live and its events are delivered.",
        },
        {
            "status": "paused",
            "delivers": False,
            "description": "The subscription stays, and its events are not delivered.",
        },
        {
            "status": "expired",
            "delivers": False,
            "description": "The subscription is over, and nothing more is delivered.",
        },
    ),
)
"""What each status means for events. Section 5.4."""

CRON_PRESETS: Final[tables.KeyedTable[CronPresetRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcpe.models.CronPresetRule"),
    "preset",
    (
        {"preset": "@hourly", "expression": "0 * * * *"},
        {"preset": "@daily", "expression": "0 0 * * *"},
        {"preset": "@weekly", "expression": "0 0 * * 0"},
        {"preset": "@monthly", "expression": "0 0 1 * *"},
    ),
)
"""The recurring schedules that have a name. Section 8.2."""

PATTERN_MATCHES: Final[tables.Table[PatternRule]] = tables.Table(
    lazy.Lazy("kinwire_protocols.mcpe.models.PatternRule"),
    (
        {"pattern": "github.*", "type": "github.push", "matches": True},
        {"pattern": "github.*", "type": "github.pull_request.opened", "matches": True},
        {"pattern": "github.*", "type": "github", "matches": False},
        {"pattern": "github.*", "type": "githubby.push", "matches": False},
        {"pattern": "*", "type": "slack.message", "matches": True},
        {"pattern": "github.push", "type": "github.push", "matches": True},
        {"pattern": "github.push", "type": "github.push.forced", "matches": False},
    ),
)
"""How patterns match event types, by example. Section 4.4."""

SUBSCRIPTION_LIFECYCLE: Final[tables.Machine[SubscriptionStatus]] = tables.Machine(
    states=("active", "paused", "expired"),
    initial="active",
    final=frozenset(("expired",)),
    transitions={
        ("active", "pause"): "paused",
        ("paused", "resume"): "active",
        ("active", "expire"): "expired",
        ("paused", "expire"): "expired",
        ("active", "delivered"): "expired",
        ("active", "resume"): "active",
        ("paused", "pause"): "paused",
    },
)
"""How a subscription lives. Section 5.4."""

MAX_ACTIVE: Final = 100
"""How many active subscriptions a client has at most, unless the server says otherwise. In subscriptions. Section 5.5."""

MAX_EVENTS_PER_DELIVERY: Final = 100
"""How many events a batch has at most, unless the schedule says otherwise. In events. Section 8.2."""
