"""The gRPC binding of MCP-lite: one manager, because each one that is switched off costs a run."""

from __future__ import annotations

__all__ = ("MCPLITE_GRPC",)

from tests.spec.managers.manager import Manager

MCPLITE_GRPC = {
    "mcp-lite grpc": Manager(
        attributes=(
            "kinwire.mcplite.rules.grpc_errors:grpc_error",
            "kinwire.mcplite.server.grpc_calls:GrpcCalls._get_tools",
            "kinwire.mcplite.server.grpc_calls:GrpcCalls._call_tool",
            "kinwire.mcplite.server.grpc_calls:GrpcCalls._call_tool_stream",
        ),
        rows=(
            *("mcp-lite-A.1-4", "mcp-lite-A.2-3", "mcp-lite-A.2-4", "mcp-lite-A.3-3"),
            *("mcp-lite-A.4-4", "mcp-lite-A.5-2", "mcp-lite-5.3-1", "mcp-lite-5.3-3"),
            *("mcp-lite-5.4-1", "mcp-lite-5.4-2", "mcp-lite-5.4-3"),
        ),
    ),
}
