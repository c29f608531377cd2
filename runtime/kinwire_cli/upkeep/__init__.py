"""What `kinwire up` does while it runs: it keeps the servers of a configuration alive.

`running.py` holds it together; `rows.py` says how the servers are, `display.py` shows it, and
`routes.py` answers other commands over the socket; `orders.py` takes signals.
"""

from __future__ import annotations

__all__ = ()
