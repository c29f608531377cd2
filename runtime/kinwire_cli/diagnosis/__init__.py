"""What `kinwire doctor` checks: `examination.py` runs the server, the others judge and show."""

from __future__ import annotations

__all__ = ()
