"""MCP Live in the host."""

from __future__ import annotations

__all__ = ()
