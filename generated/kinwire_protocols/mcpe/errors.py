"""Errors of MCP Events. Generated from mcpe.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from kinwire_protocols.base import RpcError


class NotInitializedError(RpcError):
    """The client asked for something before the handshake was done."""

    protocol = "mcpe"
    name = "NotInitialized"
    default_code = -32000
    default_message = "Client not initialized"


class SubscriptionNotFoundError(RpcError):
    """The client has no subscription with that id."""

    protocol = "mcpe"
    name = "SubscriptionNotFound"
    default_code = -32001
    default_message = "Subscription not found"


class SubscriptionLimitReachedError(RpcError):
    """The client has as many active subscriptions as it may have."""

    protocol = "mcpe"
    name = "SubscriptionLimitReached"
    default_code = -32002
    default_message = "Subscription limit reached"


class DeviceNotFoundError(RpcError):
    """There is no device with that id."""

    protocol = "mcpe"
    name = "DeviceNotFound"
    default_code = -32003
    default_message = "Device not found"


class UnauthorizedError(RpcError):
    """The server does not know who the client is, or it may not do that."""

    protocol = "mcpe"
    name = "Unauthorized"
    default_code = -32004
    default_message = "Unauthorized"
