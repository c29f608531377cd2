"""Connections over TCP, with and without TLS, on asyncio and trio alike (`streams.py`)."""

from __future__ import annotations

__all__ = ()
