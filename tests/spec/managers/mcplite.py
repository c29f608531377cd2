"""The managers of MCP-lite."""

from __future__ import annotations

__all__ = ("MCPLITE",)

from tests.spec.managers.manager import Manager

MCPLITE = {
    "mcp-lite kinds": Manager(
        attributes=("kinwire.mcplite.rules.reading:response_type_of",),
        rows=("mcp-lite-3.3-4",),
    ),
    "mcp-lite promises of clients": Manager(
        attributes=("kinwire.mcplite.client.promise:LitePromise._settled",),
        rows=("mcp-lite-3.5-2",),
    ),
    "mcp-lite tokens of clients": Manager(
        attributes=("kinwire.mcplite.client.client:LiteClient.promise",),
        rows=("mcp-lite-3.5-8",),
    ),
    "mcp-lite paths": Manager(
        attributes=("kinwire.mcplite.server.http.paths:LitePaths.endpoint",),
        rows=("mcp-lite-4.1-5", "mcp-lite-4.2-1", "mcp-lite-A.1-1"),
    ),
    "mcp-lite event streams": Manager(
        attributes=("kinwire.mcplite.server.http.stream:LiteStream.send_all",),
        rows=("mcp-lite-4.3-5", "mcp-lite-4.3-6", "mcp-lite-A.4-1"),
    ),
}
