"""MCPE in the server."""

from __future__ import annotations

__all__ = ()
