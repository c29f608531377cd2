"""Servers and clients of MCP over generated types. Start with `Server`, `Host` or `connect`.

Names load when they are first used: `import kinwire` alone costs next to nothing.
"""

from __future__ import annotations

__all__ = (
    "CapabilityNotNegotiatedError",
    "Connection",
    "ConnectionClosedError",
    "Context",
    "DuplicateServerError",
    "Extension",
    "ExtensionBase",
    "ExtensionHandlers",
    "GrpcLimits",
    "HandlerDefinitionError",
    "Host",
    "HttpLimits",
    "InsecureAddressError",
    "InvalidResponseError",
    "KinwireError",
    "Limits",
    "LiteClient",
    "LiteServer",
    "ModelProfile",
    "NeedsAnswers",
    "Next",
    "PaginationError",
    "Promised",
    "ProtocolVersionError",
    "Request",
    "RequestCancelledError",
    "RequestTimeoutError",
    "RpcError",
    "Sampling",
    "SamplingRequest",
    "Server",
    "Session",
    "SessionCallbacks",
    "SessionStateError",
    "ShapeError",
    "ToolDefinitionError",
    "ToolError",
    "ToolQuestion",
    "Transport",
    "UnsendableError",
    "capability_from",
    "choose_model",
    "connect",
    "current_principal",
    "pair",
    "result_text",
    "routes_of",
    "serve_websocket",
    "stdio",
    "unattended",
)

from kinwire.support.lazy_names import lazy_names
from kinwire.support.version import __version__ as __version__

TYPE_CHECKING = False  # for type checkers it is true; `typing` would cost more than all the rest

if TYPE_CHECKING:
    from kinwire.managers.tool_outcomes import (
        NeedsAnswers,
        Promised,
        ToolError,
        ToolQuestion,
    )
    from kinwire.mcp.connection import Connection
    from kinwire.mcp.context import Context
    from kinwire.mcp.extension import (
        Extension,
        ExtensionBase,
        ExtensionHandlers,
        Next,
        capability_from,
    )
    from kinwire.mcp.host import Host, connect
    from kinwire.mcp.result_text import result_text
    from kinwire.mcp.rules.model_choice import ModelProfile, choose_model
    from kinwire.mcp.sampling import Sampling, SamplingRequest, unattended
    from kinwire.mcp.server import Server
    from kinwire.mcplite.client.client import LiteClient
    from kinwire.mcplite.server.service import LiteServer
    from kinwire.rpc.errors import (
        CapabilityNotNegotiatedError,
        ConnectionClosedError,
        DuplicateServerError,
        HandlerDefinitionError,
        InsecureAddressError,
        InvalidResponseError,
        KinwireError,
        PaginationError,
        ProtocolVersionError,
        RequestCancelledError,
        RequestTimeoutError,
        RpcError,
        SessionStateError,
        ShapeError,
        ToolDefinitionError,
        UnsendableError,
    )
    from kinwire.rpc.limits import Limits
    from kinwire.rpc.request import Request
    from kinwire.rpc.routes import routes_of
    from kinwire.rpc.session import Session
    from kinwire.rpc.transport import SessionCallbacks, Transport
    from kinwire.testing import pair
    from kinwire.transports.child import stdio
    from kinwire.transports.grpc.limits import GrpcLimits
    from kinwire.transports.http.guard import current_principal
    from kinwire.transports.http.limits import HttpLimits
    from kinwire.transports.websocket.listener import serve_websocket

_HOMES = {
    "Connection": "mcp.connection",
    "Context": "mcp.context",
    "Extension": "mcp.extension",
    "ExtensionBase": "mcp.extension",
    "ExtensionHandlers": "mcp.extension",
    "Host": "mcp.host",
    "GrpcLimits": "transports.grpc.limits",
    "HttpLimits": "transports.http.limits",
    "Limits": "rpc.limits",
    "LiteClient": "mcplite.client.client",
    "LiteServer": "mcplite.server.service",
    "Next": "mcp.extension",
    "ModelProfile": "mcp.rules.model_choice",
    "Request": "rpc.request",
    "Sampling": "mcp.sampling",
    "SamplingRequest": "mcp.sampling",
    "Server": "mcp.server",
    "Session": "rpc.session",
    "SessionCallbacks": "rpc.transport",
    "Transport": "rpc.transport",
    **dict.fromkeys(
        ("NeedsAnswers", "Promised", "ToolError", "ToolQuestion"), "managers.tool_outcomes"
    ),
    "capability_from": "mcp.extension",
    "choose_model": "mcp.rules.model_choice",
    "connect": "mcp.host",
    "current_principal": "transports.http.guard",
    "pair": "testing",
    "result_text": "mcp.result_text",
    "routes_of": "rpc.routes",
    "serve_websocket": "transports.websocket.listener",
    "stdio": "transports.child",
    "unattended": "mcp.sampling",
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, {**dict.fromkeys(__all__, "rpc.errors"), **_HOMES})


def __dir__() -> list[str]:
    return sorted(__all__)
