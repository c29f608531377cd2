"""MCPE in the client."""

from __future__ import annotations

__all__ = ()
