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
}
