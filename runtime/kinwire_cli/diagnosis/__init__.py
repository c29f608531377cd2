"""What `kinwire doctor` checks: `checks.py` without a server, `examination.py` with one."""

from __future__ import annotations

__all__ = ()
