"""What a client may ask of a server, by the server's capability object (MCPE 3.2, 12.2)."""

from __future__ import annotations

__all__ = ("lacking", "lacking_pause")

from kinwire_protocols.mcpe.models import (
    EventFilter,
    EventsSubscribeParams,
    FiltersCapability,
    MCPECapabilities,
)


def lacking(asked: EventsSubscribeParams, capability: MCPECapabilities) -> tuple[str, str] | None:
    """Return what a server lacks for a subscription: the place in its capability, and why.

    None if it lacks nothing.
    """
    channels, delivery = asked.delivery.channels, capability.delivery
    for channel in channels:
        if channel not in delivery.supported_channels:
            return "delivery.supportedChannels", f"the server does not deliver by {channel!r:.40}"
    if len(channels) > 1 and not delivery.supports_multi_channel:
        return "delivery.supportsMultiChannel", "the server delivers by one channel only"
    if asked.expires_at is not None and not capability.subscriptions.supports_expiration:
        return "subscriptions.supportsExpiration", "the server's subscriptions do not expire"
    return _lacking_for(asked.filter, capability.filters)


def lacking_pause(capability: MCPECapabilities) -> tuple[str, str] | None:
    """Return what a server lacks to pause and resume subscriptions, as `lacking` does."""
    if capability.subscriptions.supports_pause:
        return None
    return "subscriptions.supportsPause", "the server does not pause subscriptions"


def _lacking_for(filter: EventFilter, capability: FiltersCapability) -> tuple[str, str] | None:
    if filter.tags and not capability.supports_tag_filtering:
        return "filters.supportsTagFiltering", "the server does not filter by tags"
    if filter.priority and not capability.supports_priority_filtering:
        return "filters.supportsPriorityFiltering", "the server does not filter by priorities"
    starred = any(one.endswith("*") for one in filter.event_types or ())
    if starred and not capability.supports_wildcard_types:
        return "filters.supportsWildcardTypes", "the server's event types have no wildcards"
    return None
