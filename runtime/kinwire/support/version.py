"""The version of this distribution."""

from __future__ import annotations

__all__ = ("__version__",)

__version__ = "0.1.0"  # the one place; the package metadata is built from it
