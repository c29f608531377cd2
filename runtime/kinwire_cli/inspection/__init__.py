"""What `kinwire inspect` looks at: `probing.py` asks, `checks.py` checks, `report.py` shows."""

from __future__ import annotations

__all__ = ()
