"""HTTP, both sides: event streams, what is refused, and the transports of MCP over it."""

from __future__ import annotations

__all__ = ()
