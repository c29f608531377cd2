"""Servers of MGP, and a conversation with a kernel between an agent and them.

`workshop.py` has tools of every risk, `archive.py` keeps the audit trail; each runs from a copy of
its file. `conversation.py` is what `kinwire demo mgp` plays.
"""

from __future__ import annotations

__all__ = ()
