"""What decides, without I/O: which addresses are public, and which URLs may be asked at all."""

from __future__ import annotations

__all__ = ()
