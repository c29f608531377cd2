"""Requests to addresses that somebody else has named, such as a server that is not trusted.

Only what the user allows is asked, only on public networks, and at the address that was checked.
`rules.py` decides about addresses and URLs, `fetch.py` looks names up, connects and sends.
"""

from __future__ import annotations

__all__ = ()
