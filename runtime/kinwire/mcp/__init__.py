"""MCP in both roles: `Server`, `Host`, `Connection`, and what they are made of.

`rules/` holds pure decisions; the files next to it do the I/O. The package face exports everything
that users need.
"""

from __future__ import annotations

__all__ = ()
