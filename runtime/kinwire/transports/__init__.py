"""What carries frames between a session and its peer (`kinwire.rpc.transport` is the port)."""

from __future__ import annotations

__all__ = ()
