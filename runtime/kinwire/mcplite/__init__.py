"""MCP-lite: a small, stateless relative of MCP, over HTTP and gRPC."""

from __future__ import annotations

__all__ = ()
