"""Whether messages are valid in their protocol. Pure.

`validator.py` checks messages and recorded lines, `parts.py` what they hold of other protocols.
"""

from __future__ import annotations

__all__ = ()
