"""MCP-lite in the command: servers that are called, and bridges to and from MCP."""

from __future__ import annotations

__all__ = ()
