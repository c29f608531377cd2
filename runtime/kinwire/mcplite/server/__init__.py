"""The server of MCP-lite."""

from __future__ import annotations

__all__ = ()
