"""MGP in the kernel, which is the host side."""

from __future__ import annotations

__all__ = ()
