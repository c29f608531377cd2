"""HTTP requests of this side: `client.py` has the client, the other modules its parts."""

from __future__ import annotations

__all__ = ()
