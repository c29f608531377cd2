"""The server's side of MCP over HTTP: Streamable HTTP and HTTP+SSE.

`incoming.py` has what happens with one request, `sessions.py` who may use which session.
"""

from __future__ import annotations

__all__ = ()
