"""Checks of code among arguments, on Python's syntax tree (MGP 0.2.0 section 7)."""

from __future__ import annotations

__all__ = ()
