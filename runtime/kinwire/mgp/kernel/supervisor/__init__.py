"""The supervisor of a kernel: it starts servers, watches them, and starts them again.

`supervisor.py` is what programs use; one `actor.py` for each server does the work, by the decisions
of `kinwire.mgp.rules`.
"""

from __future__ import annotations

__all__ = ()
