"""HTTP, the server's side: heads, bodies, who may connect, event streams, limits, running.

A toolkit without sessions or protocols; `kinwire.mcp.http` builds Streamable HTTP from it.
"""

from __future__ import annotations

__all__ = ()
