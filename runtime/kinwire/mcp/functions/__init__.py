"""Functions that users register: their signature, docstring, arguments and results."""

from __future__ import annotations

__all__ = ()
