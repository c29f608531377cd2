"""What MCPL decides, without I/O, clock and event loop; the files above it act."""

from __future__ import annotations

__all__ = ()
