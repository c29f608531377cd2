"""Errors of Model General Protocol. Generated from mgp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from kinwire_protocols.base import RpcError


class PermissionDeniedError(RpcError):
    """The caller lacks a permission that is needed."""

    protocol = "mgp"
    name = "PermissionDenied"
    default_code = 1000
    default_message = "Permission denied"


class AccessDeniedError(RpcError):
    """The agent has no access to this tool."""

    protocol = "mgp"
    name = "AccessDenied"
    default_code = 1001
    default_message = "Access denied"


class AuthRequiredError(RpcError):
    """The caller has to authenticate first."""

    protocol = "mgp"
    name = "AuthRequired"
    default_code = 1002
    default_message = "Authentication required"


class AuthExpiredError(RpcError):
    """The credentials that the caller has are no longer valid."""

    protocol = "mgp"
    name = "AuthExpired"
    default_code = 1003
    default_message = "Authentication expired"


class ValidationBlockedError(RpcError):
    """A validator in the kernel blocked the request; the server has not seen it."""

    protocol = "mgp"
    name = "ValidationBlocked"
    default_code = 1010
    default_message = "Blocked by validation"


class CodeSafetyViolationError(RpcError):
    """The code safety framework rejected the code."""

    protocol = "mgp"
    name = "CodeSafetyViolation"
    default_code = 1011
    default_message = "Code safety violation"


class ServerNotReadyError(RpcError):
    """The server is not in the state `connected`."""

    protocol = "mgp"
    name = "ServerNotReady"
    default_code = 2000
    default_message = "Server not ready"


class ServerDrainingError(RpcError):
    """The server is shutting down and takes no new requests."""

    protocol = "mgp"
    name = "ServerDraining"
    default_code = 2001
    default_message = "Server draining"


class ServerRestartingError(RpcError):
    """The server is being restarted."""

    protocol = "mgp"
    name = "ServerRestarting"
    default_code = 2002
    default_message = "Server restarting"


class RateLimitedError(RpcError):
    """There were too many requests."""

    protocol = "mgp"
    name = "RateLimited"
    default_code = 3000
    default_message = "Rate limited"


class ResourceExhaustedError(RpcError):
    """A limit of the server is reached, such as its memory or connections."""

    protocol = "mgp"
    name = "ResourceExhausted"
    default_code = 3001
    default_message = "Resource exhausted"


class QuotaExceededError(RpcError):
    """A quota is used up, such as tokens or calls of an API."""

    protocol = "mgp"
    name = "QuotaExceeded"
    default_code = 3002
    default_message = "Quota exceeded"


class TimedOutError(RpcError):
    """The operation took too long."""

    protocol = "mgp"
    name = "TimedOut"
    default_code = 3003
    default_message = "Timed out"


class InvalidToolArgsError(RpcError):
    """The arguments of the tool are not valid."""

    protocol = "mgp"
    name = "InvalidToolArgs"
    default_code = 4000
    default_message = "Invalid tool arguments"


class ToolNotFoundError(RpcError):
    """There is no tool of that name."""

    protocol = "mgp"
    name = "ToolNotFound"
    default_code = 4001
    default_message = "Tool not found"


class ToolDisabledError(RpcError):
    """The tool exists and is switched off."""

    protocol = "mgp"
    name = "ToolDisabled"
    default_code = 4002
    default_message = "Tool disabled"


class UpstreamError(RpcError):
    """An external service answered with an error."""

    protocol = "mgp"
    name = "UpstreamError"
    default_code = 5000
    default_message = "Upstream error"


class UpstreamTimeoutError(RpcError):
    """An external service took too long."""

    protocol = "mgp"
    name = "UpstreamTimeout"
    default_code = 5001
    default_message = "Upstream timed out"


class UpstreamUnavailableError(RpcError):
    """An external service cannot be reached."""

    protocol = "mgp"
    name = "UpstreamUnavailable"
    default_code = 5002
    default_message = "Upstream unavailable"
