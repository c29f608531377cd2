"""HTTP requests of this side: addresses, headers, connections that stay open, responses."""

from __future__ import annotations

__all__ = ()
