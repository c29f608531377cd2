"""What managers of several protocols share: stored maps, questions, retries and limits."""

from __future__ import annotations

__all__ = ()
