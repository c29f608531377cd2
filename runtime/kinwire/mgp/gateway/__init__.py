"""The gateway: one MCP server in front of all servers of a kernel."""

from __future__ import annotations

__all__ = ()
