"""The client of MCP-lite: `client.py` is what programs use, each binding has its transport.

`transport.py` says what a transport does, `http_transport.py` and `grpc_transport.py` do it.
"""

from __future__ import annotations

__all__ = ()
