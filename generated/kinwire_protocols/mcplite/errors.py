"""Errors of MCP-lite. Generated from mcp-lite.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from kinwire_protocols.base import RpcError


class ToolNotFoundError(RpcError):
    """The server has no tool of that name."""

    protocol = "mcp-lite"
    name = "ToolNotFound"
    default_code = -32601
    default_message = "Tool not found"
