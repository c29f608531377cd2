"""The rules of MCP-lite, without I/O and clocks."""

from __future__ import annotations

__all__ = ()
