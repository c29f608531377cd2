"""Handlers of subscriptions work on events at the server, next to the delivery (MCPE 9)."""

from __future__ import annotations

__all__ = ()
