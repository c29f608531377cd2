"""Errors of MCP Live. Generated from mcpl.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from kinwire_protocols.base import RpcError


class CapabilityDeniedError(RpcError):
    """The host has not granted a capability that the message uses. Since 0.5.0-draft."""

    protocol = "mcpl"
    name = "CapabilityDenied"
    default_code = -32002
    default_message = "Capability denied"


class FeatureSetNotEnabledError(RpcError):
    """The message belongs to a feature set that the host has disabled."""

    protocol = "mcpl"
    name = "FeatureSetNotEnabled"
    default_code = -32001
    default_message = "Feature set not enabled"


class UnknownFeatureSetError(RpcError):
    """The message names a feature set that the server never declared."""

    protocol = "mcpl"
    name = "UnknownFeatureSet"
    default_code = -32003
    default_message = "Unknown feature set"


class CheckpointNotFoundError(RpcError):
    """The checkpoint was pruned or never existed."""

    protocol = "mcpl"
    name = "CheckpointNotFound"
    default_code = -32005
    default_message = "Checkpoint not found"


class ChannelNotPermittedError(RpcError):
    """No feature set that is on, within its scopes, may publish to the channel or observe it."""

    protocol = "mcpl"
    name = "ChannelNotPermitted"
    default_code = -32017
    default_message = "Channel not permitted"


class UnknownChannelError(RpcError):
    """No channel of that id is registered."""

    protocol = "mcpl"
    name = "UnknownChannel"
    default_code = -32023
    default_message = "Unknown channel"


class ChannelOpenFailedError(RpcError):
    """The server could not open the channel or connect to it."""

    protocol = "mcpl"
    name = "ChannelOpenFailed"
    default_code = -32024
    default_message = "Channel open failed"
