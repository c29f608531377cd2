"""Servers of MCP Events, and what happens to a client that subscribes to their events.

`project.py` has events that come immediately, `bookings.py` a clock that a tool moves, so that
schedules can be tried; each runs from a copy of its file. `conversation.py` is what `kinwire demo
mcpe` plays.
"""

from __future__ import annotations

__all__ = ()
