"""What every layer may use: bounded maps, JSON tools, signals. Imports nothing of ours."""

from __future__ import annotations

__all__ = ()
