"""Functions of users, whatever they serve: what they say of themselves, and how they are called."""

from __future__ import annotations

__all__ = ()
