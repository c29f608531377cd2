"""One JSON-RPC connection: session, engine, drivers, codec, and the port that transports fill."""

from __future__ import annotations

__all__ = ()
