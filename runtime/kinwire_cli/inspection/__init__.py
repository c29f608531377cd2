"""What `kinwire inspect` looks at: `probing.py` asks the server, the others judge and show."""

from __future__ import annotations

__all__ = ()
