"""The decisions of MCPE, without I/O, clock or event loop."""

from __future__ import annotations

__all__ = ()
