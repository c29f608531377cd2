"""MCP-lite over HTTP: one ASGI application, every request independent (MCP-lite, 4)."""

from __future__ import annotations

__all__ = ()
