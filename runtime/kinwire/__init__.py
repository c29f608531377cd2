"""Servers and clients of MCP over generated types. Start with `Server`, `Host` or `connect`.

Names load when they are first used: `import kinwire` alone costs next to nothing.
"""

from __future__ import annotations

__all__ = (
    "CapabilityNotNegotiatedError",
    "Connection",
    "ConnectionClosedError",
    "Context",
    "HandlerDefinitionError",
    "Host",
    "InvalidResponseError",
    "KinwireError",
    "Limits",
    "ProtocolVersionError",
    "RequestCancelledError",
    "RequestTimeoutError",
    "RpcError",
    "Server",
    "Session",
    "SessionStateError",
    "ShapeError",
    "ToolDefinitionError",
    "ToolError",
    "UnsendableError",
    "connect",
    "pair",
    "stdio",
)

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinwire.context import Context
    from kinwire.errors import (
        CapabilityNotNegotiatedError,
        ConnectionClosedError,
        HandlerDefinitionError,
        InvalidResponseError,
        KinwireError,
        ProtocolVersionError,
        RequestCancelledError,
        RequestTimeoutError,
        RpcError,
        SessionStateError,
        ShapeError,
        ToolDefinitionError,
        UnsendableError,
    )
    from kinwire.host import Connection, Host, connect
    from kinwire.limits import Limits
    from kinwire.server import Server
    from kinwire.session import Session
    from kinwire.testing import pair
    from kinwire.tools import ToolError
    from kinwire.transports.child import stdio

_HOMES = {
    "Connection": "host",
    "Context": "context",
    "Host": "host",
    "Limits": "limits",
    "Server": "server",
    "Session": "session",
    "ToolError": "tools",
    "connect": "host",
    "pair": "testing",
    "stdio": "transports.child",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = import_module(f"{__name__}.{_HOMES.get(name, 'errors')}")
        value = getattr(home, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
