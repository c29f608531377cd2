"""The store that is gone with its process: for tests, and for what need not be kept.

Look and write happen without an await between them, so every call is one step for all others.
"""

from __future__ import annotations

__all__ = ()
