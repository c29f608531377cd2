"""The root of what the runtime raises."""

from __future__ import annotations

__all__ = ("KinwireError",)


class KinwireError(Exception):
    """Base of what the runtime raises by itself."""
