"""The searchable index of the tools of all connected servers (MGP 0.2.0 section 16.4)."""

from __future__ import annotations

__all__ = ()
