"""Errors of Model Context Protocol. Generated from mcp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from kinwire_protocols.base import RpcError


class ResourceNotFoundError(RpcError):
    """The server has no resource at that address."""

    protocol = "mcp"
    name = "ResourceNotFound"
    default_code = -32002
    default_message = "Resource not found"


class SamplingRejectedError(RpcError):
    """A person looked at the request for a message, or at what the model wrote, and said no."""

    protocol = "mcp"
    name = "SamplingRejected"
    default_code = -1
    default_message = "The user rejected the sampling request"
