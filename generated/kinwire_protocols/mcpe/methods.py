"""The method table of MCP Events. Generated from mcpe.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import lazy
from kinwire_protocols.mcpe import errors
from kinwire_protocols.peer import Method, ProtocolTable

if TYPE_CHECKING:
    from kinwire_protocols.mcpe.models import (
        EventBatchNotificationParams,
        EventNotificationParams,
        SubscriptionExpiredNotificationParams,
    )

EVENTS_EVENT: Final[Method[EventNotificationParams, None]] = Method(
    name="events/event",
    protocol="mcpe",
    attribute="events_event",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpe.models.EventNotificationParams"),
    result=None,
    section="7.1",
    serial=True,
)
"""Deliver one event."""

EVENTS_BATCH: Final[Method[EventBatchNotificationParams, None]] = Method(
    name="events/batch",
    protocol="mcpe",
    attribute="events_batch",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpe.models.EventBatchNotificationParams"),
    result=None,
    section="7.2",
    serial=True,
)
"""Deliver several events together."""

EVENTS_SUBSCRIPTION_EXPIRED: Final[Method[SubscriptionExpiredNotificationParams, None]] = Method(
    name="events/subscription_expired",
    protocol="mcpe",
    attribute="events_subscription_expired",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpe.models.SubscriptionExpiredNotificationParams"),
    result=None,
    section="7.3",
    serial=True,
)
"""Say that a subscription has expired."""

PROTOCOL: Final = ProtocolTable(
    name="mcpe",
    title="MCP Events",
    version="2025-01-01",
    capability="experimental.mcpe",
    capability_aliases=("mcpe", "events"),
    offers=lazy.LazyTypes(
        {
            "client": "kinwire_protocols.mcpe.models.MCPEClientCapabilities",
            "server": "kinwire_protocols.mcpe.models.MCPECapabilities",
        }
    ),
    methods={
        "events/event": EVENTS_EVENT,
        "events/batch": EVENTS_BATCH,
        "events/subscription_expired": EVENTS_SUBSCRIPTION_EXPIRED,
    },
    errors={
        "NotInitialized": errors.NotInitializedError,
        "SubscriptionNotFound": errors.SubscriptionNotFoundError,
        "SubscriptionLimitReached": errors.SubscriptionLimitReachedError,
        "DeviceNotFound": errors.DeviceNotFoundError,
        "Unauthorized": errors.UnauthorizedError,
    },
    error_data=lazy.LazyTypes(
        {
            "NotInitialized": "kinwire_protocols.mcpe.models.ErrorData",
            "SubscriptionNotFound": "kinwire_protocols.mcpe.models.ErrorData",
            "SubscriptionLimitReached": "kinwire_protocols.mcpe.models.ErrorData",
            "DeviceNotFound": "kinwire_protocols.mcpe.models.ErrorData",
            "Unauthorized": "kinwire_protocols.mcpe.models.ErrorData",
        }
    ),
    tools_in="kinwire_protocols.mcpe.tools",
)
"""The protocol as a table."""
