"""Decisions without I/O, clock or event loop (MCP 2024-11-05)."""

from __future__ import annotations

__all__ = ()
